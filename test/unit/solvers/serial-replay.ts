/**
 * Algorithm 1 of the paper once more, as one serial program: inner iteration by inner iteration,
 * workers by rank. Shares with the solver the partition, the random row orders and the loss; every
 * update is written out here.
 */
import type { Dataset } from '../../../src/data/dataset.ts';
import { stream } from '../../../src/math/random.ts';
import type { Loss } from '../../../src/problem/losses/loss.ts';
import type { Problem } from '../../../src/solvers/objective/problem.ts';
import type { DsoSettings } from '../../../src/solvers/registry.ts';

/** One x_ij: its column by position. */
interface Entry {
  readonly column: number;
  readonly value: number;
}

const sign = (w: number) => (w > 0 ? 1 : w < 0 ? -1 : 0);
const clip = (x: number, low: number, high: number) => Math.min(Math.max(x, low), high);
const upTo = (count: number) => Array.from({ length: count }, (_, k) => k);

export class SerialReplay {
  readonly w: Float64Array;
  readonly alpha: Float64Array;
  readonly #problem: Problem;
  readonly #loss: Loss;
  readonly #settings: DsoSettings;
  readonly #p: number;
  /** entries[row position][block], in the order of the data. */
  readonly #entries: Entry[][][];
  readonly #orders: Int32Array[];
  readonly #shuffles: ReturnType<typeof stream>[];
  readonly #squaresW: Float64Array;
  readonly #squaresAlpha: Float64Array;
  readonly #boxes: Float64Array;
  #t = 0;

  constructor(problem: Problem, dataset: Dataset, loss: Loss, settings: DsoSettings, seed: number) {
    this.#problem = problem;
    this.#loss = loss;
    this.#settings = settings;
    this.#p = problem.grid.size;
    this.w = new Float64Array(problem.columns);
    this.alpha = new Float64Array(problem.rows);
    this.#squaresW = new Float64Array(problem.columns);
    this.#squaresAlpha = new Float64Array(problem.rows);
    this.#entries = this.#readEntries(dataset);
    this.#orders = upTo(this.#p).map((q) => Int32Array.from(this.#rowsOf(q)));
    this.#shuffles = upTo(this.#p).map((q) => stream(seed, 1 + q));
    const atZero = this.#lossAtZero();
    this.#boxes = Float64Array.from(upTo(problem.columns), (j) => {
      const quadratic = problem.l2[j] > 0 ? Math.sqrt(atZero / problem.l2[j]) : Infinity;
      return problem.l1[j] > 0 ? Math.min(quadratic, atZero / problem.l1[j]) : quadratic;
    });
    if (loss.name === 'logistic') {
      for (let i = 0; i < problem.rows; i++) this.alpha[i] = 0.5 * problem.labels[i];
    }
    if (settings.initialize > 0) this.#initialize(seed);
  }

  #rowsOf(q: number): number[] {
    const { rowStarts } = this.#problem.grid.partition;
    return upTo(rowStarts[q + 1] - rowStarts[q]).map((k) => rowStarts[q] + k);
  }

  /** The worker that holds block b in inner iteration r (both from 0). */
  #holder(b: number, r: number): number {
    return (((b - r) % this.#p) + this.#p) % this.#p;
  }

  #readEntries(dataset: Dataset): Entry[][][] {
    const { rowOrder, columnPosition, columnBlock } = this.#problem.grid.partition;
    const { rowOffsets, indices, values } = dataset.parts[0];
    return Array.from(rowOrder, (row) => {
      const blocks: Entry[][] = upTo(this.#p).map(() => []);
      for (let k = rowOffsets[row]; k < rowOffsets[row + 1]; k++) {
        const j = indices[k];
        blocks[columnBlock[j]].push({ column: columnPosition[j], value: values[k] });
      }
      if (this.#problem.intercept) {
        const j = dataset.columns;
        blocks[columnBlock[j]].push({ column: columnPosition[j], value: 1 });
      }
      return blocks;
    });
  }

  #lossAtZero(): number {
    const { labels, rows } = this.#problem;
    const { value, parameter } = this.#loss;
    const sums = upTo(this.#p).map((q) =>
      this.#rowsOf(q).reduce((sum, i) => sum + value(0, labels[i], parameter), 0),
    );
    return sums.slice(1).reduce((sum, part) => sum + part, sums[0]) / rows;
  }

  #domain(i: number): [number, number] {
    const y = this.#problem.labels[i];
    const { conjugateLow, conjugateHigh, parameter, name } = this.#loss;
    const inset = name === 'logistic' ? 1e-14 : 0;
    return [-conjugateHigh(y, parameter) + inset, -conjugateLow(y, parameter) - inset];
  }

  /** One epoch: every (i, j) of Ω once. */
  epoch(): void {
    this.#t += 1;
    const snapshot = this.#settings.svrg ? this.#snapshot() : undefined;
    this.#orders.forEach((order, q) => {
      // The solver numbers a worker's rows from 0; positions are as good for a shuffle.
      this.#shuffles[q].shuffle(order, order.length);
    });
    for (let r = 1; r <= this.#p; r++) {
      for (let q = 1; q <= this.#p; q++) {
        const block = (q + r - 2) % this.#p;
        for (const i of this.#orders[q - 1]) {
          for (const entry of this.#entries[i][block]) this.#update(i, entry, snapshot);
        }
      }
    }
  }

  /** Equation saddle_grad, both sides from the values before it. */
  #update(i: number, { column: j, value }: Entry, snapshot: Snapshot | undefined): void {
    const { rows, labels, strength, penalty, grid } = this.#problem;
    const { rowCounts, columnCounts } = grid.partition;
    const slopeOf = (a: number) =>
      this.#loss.conjugateDerivative(-a, labels[i], this.#loss.parameter);
    const w = this.w[j];
    const a = this.alpha[i];
    const x = value * (1 / rows);
    const perColumn = strength[j] / columnCounts[j];
    const perRow = 1 / (rows * rowCounts[i]);
    let gradientW = (penalty.l1 * sign(w) + penalty.l2 * w) * perColumn - a * x;
    let gradientAlpha = slopeOf(a) * perRow - w * x;
    if (snapshot) {
      const w0 = snapshot.w[j];
      const a0 = snapshot.alpha[i];
      const bend = penalty.l1 * (sign(w) - sign(w0)) + penalty.l2 * (w - w0);
      gradientW = bend * perColumn - (a - a0) * x + snapshot.gradientW[j];
      gradientAlpha =
        (slopeOf(a) - slopeOf(a0)) * perRow - (w - w0) * x + snapshot.gradientAlpha[i];
    }
    const { stepSize = 0, dualStepSize = 0 } = this.#settings;
    const adagrad = this.#settings.step === 'adagrad';
    const decay = adagrad ? 1 : 1 / Math.sqrt(this.#t);
    let moveW = stepSize * decay * gradientW;
    let moveAlpha = dualStepSize * decay * gradientAlpha;
    if (adagrad) {
      this.#squaresW[j] += gradientW * gradientW;
      this.#squaresAlpha[i] += gradientAlpha * gradientAlpha;
      moveW = this.#squaresW[j] > 0 ? moveW / Math.sqrt(this.#squaresW[j]) : 0;
      moveAlpha = this.#squaresAlpha[i] > 0 ? moveAlpha / Math.sqrt(this.#squaresAlpha[i]) : 0;
    }
    const [low, high] = this.#domain(i);
    this.w[j] = clip(w - moveW, -this.#boxes[j], this.#boxes[j]);
    this.alpha[i] = clip(a + moveAlpha, low, high);
  }

  /** The full gradient at (w, α), divided evenly among the non-zeros of a row or column. */
  #snapshot(): Snapshot {
    const { rows, columns, labels, strength, penalty, grid } = this.#problem;
    const { rowCounts, columnCounts, columnStarts } = grid.partition;
    const gradientAlpha = new Float64Array(rows);
    for (let q = 0; q < this.#p; q++) {
      for (const i of this.#rowsOf(q)) {
        let margin = 0;
        for (let r = 0; r < this.#p; r++) {
          for (const { column, value } of this.#entries[i][(q + r) % this.#p]) {
            margin += this.w[column] * value;
          }
        }
        const slope = this.#loss.conjugateDerivative(
          -this.alpha[i],
          labels[i],
          this.#loss.parameter,
        );
        gradientAlpha[i] = (slope - margin) * (1 / (rows * rowCounts[i]));
      }
    }
    const gradientW = new Float64Array(columns);
    for (let b = 0; b < this.#p; b++) {
      for (let r = 0; r < this.#p; r++) {
        for (const i of this.#rowsOf(this.#holder(b, r))) {
          for (const { column, value } of this.#entries[i][b]) {
            gradientW[column] += this.alpha[i] * value;
          }
        }
      }
      for (let j = columnStarts[b]; j < columnStarts[b + 1]; j++) {
        const v = gradientW[j] * (1 / rows);
        const slope = penalty.l1 * sign(this.w[j]) + penalty.l2 * this.w[j];
        gradientW[j] = slope * (strength[j] / columnCounts[j]) - v / columnCounts[j];
      }
    }
    return { w: this.w.slice(), alpha: this.alpha.slice(), gradientW, gradientAlpha };
  }

  /** Every worker's own dual coordinate descent; then the mean of their weights. */
  #initialize(seed: number): void {
    const local = upTo(this.#p).map((q) => this.#solveLocally(q, seed));
    const { columnStarts } = this.#problem.grid.partition;
    for (let b = 0; b < this.#p; b++) {
      for (let j = columnStarts[b]; j < columnStarts[b + 1]; j++) {
        let mean = 0;
        for (let r = 0; r < this.#p; r++) mean += (1 / this.#p) * local[this.#holder(b, r)][j];
        this.w[j] = clip(mean, -this.#boxes[j], this.#boxes[j]);
      }
    }
    for (let i = 0; i < this.alpha.length; i++) {
      const [low, high] = this.#domain(i);
      this.alpha[i] = clip(this.alpha[i], low, high);
    }
  }

  #solveLocally(q: number, seed: number): Float64Array {
    const { columns, labels, l2 } = this.#problem;
    const inverse = l2.map((curvature) => (curvature > 0 ? 1 / curvature : 0));
    const weights = new Float64Array(columns);
    const order = Int32Array.from(this.#rowsOf(q));
    const share = 1 / order.length;
    const add = (i: number, delta: number) => {
      for (const { column: j, value } of this.#entries[i].flat()) {
        weights[j] += delta * value * inverse[j];
      }
    };
    for (const i of this.#rowsOf(q)) if (this.alpha[i] !== 0) add(i, this.alpha[i] * share);
    const random = stream(seed, 1 + this.#p + q);
    for (let pass = 0; pass < this.#settings.initialize; pass++) {
      random.shuffle(order, order.length);
      for (const i of order) {
        let margin = 0;
        let norm = 0;
        for (const { column: j, value } of this.#entries[i].flat()) {
          margin += weights[j] * value;
          norm += value * value * inverse[j];
        }
        const { dualStep, parameter } = this.#loss;
        const next = dualStep(this.alpha[i], margin, norm * share, labels[i], parameter);
        const delta = next - this.alpha[i];
        this.alpha[i] = next;
        if (delta !== 0) add(i, delta * share);
      }
    }
    return weights;
  }
}

interface Snapshot {
  readonly w: Float64Array;
  readonly alpha: Float64Array;
  readonly gradientW: Float64Array;
  readonly gradientAlpha: Float64Array;
}
