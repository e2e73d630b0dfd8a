import type { Dataset } from '../src/data/dataset.ts';
import { losses } from '../src/problem/losses/index.ts';
import type { Loss } from '../src/problem/losses/loss.ts';
import { type Penalty, penalties } from '../src/problem/penalties/index.ts';
import type { Solver } from '../src/solvers/index.ts';
import { readDataset } from '../src/train/read.ts';
import { train } from '../src/train/train.ts';
import type { Measure, PartOptions, PartReport } from './measure.ts';
import { type BenchProblem, objective } from './objective.ts';
import { geometricMean, interleave } from './rounds.ts';
import { noData, realData, wantedOf } from './samples.ts';
import { openScikitLearn, type ScikitLearn, scikitLearnProblem } from './scikit-learn.ts';
import { figure, table } from './table.ts';

const forms = ['dense', 'sparse'] as const;

interface Kind {
  readonly title: string;
  readonly loss: Loss;
  readonly penalty: Penalty;
  /** Of scikit_learn.py. */
  readonly solvers: readonly string[];
  /** Default: both. */
  readonly forms?: readonly (typeof forms)[number][];
  /** Values of `tol`, from the loosest on; one, where a solver has none. */
  readonly tolerances: readonly number[];
}

const tols = [1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8];

const classification: readonly Kind[] = [
  {
    title: 'logistic, L2',
    loss: losses.logistic(),
    penalty: penalties.l2(),
    solvers: ['newton-cholesky', 'lbfgs', 'newton-cg', 'liblinear', 'sag', 'saga'].map(
      (name) => `l2 ${name}`,
    ),
    tolerances: tols,
  },
  {
    title: 'logistic, L1',
    loss: losses.logistic(),
    penalty: penalties.l1(),
    solvers: ['l1 liblinear', 'l1 saga'],
    tolerances: tols,
  },
  {
    title: 'hinge, L2',
    loss: losses.hinge(),
    penalty: penalties.l2(),
    solvers: ['LinearSVC'],
    tolerances: tols,
  },
];

const regression: readonly Kind[] = [
  {
    title: 'square, L1',
    loss: losses.square(),
    penalty: penalties.l1(),
    solvers: ['Lasso precompute', 'Lasso', 'Lasso random', 'LassoLars'],
    tolerances: tols,
  },
  {
    title: 'quantile, L1',
    loss: losses.quantile({ quantile: 0.5 }),
    penalty: penalties.l1(),
    solvers: ['highs-ds', 'highs-ipm', 'highs'].map((name) => `QuantileRegressor ${name}`),
    // The linear program is sparse either way.
    forms: ['sparse'],
    tolerances: [1],
  },
];

const tables: Readonly<Record<string, readonly Kind[]>> = {
  a9a: classification,
  w8a: classification,
  reg_cal_housing: regression,
};
const lambdas = [1e-2, 1e-4, 1e-6];
/** How far above the best known P is allowed; also the relative gap of our certificate. */
const tolerance = 1e-3;
/** Seconds of one fit, of either program. */
const limit = 30;
const limits = { rounds: 3, seconds: 1 };

interface Candidate {
  readonly solver: string;
  readonly form: (typeof forms)[number];
  readonly tol: number;
  readonly seconds: number;
}

interface Cell {
  readonly data: string;
  readonly problem: string;
  readonly lambda: number;
  readonly ours: { readonly seconds: number; readonly relativeGap: number; readonly name: string };
  readonly theirs: Candidate | undefined;
}

/** The quickest solver of scikit-learn that is good enough, each at its loosest tolerance. */
async function quickest(
  other: ScikitLearn,
  { solvers: names, tolerances, forms: own = forms }: Kind,
  lambda: number,
  isEnough: (weights: Float64Array) => boolean,
): Promise<Candidate | undefined> {
  let best: Candidate | undefined;
  for (const solver of names) {
    for (const form of own) {
      for (const tol of tolerances) {
        // What is far behind the best so far need not end.
        const most = best ? Math.min(limit, 0.2 + 2 * best.seconds) : limit;
        const found = await other.fit({ solver, form, lambda, tol, limit: most, rounds: 1 });
        if (!found) break;
        if (!isEnough(found.weights)) continue;
        const { seconds } = found;
        if (!best || seconds < best.seconds) best = { solver, form, tol, seconds };
        break;
      }
    }
  }
  return best;
}

async function race(
  dataset: Dataset,
  other: ScikitLearn,
  kind: Kind,
  lambda: number,
  solver: Solver,
): Promise<Omit<Cell, 'data' | 'problem'>> {
  const problem: BenchProblem = { loss: kind.loss, penalty: kind.penalty, lambda };
  const solve = async (gap: number) => {
    const { report } = await train(dataset, { ...problem, solver, tolerance: gap, time: limit });
    return report;
  };
  const reference = await solve(tolerance / 100);
  const first = await solve(tolerance);
  const known = Math.min(reference.primal, first.primal);
  const isEnough = (weights: Float64Array) =>
    objective(dataset, problem, weights) <= (1 + tolerance) * known;
  const best = await quickest(other, kind, lambda, isEnough);
  const isSlow = first.seconds.total > limit / 4;
  const ours = async () => (isSlow ? first : await solve(tolerance)).seconds.total;
  const again = best && { ...best, lambda, limit, rounds: 3 };
  const theirs = async () => (again ? ((await other.fit(again))?.seconds ?? limit) : limit);
  const found = await interleave(limits, { ours, theirs });
  return {
    lambda,
    ours: {
      seconds: Math.min(...found.ours),
      relativeGap: first.relativeGap,
      name: first.solver,
    },
    theirs: best && { ...best, seconds: Math.min(...found.theirs) },
  };
}

function rowOf({ data, problem, lambda, ours, theirs }: Cell): string[] {
  const certified = ours.relativeGap <= tolerance ? '' : ', NOT certified';
  const own = [`${ours.seconds.toFixed(3)} s`, `${ours.name}${certified}`];
  const cell = [data, problem, lambda.toExponential(0), ...own];
  if (!theirs) return [...cell, `none in ${limit} s`, '', '', ''];
  const { solver, form, tol, seconds } = theirs;
  const name = `${solver} (${form})`;
  const ratio = `${figure(ours.seconds / seconds)}×`;
  return [...cell, `${seconds.toFixed(3)} s`, name, tol.toExponential(0), ratio];
}

function measuresOf(cells: readonly Cell[]): Measure[] {
  const reached = cells.filter(({ theirs }) => theirs);
  return [...new Set(reached.map(({ data }) => data))].flatMap((data) => {
    const own = reached.filter((cell) => cell.data === data);
    const ratios = own.map(({ ours, theirs }) => ours.seconds / (theirs?.seconds ?? limit));
    const name = `training to the certificate / scikit-learn's best, ${data}`;
    const target = { kind: 'at most', limit: 1 } as const;
    return [
      { name: `${name}: geometric mean`, value: geometricMean(ratios), unit: '×', target },
      { name: `${name}: worst`, value: Math.max(...ratios), unit: '×', target },
    ];
  });
}

/** Tall tables against the quickest solver of scikit-learn, data in memory on both sides. */
export async function benchTall({ solver, files }: PartOptions): Promise<PartReport> {
  if (scikitLearnProblem()) {
    return { measures: [], details: [], skipped: [`tall: ${scikitLearnProblem()}`] };
  }
  const cells: Cell[] = [];
  const skipped: string[] = [];
  for (const data of wantedOf(Object.keys(tables), files)) {
    const sample = realData(data);
    if (!sample) {
      skipped.push(noData(data));
      continue;
    }
    const dataset = await readDataset(sample.path);
    const other = openScikitLearn(sample);
    for (const kind of tables[data]) {
      for (const lambda of lambdas) {
        process.stderr.write(`  ${data}, ${kind.title}, ${lambda} …\n`);
        const found = await race(dataset, other, kind, lambda, solver);
        cells.push({ data, problem: kind.title, ...found });
      }
    }
    other.close();
  }
  const head = ['data', 'problem', 'λ', 'ours', 'solver', 'scikit-learn', 'its best', 'tol'];
  console.log(table([...head, 'ratio'], cells.map(rowOf)));
  return { measures: measuresOf(cells), details: cells, skipped };
}
