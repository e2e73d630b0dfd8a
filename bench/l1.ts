import type { Dataset } from '../src/data/dataset.ts';
import { losses } from '../src/problem/losses/index.ts';
import { penalties } from '../src/problem/penalties/index.ts';
import type { Solver } from '../src/solvers/index.ts';
import { readDataset } from '../src/train/read.ts';
import { train } from '../src/train/train.ts';
import { liblinear, noLiblinear, readLiblinear, trainLiblinearL1 } from './liblinear.ts';
import type { Measure, PartOptions, PartReport } from './measure.ts';
import { type BenchProblem, nonzeroCount, objective } from './objective.ts';
import { benchPaths } from './path.ts';
import { isInstalled } from './processes.ts';
import { geometricMean, interleave } from './rounds.ts';
import { noData, realData, type Sample, wantedOf } from './samples.ts';
import { figure, table } from './table.ts';

const files = ['debdesc', 'imdb', 'rcv1_small', 'farm_ads', 'a9a', 'w8a'];
const lambdas = [1e-4, 1e-5, 1e-6];
const kinds = { logistic: losses.logistic(), 'squared hinge': losses.squaredHinge() };
/** The values of `-e` that are tried, from the loosest on. */
const stops = [1, 0.1, 1e-2, 1e-3, 1e-4, 1e-5];
/** How far above the best known P is allowed; also the relative gap of our certificate. */
const tolerance = 1e-3;
/** Seconds of one run, of either program. */
const limit = 40;
const limits = { rounds: 3, seconds: 2 };

interface Cell {
  readonly data: string;
  readonly loss: string;
  readonly lambda: number;
  readonly ours: {
    readonly seconds: number;
    readonly relativeGap: number;
    readonly primal: number;
    readonly nonzero: number;
    readonly solver: string;
  };
  /** The loosest run that is good enough; undefined: none is. */
  readonly theirs: { readonly seconds: number; readonly stop: number } | undefined;
  /** How far the best P of LIBLINEAR is above the best known. */
  readonly excess: number;
  /** Seconds of LIBLINEAR's run with the best P. */
  readonly spent: number;
}

interface Contest {
  readonly sample: Sample;
  readonly dataset: Dataset;
  readonly problem: BenchProblem;
  readonly solver: Solver;
}

function trainOurs({ dataset, problem, solver }: Contest, gap: number) {
  return train(dataset, { ...problem, solver, tolerance: gap, time: limit, threads: 1 });
}

type Ours = Awaited<ReturnType<typeof trainOurs>>;

/** LIBLINEAR's runs, until one is as good as the best known; all of them if that is uncertain. */
async function climb({ sample, dataset, problem }: Contest, reference: Ours) {
  const { rows } = dataset;
  const isKnown = reference.report.relativeGap < tolerance;
  const known = reference.report.primal;
  const tried: { stop: number; seconds: number; primal: number }[] = [];
  for (const stop of stops) {
    const { seconds, weights } = await trainLiblinearL1(sample, problem, { rows, stop, limit });
    if (seconds === Infinity) break;
    const primal = objective(dataset, problem, weights);
    tried.push({ stop, seconds, primal });
    if (isKnown && primal <= (1 + tolerance) * known) break;
  }
  const best = Math.min(known, ...tried.map(({ primal }) => primal));
  const [closest] = tried.toSorted((left, right) => left.primal - right.primal);
  return {
    enough: tried.find(({ primal }) => primal <= (1 + tolerance) * best),
    excess: (closest?.primal ?? Infinity) / best - 1,
    spent: closest?.seconds ?? limit,
  };
}

async function measure(contest: Contest): Promise<Omit<Cell, 'data' | 'loss'>> {
  const { sample, dataset, problem } = contest;
  const { rows } = dataset;
  const { enough, excess, spent } = await climb(contest, await trainOurs(contest, tolerance / 10));
  const certify = () => trainOurs(contest, tolerance);
  const first = await certify();
  const results = [first];
  const ours = async () => {
    // A run that has taken so long is not repeated.
    const result = first.report.seconds.train > limit / 4 ? first : await certify();
    results.push(result);
    return result.report.seconds.train;
  };
  const read = () => readLiblinear(sample, problem, rows);
  const theirs = async () => {
    const stop = enough?.stop ?? stops[0];
    return (await trainLiblinearL1(sample, problem, { rows, stop, limit })).seconds;
  };
  const found = enough
    ? await interleave(limits, { ours, theirs, read })
    : { ...(await interleave(limits, { ours, read })), theirs: [spent] };
  const reading = Math.min(...found.read);
  // One millisecond is about what the difference of two such times can resolve.
  const seconds = Math.max(1e-3, Math.min(...found.theirs) - reading);
  const { model, report } = first;
  return {
    lambda: problem.lambda,
    ours: {
      seconds: Math.min(...found.ours),
      relativeGap: report.relativeGap,
      primal: report.primal,
      nonzero: nonzeroCount(model.weights),
      solver: report.solver,
    },
    theirs: enough && { seconds, stop: enough.stop },
    excess,
    spent: spent - reading,
  };
}

function rowOf({ data, loss, lambda, ours, theirs, excess, spent }: Cell): string[] {
  const certified = ours.relativeGap <= tolerance ? '' : ', NOT certified';
  const problem = [data, loss, lambda.toExponential(0)];
  const own = [`${ours.seconds.toFixed(3)} s`, `${ours.solver}${certified}`, `${ours.nonzero}`];
  return theirs
    ? [
        ...problem,
        ...own,
        `${theirs.seconds.toFixed(3)} s`,
        theirs.stop.toExponential(0),
        `${figure(ours.seconds / theirs.seconds)}×`,
      ]
    : [...problem, ...own, `P + ${excess.toExponential(0)} after ${figure(spent)} s`];
}

function measuresOf(cells: readonly Cell[]): Measure[] {
  const ratios = cells.flatMap(({ ours, theirs }) =>
    theirs ? [ours.seconds / theirs.seconds] : [],
  );
  if (ratios.length === 0) return [];
  const name = `training to the certificate / ${liblinear} -s 5/6, ${ratios.length} cells`;
  const open = cells.filter(({ ours }) => !(ours.relativeGap <= tolerance));
  return [
    {
      name: `${name}: geometric mean`,
      value: geometricMean(ratios),
      unit: '×',
      target: { kind: 'at most', limit: 1 },
    },
    {
      name: `${name}: worst`,
      value: Math.max(...ratios),
      unit: '×',
      target: { kind: 'at most', limit: 3.5 },
    },
    {
      name: `cells of ${cells.length} without our certificate in ${limit} s`,
      value: open.length,
      unit: '',
      decimals: 0,
      target: { kind: 'at most', limit: 0 },
    },
  ];
}

function print(cells: readonly Cell[]): void {
  const head = ['data', 'loss', 'λ', 'ours', 'solver', 'non-zeros', liblinear];
  const reached = cells.filter(({ theirs }) => theirs);
  const never = cells.filter(({ theirs }) => !theirs);
  console.log(table([...head, '-e', 'ratio'], reached.map(rowOf)));
  if (never.length === 0) return;
  console.log(`\nLIBLINEAR never comes within ${tolerance} of the best known P:\n`);
  console.log(table(head, never.map(rowOf)));
}

async function benchCells({ solver, files: names }: PartOptions): Promise<PartReport> {
  if (!isInstalled(liblinear)) {
    return { measures: [], details: [], skipped: [`L1 against LIBLINEAR: ${noLiblinear}`] };
  }
  const cells: Cell[] = [];
  const skipped: string[] = [];
  for (const data of wantedOf(files, names)) {
    const sample = realData(data);
    if (!sample) {
      skipped.push(noData(data));
      continue;
    }
    const dataset = await readDataset(sample.path);
    for (const [name, loss] of Object.entries(kinds)) {
      for (const lambda of lambdas) {
        process.stderr.write(`  ${data}, ${name}, ${lambda} …\n`);
        const problem = { loss, penalty: penalties.l1(), lambda };
        const found = await measure({ sample, dataset, problem, solver });
        cells.push({ data, loss: name, ...found });
      }
    }
  }
  print(cells);
  return { measures: measuresOf(cells), details: cells, skipped };
}

/** L1: one model against LIBLINEAR on one thread, a path of models against glmnet on all. */
export async function benchL1(options: PartOptions): Promise<PartReport> {
  const reports = [await benchCells(options), await benchPaths(options)];
  const [cells, paths] = reports;
  return {
    measures: reports.flatMap(({ measures }) => measures),
    details: { cells: cells.details, paths: paths.details },
    skipped: reports.flatMap(({ skipped }) => skipped),
  };
}
