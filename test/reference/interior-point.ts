/**
 * A dense primal-dual interior-point method for small convex programs, written to be trusted, not
 * to be fast (Boyd and Vandenberghe, Convex Optimization, section 11.7):
 *
 *   minimise F(x)  subject to  G x ≤ h,  from a strictly feasible start.
 */
export interface Constraint {
  readonly entries: readonly (readonly [index: number, coefficient: number])[];
  readonly bound: number;
}

export interface Program {
  gradient(x: readonly number[]): number[];
  hessian(x: readonly number[]): number[][];
  readonly constraints: readonly Constraint[];
  readonly start: readonly number[];
}

export interface Solution {
  readonly x: readonly number[];
  /** An upper bound of F(x) − F*, as far as the residual is 0. */
  readonly gap: number;
  /** Length of ∇F(x) + Gᵀz. */
  readonly residual: number;
}

function evaluate(constraint: Constraint, x: readonly number[]): number {
  let total = 0;
  for (const [index, coefficient] of constraint.entries) total += coefficient * x[index];
  return total;
}

/** Solves A x = b for a symmetric positive definite A by Cholesky's factorisation. */
function solve(matrix: number[][], rightSide: readonly number[]): number[] {
  const size = rightSide.length;
  const lower = matrix.map((row) => row.slice());
  const largest = Math.max(...matrix.map((row, i) => row[i]));
  for (let j = 0; j < size; j += 1) {
    let pivot = lower[j][j];
    for (let k = 0; k < j; k += 1) pivot -= lower[j][k] ** 2;
    lower[j][j] = Math.sqrt(Math.max(pivot, 1e-18 * largest));
    for (let i = j + 1; i < size; i += 1) {
      let entry = lower[i][j];
      for (let k = 0; k < j; k += 1) entry -= lower[i][k] * lower[j][k];
      lower[i][j] = entry / lower[j][j];
    }
  }
  const x = rightSide.slice();
  for (let i = 0; i < size; i += 1) {
    for (let k = 0; k < i; k += 1) x[i] -= lower[i][k] * x[k];
    x[i] /= lower[i][i];
  }
  for (let i = size - 1; i >= 0; i -= 1) {
    for (let k = i + 1; k < size; k += 1) x[i] -= lower[k][i] * x[k];
    x[i] /= lower[i][i];
  }
  return x;
}

const length = (vector: readonly number[]) => Math.hypot(...vector);

const dot = (a: readonly number[], b: readonly number[]) =>
  a.reduce((total, entry, i) => total + entry * b[i], 0);

class State {
  readonly program: Program;
  readonly x: number[];
  readonly multipliers: number[];
  readonly slacks: number[];

  constructor(program: Program, x: number[], multipliers: number[]) {
    this.program = program;
    this.x = x;
    this.multipliers = multipliers;
    this.slacks = program.constraints.map((item) => item.bound - evaluate(item, x));
  }

  get feasible(): boolean {
    return this.slacks.every((slack) => slack > 0) && this.multipliers.every((z) => z > 0);
  }

  get gap(): number {
    return dot(this.slacks, this.multipliers);
  }

  /** ∇F + Gᵀ v */
  dualResidual(v: readonly number[]): number[] {
    const residual = this.program.gradient(this.x);
    this.program.constraints.forEach((item, i) => {
      for (const [index, coefficient] of item.entries) residual[index] += coefficient * v[i];
    });
    return residual;
  }

  /** How far from the point of the central path with the given product of slack and multiplier. */
  distance(target: number): number {
    const products = this.slacks.map((slack, i) => slack * this.multipliers[i] - target);
    return Math.hypot(length(this.dualResidual(this.multipliers)), length(products));
  }

  /** Newton's step towards that point: changes of x and of the multipliers. */
  direction(target: number): { dx: number[]; dz: number[] } {
    const { constraints } = this.program;
    const matrix = this.program.hessian(this.x);
    constraints.forEach((item, i) => {
      const weight = this.multipliers[i] / this.slacks[i];
      for (const [row, a] of item.entries) {
        for (const [column, b] of item.entries) matrix[row][column] += weight * a * b;
      }
    });
    const centred = this.slacks.map((slack) => target / slack);
    const dx = solve(
      matrix,
      this.dualResidual(centred).map((entry) => -entry),
    );
    const dz = constraints.map((item, i) => {
      const [z, slack] = [this.multipliers[i], this.slacks[i]];
      return centred[i] - z + (z / slack) * evaluate(item, dx);
    });
    return { dx, dz };
  }

  moved(dx: readonly number[], dz: readonly number[], step: number): State {
    return new State(
      this.program,
      this.x.map((entry, i) => entry + step * dx[i]),
      this.multipliers.map((entry, i) => entry + step * dz[i]),
    );
  }
}

/** The longest step, of 1, 0.9, 0.81, …, that stays inside and comes nearer; undefined if none. */
function advance(state: State, target: number): State | undefined {
  const { dx, dz } = state.direction(target);
  const before = state.distance(target);
  for (let step = 1; step > 1e-10; step *= 0.9) {
    const next = state.moved(dx, dz, step);
    if (next.feasible && next.distance(target) <= (1 - 0.01 * step) * before) return next;
  }
  return undefined;
}

export function interiorPoint(program: Program): Solution {
  const count = program.constraints.length;
  const multipliers = program.constraints.map(() => 0.1);
  let state = new State(program, program.start.slice(), multipliers);
  if (!state.feasible)
    throw new Error('the start of an interior-point run must be strictly inside');
  for (let round = 0; round < 300; round += 1) {
    const residual = length(state.dualResidual(state.multipliers));
    // Below this, rounding leaves steps so short that hundreds of them gain nothing.
    if (state.gap < 1e-13 && residual < 1e-13) break;
    const target = count === 0 ? 0 : (0.1 * state.gap) / count;
    const next = advance(state, target);
    if (next === undefined) break;
    state = next;
  }
  const residual = length(state.dualResidual(state.multipliers));
  return { x: state.x, gap: state.gap, residual };
}
