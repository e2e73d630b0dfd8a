import type { Team } from '../../engine/team.ts';
import { OPERATIONS, SECURE, UNIT } from '../../math/rounding.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import type { SolverContext } from '../solver.ts';
import type { BestPoint } from './best-point.ts';
import type { CertificateMemory, Certifier } from './certificate.ts';
import { ColumnMoments, type MomentsMemory } from './column-moments.ts';
import type { Objective } from './objective.ts';

/** More than underflow can lose. */
const underflow = 1e-300;
/**
 * Weights are set to 0 whose penalty outweighs this many times the loss that is expected: the first
 * number after which P is no higher.
 */
const surpluses = [1, 8, 64, 2 ** 10, 2 ** 20, 2 ** 50, 2 ** 100, 2 ** 200];
/** From here on a weight is nothing but what is left of a mean with 0. */
const vanishing = surpluses.indexOf(2 ** 50);
/** By how much P may seem to rise: its last bits change whenever margins are computed again. */
const lastBits = 4 * UNIT;

/**
 * Where an L1 penalty makes weights 0: the columns where that is proved, and weights that a mean of
 * points has left where 0 is no worse. Every thread of the team calls each method; all get the same
 * bits back.
 */
export class ZeroWeights {
  readonly #objective: Objective;
  readonly #team: Team;
  readonly #loss: Loss;
  readonly #certifier: Certifier;
  readonly #memory: CertificateMemory;
  readonly #moments: ColumnMoments;

  /** `memory`: that of the certifier, which uses it in turn. */
  constructor(
    context: SolverContext,
    loss: Loss,
    certifier: Certifier,
    memory: CertificateMemory,
    moments: MomentsMemory,
  ) {
    const { objective, team } = context;
    this.#objective = objective;
    this.#team = team;
    this.#loss = loss;
    this.#certifier = certifier;
    this.#memory = memory;
    this.#moments = new ColumnMoments(context, moments);
  }

  /**
   * How many columns are 0 in every optimum by the last proof, where the loss allows it. `primal`: P,
   * made larger by its rounding errors. With L ≥ ℓ'' the conjugate ℓ* grows by (s − t)²/(2L) above its
   * tangents, so that for the α of the proof and the optimal α*
   *
   *   Σ_i (α_i − α*_i)²/c_i ≤ 2 L W (P − D(α)),   |v_j − v*_j|² ≤ 2 L (P − D(α)) Σ_i c_i x_ij²/W
   *
   * by Cauchy and Schwarz. With an intercept Σ (α_i − α*_i) = 0, and x_ij may be less their mean. Where
   * |v*_j| < λ l1 f_j, w*_j = 0.
   */
  countProved(primal: number): number | undefined {
    const { dual, scale } = this.#certifier.last;
    const rooms = scale === undefined ? undefined : this.#certifier.measureRooms(scale);
    const { greatestCurvature: most } = this.#loss;
    if (most === undefined || rooms === undefined) return undefined;
    const objective = this.#objective;
    const { problem } = objective;
    const { squares, sums } = this.#moments.compute();
    const gap = Math.max(0, primal - dual);
    const perWeight = SECURE / problem.totalWeight;
    const [count] = this.#team.reduce(1, (block, values) => {
      const arrays = [rooms, squares, sums, problem.l1];
      const [room, square, sum, l1] = arrays.map((all) => objective.columnsOf(all, block));
      for (let j = 0; j < room.length; j++) {
        if (!(l1[j] > 0)) continue;
        const spread = problem.intercept ? this.#spread(square[j], sum[j]) : square[j];
        const radius = SECURE * Math.sqrt(2 * most * gap * (spread * perWeight));
        if (room[j] - radius > underflow) values[0]++;
      }
    });
    return count;
  }

  /** Σ c (x − μ)² = Σ c x² − (Σ c x)²/W, μ the mean of x, and what rounding may take from it. */
  #spread(square: number, sum: number): number {
    const { totalWeight, rows } = this.#objective.problem;
    const error = SECURE * UNIT * (rows + OPERATIONS);
    const least = Math.max(0, Math.abs(sum) - error * Math.sqrt(square * totalWeight));
    return Math.max(0, square * (1 + 4 * error) - (least * least) / totalWeight);
  }

  /**
   * Sets weights to 0 where P, which is `primal`, does not rise by it, after `countProved`; returns P if
   * there are any. A proximal step of its column alone would do so: with the slope v_j and the curvature
   * h_j of the losses
   *
   *   P(w) − P(w − w_j e_j) ≈ λ l1 f_j |w_j| + ½ λ l2 f_j w_j² − v_j w_j − ½ h_j w_j²
   *
   * is positive. Columns share rows, so P tells; where it rises, those remain that are farthest from it.
   */
  drop(best: BestPoint, primal: number, onlyVanishing = false): number | undefined {
    const objective = this.#objective;
    const kept = this.#memory.imageSizes;
    objective.copyColumns(best.weights, kept);
    const surplusesOf = this.#surpluses(best, primal);
    let before = 0;
    for (const surplus of surpluses.slice(onlyVanishing ? vanishing : 0)) {
      const [count] = this.#team.reduce(1, (block, values) => {
        const surplusOf = surplusesOf(block);
        values[0] = this.#clear(best, kept, block, (j) => surplusOf(j) >= surplus);
      });
      if (count === 0) break;
      if (count === before) continue;
      before = count;
      const found = best.primalAfresh();
      if (found <= primal + lastBits * Math.abs(primal)) return found;
    }
    if (before === 0) return undefined;
    objective.copyColumns(kept, best.weights);
    best.primalAfresh();
    return undefined;
  }

  /** Weights of a block as they were, but 0 where that is wanted; returns how many are new. */
  #clear(
    best: BestPoint,
    kept: Float64Array,
    block: number,
    wanted: (j: number) => boolean,
  ): number {
    const [w, old] = [best.weights, kept].map((all) => this.#objective.columnsOf(all, block));
    let count = 0;
    for (let j = 0; j < w.length; j++) {
      const drops = old[j] !== 0 && wanted(j);
      if (drops) count++;
      w[j] = drops ? 0 : old[j];
    }
    return count;
  }

  /** Of a column of a block: by how many times its penalty outweighs ½ h_j w_j². */
  #surpluses({ margins }: BestPoint, primal: number) {
    const objective = this.#objective;
    const { problem, scratchImage: image } = objective;
    const { alpha, marginSizes: slopes } = this.#memory;
    const { squares } = this.#moments.compute();
    const isSmooth = this.#loss.smooth;
    if (isSmooth) objective.dualPoint(margins, slopes);
    objective.image(isSmooth ? slopes : alpha, image);
    const share = isSmooth ? 1 : (this.#certifier.last.scale ?? 0);
    // A kink has no curvature; P is about how far margins move that change it.
    const bend = isSmooth ? this.#meanCurvature(margins) : 1 / primal;
    const arrays = [this.#memory.imageSizes, image, squares, problem.l1, problem.l2];
    return (block: number) => {
      const [w, v, square, l1, l2] = arrays.map((all) => objective.columnsOf(all, block));
      return (j: number) => {
        if (!(l1[j] > 0)) return -Infinity;
        const size = Math.abs(w[j]);
        const excess = l1[j] + 0.5 * l2[j] * size - Math.sign(w[j]) * share * v[j];
        const loss = 0.5 * bend * (square[j] / problem.totalWeight) * size;
        return loss > 0 ? excess / loss : excess > 0 ? Infinity : -Infinity;
      };
    };
  }

  /** (1/W) Σ c ℓ''(u) */
  #meanCurvature(margins: Float64Array): number {
    const { problem, kernels } = this.#objective;
    const [sum] = this.#team.reduce(1, (worker, values) => {
      const rows = (array: Float64Array) => this.#objective.rowsOf(array, worker);
      const [u, y, c] = [margins, problem.labels, problem.rowWeights].map(rows);
      values[0] = kernels.curvatureSum(u, y, c);
    });
    return sum / problem.totalWeight;
  }
}
