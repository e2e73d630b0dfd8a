import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import type { Random } from '../../math/random.ts';
import { sum } from '../../math/vectors.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { allocateGenerators, type BlockState, reserve } from '../block-state.ts';
import {
  type SgdRows,
  type SgdStep,
  sgdClock,
  sgdSlot,
  sgdStride,
  type WholeRows,
} from '../kernels/kernels.ts';
import type { Problem } from '../objective/problem.ts';
import { inChunks } from '../orders.ts';
import type { SolverContext } from '../solver.ts';
import { allColumns, heldColumns, mostHeld, partOfWorker, wholeRows } from '../whole.ts';

/** Default step sizes η that did well on text and small samples; their units: see LocalSgd. */
const adagradStep = { classification: 1, regression: 0.5 };
const sqrtStep = 0.5;

/** Settings of stochastic gradient descent, serial (sgd) and parallel (psgd). */
export interface SgdSettings {
  /** 'adagrad' (default) or 'sqrt': η₀/√t. */
  readonly step: 'adagrad' | 'sqrt';
  /** Step size η₀; the default depends on the step rule and the loss. */
  readonly stepSize?: number;
  /** Whether the model is the average of the iterates (default true) or the last one. */
  readonly average: boolean;
}

export type SgdMemory = ReturnType<typeof allocateSgd>;

export function allocateSgd(arena: Arena, partition: Partition) {
  const rows = partition.rowOrder.length;
  const { first, bufferLength } = partition;
  const local = partition.end - first;
  return {
    ...reserve(arena, 'float64', rows, ['alpha', 'meanAlpha', 'margins']),
    order: arena.int32(rows),
    generators: allocateGenerators(arena, partition),
    weights: arena.float64(bufferLength),
    /** λ f_j, on its way to all workers. */
    strength: arena.float64(bufferLength),
    /** Every worker has its own copy of all columns; only those of its rows are ever touched. */
    lines: arena.float64(local * sgdStride * allColumns(partition)),
    clocks: arena.float64(partition.size * sgdClock.length),
    starts: arena.int32(partition.size + 1),
    held: Array.from({ length: local }, (_, k) => arena.int32(mostHeld(partition, first + k))),
  };
}

/**
 * One worker's descent on the regularized risk of its own rows, λφ(w) + (1/W) Σ c_i ℓ_i(w) over the n
 * rows it has, W = Σ c_i. An epoch takes each of them once, in a new random order.
 *
 * A step on row i follows the gradient of c_i (n/W) ℓ_i, which in the mean is that of the risk, and
 * the penalty acts by its flow dw/dt = −l1 sign(w) − l2 w for as long as the step is. A column that
 * no row met for a while catches up in one go, so that a step takes time proportional to the
 * non-zeros of its row. At the end of an epoch all have caught up.
 *
 * Step sizes must fit the scale of features and labels. With root mean squares Y of the labels and
 * X_j of the column's non-zeros, and k non-zeros a row:
 *
 *   AdaGrad:  η_j/√G_j,  η_j = η Y/(X_j √k);   a column in another unit gets the same scores
 *   1/√t:     η₀/√t with t counted in epochs (1 at first), η₀ = η/(L max c_i (n/W) ‖x_i‖²)
 *
 * with L the largest ℓ'' or, where ℓ' is bounded and no step can run away, at most |ℓ'|/(4 Y).
 */
export class LocalSgd {
  /** −c ℓ' at each row's step of the last epoch: where w comes to rest, the dual optimum. */
  readonly alpha: Float64Array;
  readonly #kernels: SolverContext['kernels'];
  readonly #average: boolean;
  readonly #whole: WholeRows;
  readonly #columnBounds: Int32Array;
  readonly #order: Int32Array;
  readonly #rows: SgdRows;
  readonly #lines: Float64Array;
  /** The columns that occur in its rows; those of block b from listed[b] on. */
  readonly #held: Int32Array;
  readonly #listed: Int32Array;
  readonly #clock: Float64Array;
  readonly #step: SgdStep;
  /** n/W, 0 where no row counts. */
  readonly #rowShare: number;
  readonly #random: Random;
  /** Time the last epoch took; its mean weights are sums divided by it. */
  #span = 1;

  constructor(
    state: BlockState,
    memory: SgdMemory,
    settings: SgdSettings,
    loss: Loss,
    worker: number,
  ) {
    const { problem, kernels } = state.context;
    const { labels, rowWeights, bounds } = problem;
    const { partition } = problem.grid;
    const { alpha, order } = memory;
    this.#kernels = kernels;
    this.#average = settings.average;
    this.#whole = wholeRows(problem, worker, memory.starts);
    this.#columnBounds = partition.columnBounds;
    this.#rows = state.rowsOf(worker, { labels, rowWeights, alpha });
    this.alpha = this.#rows.alpha;
    this.#order = state.rowsOf(worker, { order }).order;
    const totalWeight = sum(this.#rows.rowWeights);
    this.#rowShare = totalWeight > 0 ? this.#order.length / totalWeight : 0;
    this.#lines = partOfWorker(partition, memory.lines, worker);
    this.#clock = state.partOf(memory.clocks, worker);
    this.#random = state.random(worker);
    for (let i = 0; i < this.#order.length; i++) this.#order[i] = i;
    this.#clock[sgdClock.age] = 1;
    const { held, listed } = heldColumns(problem, worker);
    this.#held = memory.held[worker - partition.first].subarray(0, held.length);
    this.#held.set(held);
    this.#listed = listed;
    const rate = settings.step === 'adagrad' ? 0 : 1;
    for (const j of held) this.#lines[j * sgdStride + sgdSlot.rate] = rate;
    this.#step = { ...this.#stepFor(settings, loss), ...(bounds && { bounds }) };
  }

  /** Stores λ l1 f_j and λ l2 f_j of a block's columns, given their λ f_j. */
  penalise(block: number, strength: Float64Array, { l1, l2 }: Problem['penalty']): void {
    this.#forColumns(block, (at, j) => {
      this.#lines[at + sgdSlot.l1] = strength[j] * l1;
      this.#lines[at + sgdSlot.l2] = strength[j] * l2;
    });
  }

  /** Starts the block's columns at these weights. */
  startAt(block: number, weights: Float64Array): void {
    this.#forColumns(block, (at, j) => {
      this.#lines[at + sgdSlot.weight] = weights[j];
    });
  }

  /** Goes through the columns of a block that occur in these rows: their lines, and their numbers. */
  #forColumns(block: number, visit: (line: number, column: number) => void): void {
    const start = this.#columnBounds[block];
    for (let k = this.#listed[block]; k < this.#listed[block + 1]; k++) {
      visit(sgdStride * this.#held[k], this.#held[k] - start);
    }
  }

  /**
   * AdaGrad's sums as an epoch at the starting point would leave them, with the mean square of all
   * slopes, which are in `alpha`, for that of each row: no column is without a step size then. A
   * first step that knows of no gradient but its own would lead away from a good start.
   */
  rememberGradients(): void {
    const lines = this.#lines;
    let slopes = 0;
    for (let i = 0; i < this.alpha.length; i++) slopes += this.alpha[i] * this.alpha[i];
    const mean = slopes > 0 ? slopes / this.alpha.length : 1;
    let nonzeros = 0;
    this.#visit((_row, column, x) => {
      nonzeros++;
      lines[column * sgdStride + sgdSlot.squares] += mean * x * x;
    });
    for (const j of this.#held) {
      const at = j * sgdStride;
      const squares = lines[at + sgdSlot.squares];
      if (squares > 0) lines[at + sgdSlot.rate] = lines[at + sgdSlot.scale] / Math.sqrt(squares);
      // Nothing but stored zeros: no step would ever move it.
      else lines[at + sgdSlot.weight] = 0;
    }
    this.#clock[sgdClock.work] += 2 * nonzeros;
  }

  /** Non-zeros touched so far: each row is read, and written where ℓ' is not 0. */
  get work(): number {
    return this.#clock[sgdClock.work];
  }

  epoch(): void {
    const rows = this.#order.length;
    this.#random.shuffle(this.#order, rows);
    inChunks(0, rows, (begin, end) => {
      const state = [this.#rows, this.#lines, this.#clock, this.#step] as const;
      this.#kernels.sgdRows(this.#whole, this.#order, begin, end, ...state);
    });
    this.#span = rows > 0 ? this.#clock[sgdClock.time] : 1;
    this.#kernels.sgdSettle(this.#lines, this.#held, this.#clock);
  }

  /** target += share · the block's weights: their mean over the epoch, or what it ended with. */
  addTo(target: Float64Array, block: number, share: number): void {
    const slot = this.#average ? sgdSlot.sum : sgdSlot.weight;
    const factor = this.#average ? share / this.#span : share;
    this.#forColumns(block, (at, j) => {
      target[j] += factor * this.#lines[at + slot];
      this.#lines[at + sgdSlot.sum] = 0;
    });
  }

  #stepFor({ step, stepSize }: SgdSettings, loss: Loss): SgdStep {
    const rowShare = this.#rowShare;
    if (step === 'adagrad') {
      this.#scaleColumns(stepSize ?? adagradStep[loss.task]);
      return { adagrad: true, stepSize: 1, aging: 0, rowShare };
    }
    const stiffness = stiffnessOf(loss, this.#labelScale()) * this.#longestRow();
    const size = stepSize ?? (stiffness > 0 ? sqrtStep / stiffness : sqrtStep);
    const aging = 1 / Math.max(1, this.#order.length);
    return { adagrad: false, stepSize: size, aging, rowShare };
  }

  /** Root mean square of the labels; 1 if there is nothing but zeros. */
  #labelScale(): number {
    const { labels } = this.#rows;
    let squares = 0;
    for (let i = 0; i < labels.length; i++) squares += labels[i] * labels[i];
    return squares > 0 ? Math.sqrt(squares / labels.length) : 1;
  }

  /** η_j of every column that occurs in these rows. */
  #scaleColumns(stepSize: number): void {
    const lines = this.#lines;
    const counts = new Int32Array(lines.length / sgdStride);
    let nonzeros = 0;
    this.#visit((_row, column, x) => {
      lines[column * sgdStride + sgdSlot.scale] += x * x;
      counts[column]++;
      nonzeros++;
    });
    const perRow = nonzeros / Math.max(1, this.#order.length);
    const common = (stepSize * this.#labelScale()) / Math.sqrt(Math.max(1, perRow));
    for (const j of this.#held) {
      const at = j * sgdStride + sgdSlot.scale;
      lines[at] = lines[at] > 0 ? common / Math.sqrt(lines[at] / counts[j]) : 0;
    }
  }

  /** max c_i (n/W) ‖x_i‖² */
  #longestRow(): number {
    const squares = new Float64Array(this.#order.length);
    this.#visit((row, _column, x) => {
      squares[row] += x * x;
    });
    let longest = 0;
    const { rowWeights } = this.#rows;
    for (let i = 0; i < squares.length; i++) {
      longest = Math.max(longest, squares[i] * (rowWeights[i] * this.#rowShare));
    }
    return longest;
  }

  #visit(each: (row: number, column: number, x: number) => void): void {
    const { rows, blocks, offsets, indices, values } = this.#whole;
    for (let block = 0; block < blocks; block++) {
      for (let row = 0, from = block * (rows + 1); row < rows; row++, from++) {
        for (let k = offsets[from]; k < offsets[from + 1]; k++) {
          each(row, this.#columnBounds[block] + indices[k], values[k]);
        }
      }
    }
  }
}

/** L of LocalSgd. For a label 1 every ℓ'' there is shows between the scores 0 and 2. */
function stiffnessOf(loss: Loss, labelScale: number): number {
  const { parameter } = loss;
  const most = Math.max(-loss.conjugateLow(1, parameter), loss.conjugateHigh(1, parameter));
  const bounded = most / (4 * labelScale);
  if (!loss.smooth) return bounded;
  let steepest = 0;
  for (let u = 0; u <= 2; u += 0.125) {
    const slope = loss.derivative(u, 1, parameter);
    steepest = Math.max(steepest, loss.curvature(u, 1, parameter, slope));
  }
  return Math.min(steepest, bounded);
}
