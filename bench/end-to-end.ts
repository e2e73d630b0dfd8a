import { join } from 'node:path';
import type { Dataset } from '../src/data/dataset.ts';
import { readModel } from '../src/model/file.ts';
import { losses } from '../src/problem/losses/index.ts';
import { penalties } from '../src/problem/penalties/index.ts';
import { readDataset } from '../src/train/read.ts';
import { liblinear, noLiblinear, readLiblinearWeights } from './liblinear.ts';
import type { Measure, PartOptions, PartReport } from './measure.ts';
import { type BenchProblem, objective } from './objective.ts';
import { isInstalled, runDso, runProcess } from './processes.ts';
import { geometricMean, interleave, median } from './rounds.ts';
import { cacheFolder, type Sample, timedSamples } from './samples.ts';
import { figure, table } from './table.ts';

const limits = { rounds: 3, seconds: 2 };
/** Seconds of one run of LIBLINEAR. */
const limit = 60;
const lambdas = [1e-4, 1e-5, 1e-6];
/** The values of `-e` that are tried, from the loosest on. */
const stops = [1, 0.1, 1e-2, 1e-3, 1e-4, 1e-5];
const ourModel = join(cacheFolder, 'ours.model');
const theirModel = join(cacheFolder, 'liblinear.model');

interface Kind {
  readonly loss: BenchProblem['loss'];
  readonly penalty: BenchProblem['penalty'];
  readonly flags: readonly string[];
  /** LIBLINEAR's solvers of the same problem, each with its default `-e`. */
  readonly rivals: Readonly<Record<string, number>>;
}

/** With L2 all of `l2`, with L1 the last. */
const kinds: Readonly<Record<string, Kind>> = {
  hinge: {
    loss: losses.hinge(),
    penalty: penalties.l2(),
    flags: ['--loss', 'hinge'],
    rivals: { 3: 0.1 },
  },
  'squared hinge': {
    loss: losses.squaredHinge(),
    penalty: penalties.l2(),
    flags: ['--loss', 'squared-hinge'],
    rivals: { 1: 0.1, 2: 0.01 },
  },
  logistic: {
    loss: losses.logistic(),
    penalty: penalties.l2(),
    flags: ['--loss', 'logistic'],
    rivals: { 7: 0.1, 0: 0.01 },
  },
  'logistic L1': {
    loss: losses.logistic(),
    penalty: penalties.l1(),
    flags: ['--loss', 'logistic', '--penalty', 'l1'],
    rivals: { 6: 0.01 },
  },
};

/** Small files: Node's start is most of a run. */
const small = ['a9a', 'w8a', 'rcv1_small'];
const files = ['debdesc', 'imdb', 'real-sim-100', 'real-sim-300', ...small];

interface Race {
  readonly data: string;
  readonly kind: string;
  readonly lambda: number;
  /** Median seconds, and the objective of the model. */
  readonly ours: { readonly seconds: number; readonly primal: number };
  /** The quickest run of LIBLINEAR that is as good; undefined: none is. */
  readonly theirs:
    | { readonly seconds: number; readonly solver: string; readonly stop: number }
    | undefined;
  /** The quickest of LIBLINEAR's solvers with its default `-e`. */
  readonly usual: { readonly seconds: number; readonly primal: number };
}

interface Contest {
  readonly sample: Sample;
  readonly dataset: Dataset;
  readonly kind: string;
  readonly lambda: number;
}

async function runOurs({ sample, kind, lambda }: Contest): Promise<number> {
  const { flags } = kinds[kind];
  const problem = [...flags, '--lambda', String(lambda)];
  const argv = ['train', sample.path, ...problem, '-o', ourModel, '--quiet'];
  return (await runDso(argv)).seconds;
}

/** Seconds; `limit` or more: it did not end. */
async function runTheirs(
  { sample, dataset, lambda }: Contest,
  solver: string,
  stop: number,
): Promise<number> {
  const problem = ['-s', solver, '-c', String(1 / (lambda * dataset.rows)), '-e', String(stop)];
  const argv = ['-q', ...problem, sample.path, theirModel];
  return (await runProcess(liblinear, argv, { limit })).seconds;
}

interface Attempt {
  readonly solver: string;
  readonly stop: number;
  readonly seconds: number;
  readonly primal: number;
}

/** For every solver of LIBLINEAR its runs from loose to tight, until one is as good as `primal`. */
async function climb(contest: Contest, problem: BenchProblem, primal: number): Promise<Attempt[]> {
  const tried: Attempt[] = [];
  for (const [solver, usual] of Object.entries(kinds[contest.kind].rivals)) {
    let enough = false;
    for (const stop of stops) {
      if (enough && stop < usual) break;
      const seconds = await runTheirs(contest, solver, stop);
      if (seconds >= limit) break;
      const found = objective(contest.dataset, problem, readLiblinearWeights(theirModel));
      tried.push({ solver, stop, seconds, primal: found });
      enough ||= found <= primal;
    }
  }
  return tried;
}

const quickest = (attempts: readonly Attempt[]): Attempt | undefined =>
  attempts.toSorted((left, right) => left.seconds - right.seconds)[0];

async function race(contest: Contest): Promise<Race> {
  const { sample, dataset, kind, lambda } = contest;
  process.stderr.write(`  ${sample.title}, ${kind}, ${lambda} …\n`);
  const { loss, penalty, rivals } = kinds[kind];
  const problem = { loss, penalty, lambda };
  const ours = () => runOurs(contest);
  await ours();
  const { weights } = await readModel(ourModel);
  const primal = objective(dataset, problem, weights);
  const tried = await climb(contest, problem, primal);
  const equal = quickest(tried.filter((attempt) => attempt.primal <= primal));
  const usual = quickest(tried.filter(({ solver, stop }) => stop === rivals[solver]));
  const again =
    ({ solver, stop }: Attempt) =>
    () =>
      runTheirs(contest, solver, stop);
  const found: Record<string, number[]> = await interleave<string, number>(limits, {
    ours,
    ...(equal && { equal: again(equal) }),
    ...(usual && { usual: again(usual) }),
  });
  return {
    data: sample.title,
    kind,
    lambda,
    ours: { seconds: median(found.ours), primal },
    theirs: equal && { ...equal, seconds: median(found.equal) },
    usual: { seconds: usual ? median(found.usual) : limit, primal: usual?.primal ?? Infinity },
  };
}

function rowOf({ data, kind, lambda, ours, theirs, usual }: Race): string[] {
  const seconds = (value: number) => `${value.toFixed(3)} s`;
  const excess = usual.primal / ours.primal - 1;
  return [
    data,
    kind,
    lambda.toExponential(0),
    seconds(ours.seconds),
    ours.primal.toPrecision(7),
    theirs ? seconds(theirs.seconds) : `not in ${limit} s`,
    theirs ? `-s ${theirs.solver} -e ${theirs.stop}` : '',
    theirs ? `${figure(ours.seconds / theirs.seconds)}×` : '–',
    seconds(usual.seconds),
    `${excess < 0 ? '' : '+'}${(100 * excess).toFixed(2)} %`,
    `${figure(ours.seconds / usual.seconds)}×`,
  ];
}

function measuresOf(races: readonly Race[]): Measure[] {
  const measures: Measure[] = [];
  const add = (title: string, chosen: readonly Race[], mean?: number, worst?: number) => {
    const ratios = chosen.flatMap(({ ours, theirs }) =>
      theirs ? [ours.seconds / theirs.seconds] : [],
    );
    if (ratios.length === 0) return;
    const name = `dso train / ${liblinear} as good, ${title}, ${ratios.length} cells`;
    const target = (bar?: number) => bar && { target: { kind: 'at most' as const, limit: bar } };
    const unit = '×';
    measures.push({
      name: `${name}: geometric mean`,
      value: geometricMean(ratios),
      unit,
      ...target(mean),
    });
    measures.push({ name: `${name}: worst`, value: Math.max(...ratios), unit, ...target(worst) });
  };
  const isSmall = ({ data }: Race) => small.includes(data);
  const isL1 = ({ kind }: Race) => kind === 'logistic L1';
  const big = races.filter((one) => !isSmall(one));
  add(
    'L2',
    big.filter((one) => !isL1(one)),
    0.5,
    0.8,
  );
  add('logistic L1', big.filter(isL1), 0.8);
  add('files below 4 MB', races.filter(isSmall), undefined, 1.5);
  return measures;
}

/**
 * From a text file to a model file with default settings, against LIBLINEAR at the loosest `-e`
 * whose model is at least as good. In brief: two files and one λ.
 */
export async function benchEndToEnd({ files: names, brief }: PartOptions): Promise<PartReport> {
  if (!isInstalled(liblinear)) {
    return { measures: [], details: [], skipped: [`end to end: ${noLiblinear}`] };
  }
  const wanted = brief ? ['debdesc', 'real-sim-100'] : names;
  const { samples, skipped } = await timedSamples(files, wanted);
  const races: Race[] = [];
  for (const [name, sample] of samples) {
    const dataset = await readDataset(sample.path);
    for (const kind of Object.keys(kinds)) {
      if (small.includes(name) && kind === 'logistic L1') continue;
      for (const lambda of brief ? [1e-5] : lambdas) {
        races.push(await race({ sample, dataset, kind, lambda }));
      }
    }
  }
  const head = ['file', 'problem', 'λ', 'dso train', 'P', liblinear, 'with', 'ratio'];
  console.log(table([...head, 'default -e', 'its P', 'ratio'], races.map(rowOf)));
  return { measures: measuresOf(races), details: races, skipped };
}
