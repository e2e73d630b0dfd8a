/**
 * What crosses the network, and what it costs: two hosts on a link of 1 Gbit/s. The paper predicts
 * that a worker sends d/p columns per inner iteration, for any number of rows, and that an
 * epoch takes |Ω| T_u / p + T_c. Then the solvers race over the same link.
 */
import { join } from 'node:path';
import { figure } from '../bench/table.ts';
import type { Dataset } from '../src/data/dataset.ts';
import { writeDataset } from '../src/index.ts';
import { losses } from '../src/problem/losses/index.ts';
import { solvers } from '../src/solvers/index.ts';
import { train } from '../src/train/train.ts';
import { Bed, type BedRun } from './support/bed.ts';
import { debdesc, generated } from './support/data.ts';
import type { Claim, Experiment, Outcome, Setting } from './support/experiment.ts';
import { section } from './support/report.ts';

/**
 * Numbers that a host sends per column and epoch of `dso`: w, AdaGrad's sum and the image of α, which come
 * home, and the gradient of the snapshot and w for the margins, which do not.
 */
function numbersPerColumn(hosts: number): number {
  return 3 + 2 * (1 - 1 / hosts);
}
const fewEpochs = 2;
const moreEpochs = 12;
/** Measurements of an epoch's time. */
const rounds = 3;
/** What a prediction may be off. */
const tolerance = 0.25;

interface Volume {
  readonly rows: number;
  readonly columns: number;
  /** Bytes that a host sends per epoch: counted by its network card, and predicted. */
  readonly measured: number;
  readonly predicted: number;
}

/** Bytes of an epoch: what more epochs send, so that reading and starting cancel out. */
async function volumeOf(bed: Bed, path: string, { rows, columns }: Dataset): Promise<Volume> {
  const run = (epochs: number) => bed.train([path, ...dsoRun(bed.hosts, epochs)], 300);
  const [few, more] = [await run(fewEpochs), await run(moreEpochs)];
  const measured = ((more?.sent ?? NaN) - (few?.sent ?? NaN)) / (moreEpochs - fewEpochs);
  return { rows, columns, measured, predicted: 8 * numbersPerColumn(bed.hosts) * columns };
}

/** Every row a second time: as many columns, twice the rows. */
function twice(dataset: Dataset): Dataset {
  const { parts, rows, nonzeros } = dataset;
  return { ...dataset, parts: [...parts, ...parts], rows: 2 * rows, nonzeros: 2 * nonzeros };
}

function dsoRun(grid: number, epochs: number): string[] {
  const limits = ['--epochs', String(epochs), '--tolerance', '1e-15'];
  return ['--solver', 'dso', '--grid', String(grid), ...limits];
}

interface Pace {
  /** Seconds per epoch: on the bed, of p threads without a network, and of the transfers. */
  readonly measured: number;
  readonly threads: number;
  readonly transfer: number;
  readonly predicted: number;
}

/** Seconds between epochs once code is warm: the median, so that a disturbance does not count. */
function secondsPerEpoch(marks: readonly number[]): number {
  const steps = marks.slice(1).map((mark, k) => mark - marks[k]);
  return steps.slice(2).toSorted((a, b) => a - b)[Math.floor((steps.length - 2) / 2)];
}

async function secondsOnBed(bed: Bed, path: string): Promise<number> {
  const run = await bed.train([path, ...dsoRun(bed.hosts, moreEpochs)], 300);
  return secondsPerEpoch((run?.events ?? []).map(({ seconds }) => seconds));
}

async function secondsOfThreads(threads: number, dataset: Dataset): Promise<number> {
  const marks: number[] = [];
  await train(dataset, {
    solver: solvers.dso(),
    loss: losses.hinge(),
    grid: threads,
    threads,
    epochs: moreEpochs,
    tolerance: 1e-15,
    onEpoch: ({ seconds }) => marks.push(seconds),
  });
  return secondsPerEpoch(marks);
}

/** In turn, and the fastest of each: on a shared machine the speed of a core changes from one minute to the next. */
async function paceOf(bed: Bed, path: string, dataset: Dataset): Promise<Pace> {
  let [measured, threads] = [Infinity, Infinity];
  for (let round = 0; round < rounds; round++) {
    measured = Math.min(measured, await secondsOnBed(bed, path));
    // |Ω| T_u / p with all cores at work, which share the memory's bandwidth.
    threads = Math.min(threads, await secondsOfThreads(bed.hosts, dataset));
  }
  const { links } = await bed.probe();
  const bandwidth = Math.min(...links.map((link) => link.bandwidth));
  const latency = Math.max(...links.map((link) => link.latency)) / 1e6;
  const bytes = 8 * numbersPerColumn(bed.hosts) * dataset.columns;
  // Three rotations an epoch, of p hand-offs each; but for the margins nothing comes home.
  const transfer = bytes / bandwidth + (3 * bed.hosts - 1) * latency;
  return { measured, threads, transfer, predicted: threads + transfer };
}

interface Entry {
  readonly loss: string;
  readonly title: string;
  readonly run: BedRun | undefined;
}

const goals = [1e-2, 1e-3];
/** Those that exchange whole vectors. */
const batchMethods = { hinge: ['bmrm', 'proximal-point'], logistic: ['lbfgs', 'newton'] } as const;

async function race(bed: Bed, path: string, setting: Setting): Promise<Entry[]> {
  const grid = ['--grid', String(bed.hosts * 2), '--lambda', String(setting.numberOf('lambda'))];
  const rotations = setting.textOf('rotations').split(',');
  const entries: Entry[] = [];
  const enter = async (loss: string, title: string, argv: string[]) => {
    setting.say(`  ${loss}: ${title} …`);
    const limits = ['--loss', loss, ...grid, '--time', String(setting.time)];
    entries.push({
      loss,
      title,
      run: await bed.train([path, ...argv, ...limits], setting.time + 60),
    });
  };
  for (const loss of ['hinge', 'logistic'] as const) {
    for (const count of rotations) {
      await enter(loss, `ring, B = ${count}`, ['--solver', 'ring', '--rotations', count]);
    }
    await enter(loss, 'ring, default B', ['--solver', 'ring']);
    await enter(loss, 'dso', ['--solver', 'dso']);
    for (const name of batchMethods[loss]) await enter(loss, name, ['--solver', name]);
  }
  return entries;
}

function reached({ run }: Entry, goal: number): string {
  const event = run?.events.find(({ relativeGap }) => relativeGap <= goal);
  return event ? `${figure(event.seconds)} s (${figure(event.passes)} passes)` : '–';
}

function raceRow(entry: Entry): string[] {
  const { report } = entry.run ?? {};
  const epochs = report?.epochs ?? 1;
  const waited =
    report && report.effort.waiting / (report.effort.waiting + report.effort.computing);
  return [
    entry.loss,
    entry.title,
    ...goals.map((goal) => reached(entry, goal)),
    report ? `${figure(report.effort.bytes / (2 * epochs) / 1e6)} MB` : '–',
    waited === undefined ? '–' : `${Math.round(100 * waited)} %`,
  ];
}

function claimsOf(volumes: readonly Volume[], pace: Pace): Claim[] {
  const off = volumes.map(({ measured, predicted }) => measured / predicted - 1);
  const late = pace.measured / pace.predicted - 1;
  const verdict = (values: readonly number[]) =>
    values.every((value) => Math.abs(value) <= tolerance) ? 'holds' : 'does not hold';
  const percent = (value: number) =>
    `${value < 0 ? '−' : '+'}${Math.abs(100 * value).toFixed(1)} %`;
  return [
    {
      claim: 'A worker sends d/p columns per inner iteration, independent of m',
      measured: volumes
        .map(
          ({ rows, measured }, k) =>
            `m = ${rows}: ${figure(measured / 1e6)} MB an epoch (${percent(off[k])})`,
        )
        .join('; '),
      verdict: verdict(off),
    },
    {
      claim: 'An epoch takes |Ω| T_u / p + T_c',
      measured: `${figure(1000 * pace.measured)} ms; predicted ${figure(1000 * pace.threads)} + ${figure(1000 * pace.transfer)} ms (${percent(late)})`,
      verdict: verdict([late]),
    },
  ];
}

async function perform(setting: Setting): Promise<Outcome> {
  const lack = Bed.lack();
  if (lack !== undefined) {
    return { results: {}, claims: [], figures: [], comparisons: [], skipped: [`cluster: ${lack}`] };
  }
  const bed = new Bed(2, setting.textOf('rate'));
  try {
    const once = generated('real-sim', 1, setting).train;
    const samples = [once, twice(once)];
    const paths = samples.map((_, k) => join(bed.folder, `data-${k}.dsob`));
    for (const [k, dataset] of samples.entries()) await writeDataset(paths[k], dataset);
    const volumes: Volume[] = [];
    for (const [k, dataset] of samples.entries())
      volumes.push(await volumeOf(bed, paths[k], dataset));
    const pace = await paceOf(bed, paths[1], samples[1]);
    const sample = await debdesc(setting);
    const text = typeof sample === 'string' ? undefined : sample.train;
    const raced = join(bed.folder, 'race.dsob');
    if (text) await writeDataset(raced, text);
    const entries = await race(bed, text ? raced : paths[0], setting);
    const head = [
      'loss',
      'solver',
      ...goals.map((goal) => `to a gap of ${goal}`),
      'sent per rank and epoch',
      'waiting',
    ];
    setting.say(section('Two hosts at 1 Gbit/s', head, entries.map(raceRow)));
    return {
      results: { volumes, pace, entries },
      claims: claimsOf(volumes, pace),
      figures: [],
      comparisons: [],
      skipped: typeof sample === 'string' ? [sample] : [],
    };
  } finally {
    bed.remove();
  }
}

export const cluster: Experiment = {
  name: 'cluster',
  summary: 'what crosses a network of 1 Gbit/s between two hosts, and what it costs (as root)',
  time: 30,
  extras: {
    rate: { default: '1gbit', text: 'speed of the network, in the notation of tc' },
    lambda: { default: 1e-5, text: 'weight of the penalty in the race' },
    rotations: { default: '1,2,4,8,16,64', text: "the ring solver's rotations per epoch" },
  },
  run: perform,
};
