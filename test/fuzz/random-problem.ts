/** Random problems at the limits of what a certificate has to hold for. */
import { datasetFromRows } from '../../src/data/from-arrays.ts';
import { UsageError } from '../../src/errors.ts';
import { exp } from '../../src/math/elementary.ts';
import type { Random } from '../../src/math/random.ts';
import { lossByName, lossNames } from '../../src/problem/losses/index.ts';
import type { Loss } from '../../src/problem/losses/loss.ts';
import { penaltyByName, penaltyNames } from '../../src/problem/penalties/index.ts';
import { bounded, type Penalty } from '../../src/problem/penalties/separable.ts';
import { choose } from '../../src/solvers/choose.ts';
import { isSerial, solverByName, solverNames } from '../../src/solvers/index.ts';
import type { TrainOptions } from '../../src/train/options/options.ts';
import { chance, pick } from './draw.ts';

export interface Row {
  readonly indices: readonly number[];
  readonly values: readonly number[];
  readonly label: number;
  readonly weight: number;
}

/** A problem in the words of the command line. */
export interface RandomProblem {
  readonly rows: readonly Row[];
  readonly columns: number;
  readonly loss: Loss;
  readonly penalty: Penalty;
  readonly l1Ratio: number | undefined;
  readonly factors: readonly number[] | undefined;
  readonly solver: string;
  readonly numbers: Readonly<Record<'lambda' | 'tolerance' | 'epochs' | 'grid' | 'seed', number>>;
  readonly intercept: boolean;
}

/** 10 to a power between two. */
function magnitude(random: Random, least: number, most: number): number {
  return exp(Math.LN10 * (least + (most - least) * random.uniform()));
}

export function randomProblem(random: Random): RandomProblem {
  const loss = randomLoss(random);
  const columns = 1 + random.below(chance(random, 0.2) ? 40 : 8);
  const count = 2 + random.below(chance(random, 0.2) ? 80 : 20);
  const l1Ratio = chance(random, 0.5) ? 0.1 + 0.8 * random.uniform() : undefined;
  const problem = {
    rows: randomRows(random, loss, count, columns),
    columns,
    loss,
    ...randomPenalty(random, l1Ratio),
    factors: chance(random, 0.1)
      ? Array.from({ length: columns }, () => magnitude(random, -3, 3))
      : undefined,
    numbers: {
      lambda: chance(random, 0.03) ? 1e-300 : magnitude(random, -10, 2),
      tolerance: chance(random, 0.5) ? 1e-3 : magnitude(random, -15, -1),
      epochs: 1 + random.below(chance(random, 0.2) ? 400 : 60),
      grid: 1 + random.below(3),
      seed: random.below(1000),
    },
    intercept: chance(random, 0.5),
  };
  const solver = randomSolver(random, problem);
  const most = isSerial(solverByName(solver)) ? 1 : Math.min(problem.rows.length, columns);
  const { grid, ...rest } = problem.numbers;
  return { ...problem, solver, numbers: { ...rest, grid: Math.min(grid, most) } };
}

/** Half of all problems have the default, the others any solver that takes them. */
function randomSolver(random: Random, problem: Omit<RandomProblem, 'solver'>): string {
  if (chance(random, 0.5)) return 'auto';
  const { loss, penalty, numbers, intercept, factors, rows, columns } = problem;
  const shape = { rows: rows.length, columns, nonzeros: rows.length * columns };
  const { lambda } = numbers;
  const summary = { loss, penalty, lambda, intercept, factors: factors !== undefined, shape };
  // Asynchronous runs differ from time to time.
  const able = solverNames.filter(
    (name) => name !== 'dso-async' && takes(() => choose(solverByName(name), summary)),
  );
  return pick(random, able);
}

function takes(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch (error) {
    if (error instanceof UsageError) return false;
    throw error;
  }
}

function randomLoss(random: Random): Loss {
  const plain = lossByName(pick(random, lossNames));
  if (!plain.parameterName || chance(random, 0.5)) return plain;
  const isShare = plain.parameterName === 'quantile' || plain.parameterName === 'smoothing';
  const parameter = isShare ? 0.02 + 0.96 * random.uniform() : magnitude(random, -6, 6);
  return lossByName(plain.name, parameter);
}

function randomPenalty(random: Random, l1Ratio: number | undefined) {
  const name = pick(random, penaltyNames);
  const ratio = name === 'elastic-net' ? l1Ratio : undefined;
  const plain = penaltyByName(name, ratio === undefined ? {} : { l1Ratio: ratio });
  if (!chance(random, 0.15)) return { penalty: plain, l1Ratio: ratio };
  const low = chance(random, 0.5) ? 0 : -magnitude(random, -4, 4);
  const high = chance(random, 0.5) ? Infinity : magnitude(random, -4, 4);
  return { penalty: bounded(plain, { low, high }), l1Ratio: ratio };
}

function randomRows(random: Random, loss: Loss, count: number, columns: number): Row[] {
  const scale = chance(random, 0.5) ? 1 : magnitude(random, -8, 8);
  const scales = Array.from({ length: columns }, () =>
    chance(random, 0.2) ? scale * magnitude(random, -4, 4) : scale,
  );
  const density = chance(random, 0.5) ? 1 : 0.2 + 0.6 * random.uniform();
  const truth = scales.map((one) => random.normal() / one);
  const noise = chance(random, 0.3) ? 0 : magnitude(random, -6, 1);
  const labelOf = randomLabels(random, loss);
  const weighted = chance(random, 0.2);
  return Array.from({ length: count }, () => {
    const indices = scales.flatMap((_, column) => (random.uniform() < density ? [column] : []));
    const values = indices.map((column) => Math.fround(scales[column] * random.normal()));
    const exactScore = indices.reduce((sum, column, k) => sum + truth[column] * values[k], 0);
    const label = labelOf(exactScore + noise * random.normal());
    const weight = chance(random, 0.1) ? 0 : magnitude(random, -3, 3);
    return { indices, values, label, weight: weighted ? weight : 1 };
  });
}

/** What a row is labelled whose score is s. */
function randomLabels(random: Random, loss: Loss): (score: number) => number {
  if (loss.task === 'classification') {
    const flips = chance(random, 0.5) ? 0 : 0.2 * random.uniform();
    return (score) => (score > 0 === random.uniform() >= flips ? 1 : -1);
  }
  if (loss.link === 'log') {
    const mean = chance(random, 0.5) ? 1 : magnitude(random, 0, 14);
    return (score) => Math.round(mean * exp(Math.max(-5, Math.min(5, score))));
  }
  const offset = chance(random, 0.5) ? 0 : magnitude(random, 0, 12);
  const unit = chance(random, 0.7) ? 1 : magnitude(random, -8, 8);
  return (score) => offset + unit * score;
}

export function datasetOfProblem({ rows, columns }: RandomProblem) {
  return datasetFromRows({
    rows,
    columns,
    labels: rows.map(({ label }) => label),
    weights: rows.map(({ weight }) => weight),
  });
}

export function optionsOfProblem(problem: RandomProblem): TrainOptions {
  const { loss, penalty, factors, solver, numbers, intercept } = problem;
  return {
    loss,
    penalty,
    intercept,
    ...numbers,
    solver: solverByName(solver),
    ...(factors && { penaltyFactors: Float64Array.from(factors) }),
  };
}

/** The flags of `dso train`; penalty factors are in a file of this name. */
export function flagsOfProblem(problem: RandomProblem, factorsFile: string): string[] {
  const { loss, penalty, l1Ratio, factors, solver, numbers, intercept } = problem;
  const { low = -Infinity, high = Infinity } = penalty;
  return [
    `--loss ${loss.name}`,
    ...(loss.parameterName ? [`--${loss.parameterName} ${loss.parameter}`] : []),
    `--penalty ${penalty.name}`,
    ...(l1Ratio === undefined ? [] : [`--l1-ratio ${l1Ratio}`]),
    ...(low > -Infinity ? [`--lower=${low}`] : []),
    ...(high < Infinity ? [`--upper=${high}`] : []),
    ...(factors ? [`--penalty-factors ${factorsFile}`] : []),
    ...(intercept ? ['--intercept'] : []),
    `--solver ${solver}`,
    ...Object.entries(numbers).map(([name, value]) => `--${name} ${value}`),
  ];
}

/** The rows as CSV. */
export function csvOfProblem({ rows, columns }: RandomProblem): string {
  const names = Array.from({ length: columns }, (_, column) => `x${column + 1}`);
  const lines = rows.map(({ indices, values, label, weight }) => {
    const cells = new Array<number>(columns).fill(0);
    for (const [k, column] of indices.entries()) cells[column] = values[k];
    return [label, weight, ...cells].join(',');
  });
  return [['label', 'weight', ...names].join(','), ...lines, ''].join('\n');
}
