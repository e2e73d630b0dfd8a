import { width as together } from '../../engine/processes/comm-channel.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import type { CentredRows } from '../kernels/proximal.ts';
import type { SolverContext } from '../solver.ts';
import type { Vector, Vectors } from '../vectors/vectors.ts';

/** Newton steps to the intercept, at most. */
const balanceSteps = 60;
/** Σα counts as 0 when it is this share of Σ|α|. */
const balanced = 1e-14;

/** Of every row: the margin of the iterate, α there and its centre, c φ'', and memory that is free. */
export type LossVectors = Readonly<
  Record<'margins' | 'centre' | 'alpha' | 'curvatures' | 'scratch', Vector>
>;

/**
 * The losses smoothed about their centres, see ProximalKernels, at the margins of the iterate. Every
 * thread of the team calls each method.
 */
export class SmoothedLoss {
  readonly #context: SolverContext;
  readonly #vectors: Vectors;
  readonly #rows: LossVectors;
  readonly #centred: CentredRows;
  /** Whether ℓ* has a kink at 0, where the smoothed loss is flat. */
  readonly #flat: boolean;

  constructor(context: SolverContext, vectors: Vectors, loss: Loss, rows: LossVectors) {
    const { objective, problem } = context;
    this.#context = context;
    this.#vectors = vectors;
    this.#rows = rows;
    this.#flat = loss.pieces === 2 && loss.parameter > 0;
    const [labels, rowWeights] = [problem.labels, problem.rowWeights].map((all) =>
      objective.ownRows(all),
    );
    this.#centred = { labels, rowWeights, centre: rows.centre.own };
  }

  /** α and the curvatures at the margins. */
  update(width: number): void {
    const { margins, alpha, curvatures } = this.#rows;
    const { kernels, team } = this.#context;
    kernels.proximalPoint(margins.own, this.#centred, width, this.#flat, alpha.own, curvatures.own);
    team.barrier();
  }

  /**
   * The slopes of the mean loss at margins + share · change, at the shares, and of another function that is
   * a sum over columns. A width of 0: of the losses as they are.
   */
  slopes(
    margins: Vector,
    change: Vector,
    width: number,
    other: (block: number, share: number) => number,
  ): (shares: readonly number[]) => number[] {
    const { team, objective, kernels, problem } = this.#context;
    const { scratch } = this.#rows;
    const slopesAt = (shares: readonly number[]) =>
      team.reduce(shares.length, (part, values) => {
        const rows = (all: Float64Array) => objective.rowsOf(all, part);
        const [u, du, target, labels, rowWeights, centre] = [
          margins.all,
          change.all,
          scratch.all,
          problem.labels,
          problem.rowWeights,
          this.#rows.centre.all,
        ].map(rows);
        for (const [k, share] of shares.entries()) {
          kernels.proximalAlong(u, du, share, { labels, rowWeights, centre }, width, target);
          const loss = kernels.segmentDot(target, du) / problem.totalWeight;
          values[k] = other(part, share) - loss;
        }
      });
    return (shares) =>
      shares.flatMap((_, k) =>
        k % together === 0 ? [...slopesAt(shares.slice(k, k + together))] : [],
      );
  }

  /**
   * What all margins have to be raised by for Σα = 0, by Newton's method within a bracket. Raises them;
   * α and the curvatures are then those of the new ones.
   */
  balance(width: number): number {
    const { alpha, curvatures, margins, scratch } = this.#rows;
    let [shift, low, high] = [0, -Infinity, Infinity];
    for (let k = 0; k < balanceSteps; k++) {
      this.update(width);
      const [a, sizes] = [alpha.own, scratch.own];
      for (let i = 0; i < a.length; i++) sizes[i] = Math.abs(a[i]);
      const [sum, size, slope] = this.#vectors.sums(alpha, scratch, curvatures);
      if (Math.abs(sum) <= balanced * size) break;
      // Σα falls where the margins rise.
      if (sum > 0) low = shift;
      else high = shift;
      const next = nextShift(shift, sum, slope, [low, high], width);
      if (next === shift) break;
      const u = margins.own;
      for (let i = 0; i < u.length; i++) u[i] += next - shift;
      shift = next;
    }
    return shift;
  }

  /** The centre moves to α/c. */
  moveCentre(): void {
    const { centre, alpha } = this.#rows;
    const { rowWeights: c } = this.#centred;
    for (let i = 0; i < c.length; i++) centre.own[i] = c[i] > 0 ? alpha.own[i] / c[i] : 0;
  }

  /** Σ c (a − m)² over the rows of a worker: how far α is from the centre. */
  distance(worker: number): number {
    const { objective, problem } = this.#context;
    const [m, a, c] = [this.#rows.centre.all, this.#rows.alpha.all, problem.rowWeights].map((all) =>
      objective.rowsOf(all, worker),
    );
    let sum = 0;
    for (let i = 0; i < m.length; i++) {
      if (c[i] === 0) continue;
      const away = a[i] / c[i] - m[i];
      sum += c[i] * away * away;
    }
    return sum;
  }
}

/** The Newton step, within the bracket, and not too long where the sum is nearly flat. */
function nextShift(
  shift: number,
  sum: number,
  slope: number,
  [low, high]: readonly [number, number],
  width: number,
): number {
  const most = 8 * (Math.abs(shift) + width);
  const step = slope > 0 ? Math.min(most, Math.abs(sum) / slope) : most;
  const next = shift + Math.sign(sum) * step;
  return next > low && next < high ? next : 0.5 * (low + high);
}
