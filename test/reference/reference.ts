/**
 * The optimum of a small dense problem, found by a method that shares nothing with the solvers:
 * every loss but the logistic and Poisson's is written as a linear or quadratic program in slack variables.
 *
 *   P(w, b) = λ Σ_j f_j (l1 |w_j| + (l2/2) w_j²) + (1/W) Σ_i c_i ℓ(⟨w, x_i⟩ + b, y_i)
 *
 * with W = Σ c_i; all c_i are 1 unless they are given. Where the penalty has bounds, low ≤ w_j ≤ high.
 */
import { type Constraint, interiorPoint, type Program } from './interior-point.ts';

export interface ReferenceProblem {
  readonly rows: readonly (readonly number[])[];
  /** −1 or +1 for classification. */
  readonly labels: readonly number[];
  readonly loss: { readonly name: string; readonly parameter?: number };
  readonly penalty: {
    readonly l1: number;
    readonly l2: number;
    readonly low?: number;
    readonly high?: number;
  };
  readonly lambda: number;
  readonly intercept?: boolean;
  readonly penaltyFactors?: readonly number[];
  /** c_i: finite and at least 0. */
  readonly rowWeights?: readonly number[];
}

export interface ReferenceOptimum {
  readonly value: number;
  readonly weights: readonly number[];
  readonly intercept: number;
}

/** The losses as a textbook has them. */
export function referenceLoss(name: string, u: number, y: number, parameter = 1): number {
  const violation = Math.max(0, 1 - y * u);
  const distance = Math.abs(u - y);
  switch (name) {
    case 'hinge':
      return violation;
    case 'squared-hinge':
      return violation ** 2;
    case 'smoothed-hinge':
      return violation < parameter ? violation ** 2 / (2 * parameter) : violation - parameter / 2;
    case 'logistic':
      return Math.max(0, -y * u) + Math.log1p(Math.exp(-Math.abs(u)));
    case 'square':
      return distance ** 2 / 2;
    case 'huber':
      return distance < parameter ? distance ** 2 / 2 : parameter * distance - parameter ** 2 / 2;
    case 'absolute':
      return Math.max(0, distance - parameter);
    case 'squared-absolute':
      return Math.max(0, distance - parameter) ** 2;
    case 'quantile':
      return Math.max(parameter * (y - u), (1 - parameter) * (u - y));
    case 'poisson':
      return Math.exp(u) - y * u + (y > 0 ? y * Math.log(y) - y : 0);
    default:
      throw new Error(`no reference for loss '${name}'`);
  }
}

const initialParameters: Readonly<Record<string, number>> = {
  absolute: 0,
  'squared-absolute': 0,
  quantile: 0.5,
};

function parameterOf({ loss }: ReferenceProblem): number {
  return loss.parameter ?? initialParameters[loss.name] ?? 1;
}

/** c_i / W of every row */
function sharesOf({ rows, rowWeights }: ReferenceProblem): readonly number[] {
  if (!rowWeights) return rows.map(() => 1 / rows.length);
  const total = rowWeights.reduce((sum, weight) => sum + weight, 0);
  return rowWeights.map((weight) => weight / total);
}

function penaltyFactor(problem: ReferenceProblem, column: number): number {
  return problem.lambda * (problem.penaltyFactors?.[column] ?? 1);
}

export function referenceObjective(
  problem: ReferenceProblem,
  weights: readonly number[],
  intercept = 0,
): number {
  const { l1, l2, low = -Infinity, high = Infinity } = problem.penalty;
  let penalty = 0;
  weights.forEach((w, j) => {
    if (w < low || w > high) penalty = Infinity;
    penalty += penaltyFactor(problem, j) * (l1 * Math.abs(w) + (l2 / 2) * w * w);
  });
  const shares = sharesOf(problem);
  let total = 0;
  problem.rows.forEach((row, i) => {
    const score = row.reduce((sum, x, j) => sum + x * weights[j], intercept);
    const loss = referenceLoss(problem.loss.name, score, problem.labels[i], parameterOf(problem));
    total += shares[i] * loss;
  });
  return penalty + total;
}

/** Collects variables, costs and constraints of a quadratic program. */
class Builder {
  readonly start: number[] = [];
  readonly linear: number[] = [];
  readonly diagonal: number[] = [];
  readonly constraints: Constraint[] = [];

  variable(start: number, linear: number, diagonal: number): number {
    this.start.push(start);
    this.linear.push(linear);
    this.diagonal.push(diagonal);
    return this.start.length - 1;
  }

  /** Σ coefficient · x ≥ bound */
  atLeast(entries: readonly (readonly [number, number])[], bound: number): void {
    const negated = entries.map(([index, coefficient]) => [index, -coefficient] as const);
    this.constraints.push({ entries: negated, bound: -bound });
  }
}

/** The slack variables of one row; `scores` are the entries of ⟨w, x⟩ + b. */
function addRow(
  builder: Builder,
  problem: ReferenceProblem,
  scores: readonly (readonly [number, number])[],
  row: number,
  share: number,
): void {
  const y = problem.labels[row];
  const parameter = parameterOf(problem);
  const far = Math.abs(y) + 2;
  const times = (factor: number) => scores.map(([index, x]) => [index, factor * x] as const);
  const { name } = problem.loss;
  if (name === 'hinge' || name === 'squared-hinge' || name === 'smoothed-hinge') {
    const linear = name === 'squared-hinge' ? 0 : share;
    const slack = builder.variable(far, linear, name === 'squared-hinge' ? 2 * share : 0);
    builder.atLeast([[slack, 1]], 0);
    // The smoothed hinge is the least p²/(2γ) + max(0, 1 − y u − p) over p.
    const rounded =
      name === 'smoothed-hinge' ? [[builder.variable(0, 0, share / parameter), 1] as const] : [];
    builder.atLeast([[slack, 1], ...rounded, ...times(y)], 1);
  } else if (name === 'absolute' || name === 'squared-absolute') {
    const squared = name === 'squared-absolute';
    const slack = builder.variable(far, squared ? 0 : share, squared ? 2 * share : 0);
    builder.atLeast([[slack, 1]], 0);
    builder.atLeast([[slack, 1], ...times(1)], y - parameter);
    builder.atLeast([[slack, 1], ...times(-1)], -y - parameter);
  } else if (name === 'quantile') {
    const slack = builder.variable(far, share, 0);
    builder.atLeast([[slack, 1], ...times(parameter)], parameter * y);
    builder.atLeast([[slack, 1], ...times(parameter - 1)], (parameter - 1) * y);
  } else if (name === 'huber') {
    // The Huber loss is the least p²/2 + δ |u − y − p| over p.
    const inner = builder.variable(0, 0, share);
    const slack = builder.variable(far, parameter * share, 0);
    builder.atLeast([[slack, 1], [inner, -1], ...times(1)], y);
    builder.atLeast([[slack, 1], [inner, 1], ...times(-1)], -y);
  }
}

type Scores = readonly (readonly [number, number])[];

/** ℓ' and ℓ'' of the losses that need no slack variables. */
const smoothLosses: Readonly<
  Record<string, (u: number, y: number) => readonly [first: number, second: number]>
> = {
  square: (u, y) => [u - y, 1],
  logistic: (u, y) => {
    const chance = 1 / (1 + Math.exp(y * u));
    return [-y * chance, chance * (1 - chance)];
  },
  poisson: (u, y) => [Math.exp(u) - y, Math.exp(u)],
};

/** Adds the losses that need no slack variables to the derivatives. */
function smoothPart(problem: ReferenceProblem, allScores: readonly Scores[]) {
  const derivatives = smoothLosses[problem.loss.name];
  const shares = sharesOf(problem);
  const each = (
    x: readonly number[],
    visit: (scores: Scores, first: number, second: number) => void,
  ): void => {
    if (derivatives === undefined) return;
    allScores.forEach((scores, i) => {
      const u = scores.reduce((sum, [index, value]) => sum + value * x[index], 0);
      const [first, second] = derivatives(u, problem.labels[i]);
      visit(scores, shares[i] * first, shares[i] * second);
    });
  };
  return each;
}

const near = 1e-3;

function programOf(problem: ReferenceProblem): Program {
  const builder = new Builder();
  const { l1, l2, low = -Infinity, high = Infinity } = problem.penalty;
  const columns = problem.rows[0].length;
  // A start strictly inside the box, and near enough to 0 for the slacks of the rows.
  const inside = Math.max(Math.min(0, high - near), Math.min(low + near, high / 2));
  for (let j = 0; j < columns; j += 1) {
    builder.variable(inside, 0, penaltyFactor(problem, j) * l2);
    if (low > -Infinity) builder.atLeast([[j, 1]], low);
    if (high < Infinity) builder.atLeast([[j, -1]], -high);
  }
  const offset = problem.intercept ? [[builder.variable(0, 0, 0), 1] as const] : [];
  for (let j = 0; j < (l1 > 0 ? columns : 0); j += 1) {
    const size = builder.variable(1, penaltyFactor(problem, j) * l1, 0);
    builder.atLeast(
      [
        [size, 1],
        [j, 1],
      ],
      0,
    );
    builder.atLeast(
      [
        [size, 1],
        [j, -1],
      ],
      0,
    );
  }
  const allScores = problem.rows.map((row) => [...row.map((x, j) => [j, x] as const), ...offset]);
  const shares = sharesOf(problem);
  allScores.forEach((scores, i) => {
    // A row that does not count would leave its slack variables without a cost.
    if (shares[i] > 0) addRow(builder, problem, scores, i, shares[i]);
  });
  const eachRow = smoothPart(problem, allScores);
  const { constraints, start, linear, diagonal } = builder;
  return {
    constraints,
    start,
    gradient: (x) => {
      const gradient = linear.map((cost, k) => cost + diagonal[k] * x[k]);
      eachRow(x, (scores, first) => {
        for (const [index, value] of scores) gradient[index] += first * value;
      });
      return gradient;
    },
    hessian: (x) => {
      const hessian = diagonal.map((entry, k) => diagonal.map((_, i) => (i === k ? entry : 0)));
      eachRow(x, (scores, _first, second) => {
        for (const [a, left] of scores) {
          for (const [b, right] of scores) hessian[a][b] += second * left * right;
        }
      });
      return hessian;
    },
  };
}

/** P* to about 1e-10, with weights that attain it; throws if that accuracy was not reached. */
export function referenceOptimum(problem: ReferenceProblem): ReferenceOptimum {
  const { x, gap, residual } = interiorPoint(programOf(problem));
  if (!(gap < 1e-10 && residual < 1e-9)) {
    throw new Error(`the reference solver stopped at gap ${gap}, residual ${residual}`);
  }
  const columns = problem.rows[0].length;
  const { low = -Infinity, high = Infinity } = problem.penalty;
  const weights = x.slice(0, columns).map((w) => Math.min(high, Math.max(low, w)));
  const intercept = problem.intercept ? x[columns] : 0;
  return { value: referenceObjective(problem, weights, intercept), weights, intercept };
}
