import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import { clamp } from '../../math/scalars.ts';
import { type BlockState, reserve } from '../block-state.ts';
import {
  addCorrection,
  allocatePairs,
  movePairs,
  otherHalf,
  type PairSum,
  type Pairs,
} from './pairs.ts';

type Vector = Float64Array;

/** How far towards ±κ the g of a column that joins a set is at most, so that both its rooms are wide. */
const mostOfRoom = 0.9;

const homeArrays = [
  'duals',
  'step',
  'dualStep',
  'correction',
  'right',
  'widths',
  'offsets',
] as const;
const travelling = ['weights', 'image', 'scales', 'solution'] as const;

export type ColumnMemory = ReturnType<typeof allocateColumns>;

export function allocateColumns(
  arena: Arena,
  partition: Partition,
  { l1, bounded, grows }: Readonly<Record<'l1' | 'bounded' | 'grows', boolean>>,
) {
  const home = partition.columnOrder.length;
  return {
    ...reserve(arena, 'float64', home, homeArrays),
    ...reserve(arena, 'float64', partition.bufferLength, travelling),
    positive: allocatePairs(arena, l1 ? home : 0),
    negative: allocatePairs(arena, l1 ? home : 0),
    atLow: allocatePairs(arena, bounded ? home : 0),
    atHigh: allocatePairs(arena, bounded ? home : 0),
    /** Where a set of columns grows: 1 for those in it. */
    members: arena.uint8(grows ? home : 0),
  };
}

/**
 * The columns of one block. With κ and ρ the strengths of the L1 and the quadratic part:
 *
 *   0 = (XᵀCs)_j + ρ w + g − z⁻ + z⁺,   w = w⁺ − w⁻,   |g| ≤ κ,
 *   w⁺ (κ − g) = w⁻ (κ + g) = (w − low) z⁻ = (high − w) z⁺ = μ
 *
 * Where 0 is an end of the box g is fixed at ±κ.
 */
export class ColumnPart {
  readonly weights: Vector;
  /** −(XᵀCs)_j */
  readonly #image: Vector;
  readonly #l1: Vector;
  readonly #l2: Vector;
  readonly #box: { readonly low: Vector; readonly high: Vector } | undefined;
  /** D_j of the linear system, its right side, and its solution. */
  readonly #scales: Vector;
  readonly #right: Vector;
  readonly #solution: Vector;
  readonly #positive: Pairs;
  readonly #negative: Pairs;
  readonly #atLow: Pairs;
  readonly #atHigh: Pairs;
  /** g and the directions dw and dg; what a correction adds to dg. */
  readonly #duals: Vector;
  readonly #step: Vector;
  readonly #dualStep: Vector;
  readonly #correction: Vector;
  /** h = w⁺/(κ − g) + w⁻/(κ + g), and what a correction adds to dw in dg. */
  readonly #widths: Vector;
  readonly #offsets: Vector;
  readonly #members: Uint8Array | undefined;

  constructor(state: BlockState, block: number, memory: ColumnMemory) {
    const { l1, l2, box } = state.context.problem;
    const { positive, negative, atLow, atHigh, members, ...arrays } = memory;
    const part = state.columnsOf(block, { ...arrays, l1, l2 });
    this.weights = part.weights;
    this.#image = part.image;
    this.#scales = part.scales;
    this.#right = part.right;
    this.#solution = part.solution;
    this.#step = part.step;
    this.#l1 = part.l1;
    this.#l2 = part.l2;
    this.#duals = part.duals;
    this.#dualStep = part.dualStep;
    this.#correction = part.correction;
    this.#widths = part.widths;
    this.#offsets = part.offsets;
    const pairsOf = (pairs: Pairs) => (pairs.x.length > 0 ? state.columnsOf(block, pairs) : pairs);
    [this.#positive, this.#negative] = [positive, negative].map(pairsOf);
    [this.#atLow, this.#atHigh] = [atLow, atHigh].map(pairsOf);
    this.#box = box && state.columnsOf(block, { low: box.low, high: box.high });
    if (members.length > 0) this.#members = state.columnsOf(block, { members }).members;
  }

  get pairs(): PairSum[] {
    return [this.#positive, this.#negative, this.#atLow, this.#atHigh].map((pairs) => ({ pairs }));
  }

  /** Weights inside the box, of the size `spread`/`sizes_j`, and pairs with products μ. */
  start(mu: number, spread: number, sizes: Vector): void {
    const { weights } = this;
    const [l1, box] = [this.#l1, this.#box];
    for (let j = 0; j < weights.length; j++) {
      if (this.#members) this.#drop(j);
      if (this.#isOutside(j)) continue;
      const [low, high] = box ? [box.low[j], box.high[j]] : [-Infinity, Infinity];
      if (box && (low > -Infinity || high < Infinity)) {
        const far = spread / (sizes[j] > 0 ? sizes[j] : 1);
        if (low > -Infinity && high < Infinity) weights[j] = low + 0.5 * (high - low);
        else weights[j] = low > -Infinity ? low + far : high - far;
        this.#setBounds(j, low, high, mu);
      }
      if (l1[j] > 0 && low < 0 && high > 0) {
        const x = mu / l1[j] + Math.max(weights[j], 0);
        this.#positive.x[j] = x;
        this.#negative.x[j] = x - weights[j];
        this.#positive.z[j] = l1[j];
        this.#negative.z[j] = l1[j];
      } else this.#duals[j] = high <= 0 ? -l1[j] : l1[j];
    }
  }

  #setBounds(j: number, low: number, high: number, mu: number): void {
    // A column whose ends are both 0 has no room: it has no pairs, and stays.
    if (low === high) return;
    const w = this.weights[j];
    if (low > -Infinity) {
      this.#atLow.x[j] = w - low;
      this.#atLow.z[j] = mu / (w - low);
    }
    if (high < Infinity) {
      this.#atHigh.x[j] = high - w;
      this.#atHigh.z[j] = mu / (high - w);
    }
  }

  /** Whether a column is outside the set that grows: its weight is 0. */
  #isOutside(j: number): boolean {
    return this.#members !== undefined && this.#members[j] === 0;
  }

  /** Columns that have joined the set get pairs with products of about μ, and no weight; others lose theirs. */
  join(mu: number): void {
    const split = this.#positive.x;
    for (let j = 0; j < split.length; j++) {
      const l1 = this.#l1[j];
      if (this.#isOutside(j)) {
        if (split[j] > 0) this.#drop(j);
      } else if (l1 > 0 && split[j] === 0) {
        const g = clamp(this.#image[j], -mostOfRoom * l1, mostOfRoom * l1);
        this.#duals[j] = g;
        this.#positive.x[j] = mu / l1;
        this.#negative.x[j] = mu / l1;
        this.#positive.z[j] = l1 - g;
        this.#negative.z[j] = l1 + g;
      }
    }
  }

  /** Forgets the weight and the pairs that a column has had. */
  #drop(j: number): void {
    for (const array of [this.weights, this.#duals, this.#step, this.#dualStep]) array[j] = 0;
    if (!this.#isSplit(j)) return;
    for (const pairs of [this.#positive, this.#negative]) {
      for (const array of Object.values(pairs)) array[j] = 0;
    }
  }

  /** Whether a column can not move at all. */
  #isFixed(j: number): boolean {
    if (this.#isOutside(j)) return true;
    return this.#box !== undefined && this.#box.low[j] === this.#box.high[j];
  }

  #isSplit(j: number): boolean {
    return this.#positive.x.length > 0 && this.#positive.x[j] > 0;
  }

  /** D_j = ρ + 1/h + z⁻/(w − low) + z⁺/(high − w) */
  scale(): void {
    const [scales, l2, box] = [this.#scales, this.#l2, this.#box];
    for (let j = 0; j < scales.length; j++) {
      let sum = l2[j];
      if (this.#isSplit(j)) {
        this.#widths[j] =
          this.#positive.x[j] / this.#positive.z[j] + this.#negative.x[j] / this.#negative.z[j];
        sum += 1 / this.#widths[j];
      }
      if (box && this.#atLow.x[j] > 0) sum += this.#atLow.z[j] / this.#atLow.x[j];
      if (box && this.#atHigh.x[j] > 0) sum += this.#atHigh.z[j] / this.#atHigh.x[j];
      scales[j] = this.#isFixed(j) ? Infinity : sum;
    }
  }

  /** The right side: what stationarity lacks, or what the wanted changes of products do to it. */
  residual(affine: boolean): void {
    const { weights } = this;
    const [right, image, l2, box] = [this.#right, this.#image, this.#l2, this.#box];
    for (let j = 0; j < right.length; j++) {
      let value = affine ? image[j] - l2[j] * weights[j] - this.#duals[j] : 0;
      if (this.#isSplit(j)) {
        const [positive, negative] = [this.#positive, this.#negative];
        this.#offsets[j] = affine
          ? weights[j]
          : negative.change[j] / negative.z[j] - positive.change[j] / positive.z[j];
        value -= this.#offsets[j] / this.#widths[j];
      }
      if (!affine && box && this.#atLow.x[j] > 0) value += this.#atLow.change[j] / this.#atLow.x[j];
      if (!affine && box && this.#atHigh.x[j] > 0) {
        value -= this.#atHigh.change[j] / this.#atHigh.x[j];
      }
      right[j] = this.#isFixed(j) ? 0 : value;
    }
  }

  /** From the solution of the system to the direction, or to a correction of g and the pairs. */
  expand(affine: boolean): void {
    const dw = this.#solution;
    if (affine) this.#step.set(dw);
    const dg = affine ? this.#dualStep : this.#correction;
    for (let j = 0; j < dw.length; j++) {
      if (this.#isSplit(j)) {
        dg[j] = (dw[j] + this.#offsets[j]) / this.#widths[j];
        expandRoom(this.#positive, j, -dg[j], affine);
        expandRoom(this.#negative, j, dg[j], affine);
      }
      if (this.#box && this.#atLow.x[j] > 0) expandDistance(this.#atLow, j, dw[j], affine);
      if (this.#box && this.#atHigh.x[j] > 0) expandDistance(this.#atHigh, j, -dw[j], affine);
    }
  }

  addCorrection(factor: number): void {
    const step = this.#step;
    for (let j = 0; j < step.length; j++) {
      step[j] += factor * this.#solution[j];
      this.#dualStep[j] += factor * this.#correction[j];
    }
    for (const { pairs } of this.pairs) addCorrection(pairs, factor);
  }

  move(primal: number, dual: number): void {
    const { weights } = this;
    const [step, box, l1] = [this.#step, this.#box, this.#l1];
    for (const { pairs } of this.pairs) movePairs(pairs, primal, dual);
    for (let j = 0; j < weights.length; j++) {
      if (!this.#isSplit(j)) {
        weights[j] += primal * step[j];
        continue;
      }
      weights[j] = this.#positive.x[j] - this.#negative.x[j];
      if (box) weights[j] = clamp(weights[j], box.low[j], box.high[j]);
      // From the smaller room, which keeps its digits.
      const [toHigh, toLow] = [this.#positive.z[j], this.#negative.z[j]];
      this.#duals[j] = toHigh < toLow ? l1[j] - toHigh : toLow - l1[j];
    }
  }

  /**
   * target ← the weights, with those at 0, or at an end of the box, whose dual constraint has more
   * room than `share` of κ; with a share of 0 all that an L1 penalty pulls to 0 are 0.
   */
  settle(target: Vector, share: number): void {
    const { weights } = this;
    const [l1, box] = [this.#l1, this.#box];
    for (let j = 0; j < weights.length; j++) {
      target[j] = weights[j];
      const most = share * l1[j];
      const isZero = share === 0 || Math.min(this.#positive.z[j], this.#negative.z[j]) > most;
      if (this.#isSplit(j) && isZero) target[j] = 0;
      if (box && this.#isAtEnd(this.#atLow, j, share)) target[j] = box.low[j];
      if (box && this.#isAtEnd(this.#atHigh, j, share)) target[j] = box.high[j];
    }
  }

  /** Whether a weight is pushed against an end of its box by more than its distance holds it back. */
  #isAtEnd({ x, z }: Pairs, j: number, share: number): boolean {
    if (!(x[j] > 0)) return false;
    if (this.#l1[j] > 0) return z[j] > share * this.#l1[j];
    return this.#l2[j] > 0 && z[j] > (this.#l2[j] * x[j]) / share;
  }
}

/** Of a pair whose z is a room that a change of g takes from. */
function expandRoom(
  { x, z, dx, dz, ex, ez, change }: Pairs,
  j: number,
  dz0: number,
  affine: boolean,
) {
  (affine ? dz : ez)[j] = dz0;
  (affine ? dx : ex)[j] = otherHalf(x[j], z[j], dz0, change[j], affine);
}

/** Of a pair whose x is the distance of the weight to an end of its box. */
function expandDistance(
  { x, z, dx, dz, ex, ez, change }: Pairs,
  j: number,
  dx0: number,
  affine: boolean,
) {
  (affine ? dx : ex)[j] = dx0;
  (affine ? dz : ez)[j] = otherHalf(z[j], x[j], dx0, change[j], affine);
}
