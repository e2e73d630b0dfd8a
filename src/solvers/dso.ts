import type { Arena } from '../engine/arena.ts';
import { type StateArray, stateArrays } from '../engine/checkpoint/state.ts';
import type { Partition } from '../engine/partition.ts';
import type { Cargo, Rotation } from '../engine/ring.ts';
import { type Random, stream } from '../math/random.ts';
import { blockOf } from '../parallel/lodging.ts';
import { rowsTogether } from '../parallel/segments.ts';
import type { Loss } from '../problem/losses/loss.ts';
import { allocateLocalDescent, localDualDescent } from './dso/local-descent.ts';
import { boxOf, defaultSteps } from './dso-scales.ts';
import type { Engine } from './engine.ts';
import { allocateGenerators, generatorOf } from './generators.ts';
import {
  type SaddleRows,
  type SaddleStep,
  saddleStride,
  saddleSlot as slot,
} from './kernels/kernels.ts';
import type { Method, Start, Workplace } from './method.ts';
import type { Gap } from './objective/objective.ts';
import { SegmentOrder } from './orders.ts';
import type { DsoSettings } from './solver.ts';
import { startingAlpha } from './warm-start.ts';

/**
 * Losses whose conjugate becomes infinitely steep at an end of its domain. The appendix keeps α of
 * logistic regression, whose labels have the size 1, this far from there.
 */
const openLosses = ['logistic', 'poisson'];
const openEnd = 1e-14;

export type DsoMemory = ReturnType<typeof allocateDso>;

export function allocateDso(arena: Arena, partition: Partition, settings: DsoSettings) {
  const rows = partition.rowOrder.length;
  const { travelling } = partition;
  return {
    alpha: arena.float64(rows),
    accumulators: arena.float64(rows),
    inverseCounts: arena.float64(rows),
    low: arena.float64(rows),
    high: arena.float64(rows),
    snapshot: arena.float64(rows),
    snapshotGradient: arena.float64(rows),
    margins: arena.float64(rows),
    order: arena.int32(rows),
    generators: allocateGenerators(arena, partition),
    weights: arena.float64(travelling),
    image: arena.float64(travelling),
    columns: arena.float64(saddleStride * travelling),
    alphaSum: arena.float64(settings.average ? rows : 0),
    weightSum: arena.float64(settings.average ? travelling : 0),
    local: settings.initialize > 0 ? allocateLocalDescent(arena, partition) : undefined,
  };
}

/**
 * Algorithm 1 of the paper. Each epoch t: η_t = η₀/√t; for every inner iteration r, all workers q
 * in parallel take stochastic saddle steps on Ω^(q, σ_r(q)) and pass their block of w on.
 *
 * Options of the appendix: AdaGrad instead of η₀/√t, variance reduction (SVRG) with a snapshot at
 * every epoch, twenty passes of local dual coordinate descent to start from, boxes on w and α; and
 * the averaged iterate of Theorem 1 in place of the last.
 */
export class Dso implements Method {
  passes = 0;
  readonly polish = 0;
  readonly mixes = false;
  readonly #place: Workplace;
  readonly #settings: DsoSettings;
  readonly #memory: DsoMemory;
  readonly #steps: readonly [number, number];
  readonly #random = new Map<number, Random>();
  readonly #orders = new Map<number, SegmentOrder>();
  readonly #rotation: Rotation;
  /** What travels: the lines of the block's columns. */
  readonly #cargo: Cargo;
  #t = 0;

  constructor(
    place: Workplace,
    memory: DsoMemory,
    settings: DsoSettings,
    loss: Loss,
    rotation: Rotation = place.ring,
  ) {
    this.#place = place;
    this.#rotation = rotation;
    this.#memory = memory;
    this.#settings = settings;
    this.#cargo = place.ring.cargo((block) => [this.#columns(block)]);
    const [weightStep, alphaStep] = defaultSteps(place, settings, loss);
    this.#steps = [settings.stepSize ?? weightStep, settings.dualStepSize ?? alphaStep];
    for (let worker = place.team.first; worker < place.team.end; worker++) {
      this.#random.set(worker, stream(place.seed, 1 + worker));
      const starts = place.problem.grid.segments[worker];
      this.#orders.set(worker, new SegmentOrder(starts, rowsTogether));
    }
    this.#prepare(loss);
    if (place.start) this.#startFrom(place.start, loss);
    else if (memory.local && !place.resumes) {
      localDualDescent(place, memory.local, settings.initialize, memory.alpha, memory.weights);
      this.passes += 2 * settings.initialize;
      this.#projectStart();
    }
    this.#measure(memory.weights, memory.alpha);
  }

  get dualPoint(): Float64Array {
    return this.#settings.average ? this.#memory.alphaSum : this.#memory.alpha;
  }

  /** The last iterate, or the average (Theorem 1). */
  get weights(): Float64Array {
    return this.#settings.average ? this.#memory.weightSum : this.#memory.weights;
  }

  get margins(): Float64Array {
    return this.#memory.margins;
  }

  epoch(): void {
    const { objective, kernels } = this.#place;
    this.#t += 1;
    if (this.#settings.svrg) this.#takeSnapshot();
    const step = this.#step();
    for (const [worker, random] of this.#random) {
      const order = this.#rowView(this.#memory.order, worker);
      this.#orders.get(worker)?.shuffle(order, rowsTogether, random);
    }
    this.#rotation.rotate(this.#cargo, (worker, block) => {
      const order = this.#rowView(this.#memory.order, worker);
      const [rows, columns] = [this.#rows(worker), this.#columns(block)];
      objective.cells.over(worker, block, order, 0, order.length, (cell, begin, end) => {
        kernels.saddleRows(cell, order, begin, end, rows, columns, step);
      });
    });
    this.#place.team.barrier();
    this.#collectWeights();
    this.passes += this.#settings.svrg ? 4 : 2;
    if (this.#settings.average) this.#accumulate();
  }

  #step(): SaddleStep {
    const { problem } = this.#place;
    const adagrad = this.#settings.step === 'adagrad';
    const decay = adagrad ? 1 : 1 / Math.sqrt(this.#t);
    return {
      weightStep: this.#steps[0] * decay,
      alphaStep: this.#steps[1] * decay,
      adagrad,
      svrg: this.#settings.svrg,
      l1: problem.penalty.l1,
      l2: problem.penalty.l2,
      inverseMass: 1 / problem.mass,
    };
  }

  /** (w⁰, α⁰) ← (w, α) and its full gradient, spread over the non-zeros of each row and column. */
  #takeSnapshot(): void {
    const { problem, objective, kernels, team } = this.#place;
    const { penalty } = problem;
    const memory = this.#memory;
    if (this.#settings.average) this.#measure(memory.weights, memory.alpha);
    for (let part = team.first; part < team.end; part++) {
      const lines = this.#columns(part);
      const image = objective.columnsOf(memory.image, part);
      const counts = this.#columnCounts(part);
      for (let j = 0; j < image.length; j++) {
        const at = j * saddleStride;
        const w = lines[at];
        const slope = penalty.l1 * Math.sign(w) + penalty.l2 * w;
        lines[at + slot.snapshot] = w;
        lines[at + slot.gradient] = slope * lines[at + slot.share] - image[j] / counts[j];
      }
      const rows = this.#rows(part);
      const margins = objective.rowsOf(memory.margins, part);
      rows.snapshot.set(rows.alpha);
      const { alpha, labels, importance, snapshotGradient } = rows;
      kernels.dualSlopes(alpha, labels, importance, 0, margins.length, snapshotGradient);
      for (let i = 0; i < margins.length; i++) {
        snapshotGradient[i] = (snapshotGradient[i] - margins[i]) * rows.inverseCounts[i];
      }
    }
  }

  /** Margins of w and image of α: what the gap and the next snapshot are made of. */
  #measure(weights: Float64Array, alpha: Float64Array): void {
    this.#place.objective.margins(weights, this.#memory.margins);
    this.#place.objective.image(alpha, this.#memory.image);
  }

  evaluate(): Gap {
    const { objective, problem } = this.#place;
    const { margins, image } = this.#memory;
    const alpha = this.dualPoint;
    this.#measure(this.weights, alpha);
    const primal = objective.primal(this.weights, margins);
    const dual = problem.intercept ? objective.dual(alpha) : objective.dualOfImage(alpha, image);
    return { primal, dual };
  }

  /** The image behind every bound was computed from scratch. */
  certify(bound: number): number {
    return bound;
  }

  save() {
    for (const [worker, random] of this.#random) {
      random.store(generatorOf(this.#memory.generators, worker));
    }
    return { t: this.#t, passes: this.passes };
  }

  restore(saved: ReturnType<Dso['save']>): void {
    this.#t = saved.t;
    this.passes = saved.passes;
  }

  arrays(): StateArray[] {
    const { alpha, accumulators, order, columns, alphaSum, weightSum, generators } = this.#memory;
    const adagrad = this.#settings.step === 'adagrad';
    const slots = adagrad ? [slot.weight, slot.squares] : [slot.weight];
    return stateArrays({
      row: { alpha, order, alphaSum, ...(adagrad && { accumulators }) },
      column: { columns: { lines: columns, stride: saddleStride, slots }, weightSum },
      worker: { generators },
    });
  }

  resume(): void {
    for (const [worker, random] of this.#random) {
      random.load(generatorOf(this.#memory.generators, worker));
    }
    this.#collectWeights();
    this.#measure(this.#memory.weights, this.#memory.alpha);
  }

  /** Running means of w^t and α^t. */
  #accumulate(): void {
    const { objective, team } = this.#place;
    const { weights, weightSum, alpha, alphaSum } = this.#memory;
    const share = 1 / this.#t;
    for (let part = team.first; part < team.end; part++) {
      moveTowards(objective.columnsOf(weightSum, part), objective.columnsOf(weights, part), share);
      moveTowards(objective.rowsOf(alphaSum, part), objective.rowsOf(alpha, part), share);
    }
    objective.keepInBox(weightSum);
    team.barrier();
  }

  #prepare(loss: Loss): void {
    const { problem, objective, team } = this.#place;
    const { rowCounts, columnStarts } = problem.grid.partition;
    const memory = this.#memory;
    const atZero = objective.primalAtZero();
    for (let part = team.first; part < team.end; part++) {
      const rows = this.#rows(part);
      const counts = this.#rowView(rowCounts, part);
      const order = this.#rowView(memory.order, part);
      for (let i = 0; i < counts.length; i++) {
        const y = rows.labels[i];
        order[i] = i;
        rows.inverseCounts[i] = 1 / (problem.mass * Math.max(1, counts[i]));
        const inset = openLosses.includes(loss.name) ? openEnd * Math.max(1, y) : 0;
        rows.low[i] = -loss.conjugateHigh(y, loss.parameter) + inset;
        rows.high[i] = -loss.conjugateLow(y, loss.parameter) - inset;
      }
      for (let i = 0; i < counts.length; i++) {
        // There is no α = 0 to begin with where that is an open end.
        if (!isOpenAtZero(loss, rows.labels[i])) continue;
        const slope = loss.derivative(0, rows.labels[i], loss.parameter);
        rows.alpha[i] = -(rows.importance[i] * slope);
      }
      this.#settleEmptyRows(part, loss);
      const lines = this.#columns(part);
      const columnCounts = this.#columnCounts(part);
      for (let j = 0; j < columnCounts.length; j++) {
        const place = columnStarts[part] + j;
        const at = j * saddleStride;
        lines[at + slot.share] = problem.strength[place] / Math.max(1, columnCounts[j]);
        const farthest = this.#settings.boxes
          ? boxOf(atZero, problem.l1[place], problem.l2[place])
          : Infinity;
        lines[at + slot.low] = Math.max(-farthest, problem.box?.low[place] ?? -Infinity);
        lines[at + slot.high] = Math.min(farthest, problem.box?.high[place] ?? Infinity);
      }
    }
    team.barrier();
  }

  /** No step ever meets an empty row: it starts where it belongs, at the best α for u = 0. */
  #settleEmptyRows(worker: number, loss: Loss): void {
    const counts = this.#rowView(this.#place.problem.grid.partition.rowCounts, worker);
    const { alpha, labels, importance } = this.#rows(worker);
    for (let i = 0; i < counts.length; i++) {
      if (counts[i] > 0) continue;
      alpha[i] = -(importance[i] * loss.derivative(0, labels[i], loss.parameter));
    }
  }

  #startFrom(start: Start, loss: Loss): void {
    const { objective, team } = this.#place;
    const { weights, alpha, margins } = this.#memory;
    for (let part = team.first; part < team.end; part++) {
      objective.columnsOf(weights, part).set(objective.columnsOf(start.weights, part));
    }
    this.passes += startingAlpha(this.#place, start, loss, margins, alpha);
    for (let part = team.first; part < team.end; part++) this.#settleEmptyRows(part, loss);
    this.#projectStart();
    if (this.#settings.step === 'adagrad') this.#rememberGradients(loss);
  }

  /**
   * AdaGrad's first step is as long as all it knows is the first gradient, however small that is,
   * and would lead away from a good start. So it gets to know the gradients of all non-zeros there.
   */
  #rememberGradients(loss: Loss): void {
    const { objective, problem, ring, team } = this.#place;
    const { l1, l2 } = problem.penalty;
    const inverseMass = 1 / problem.mass;
    ring.rotate(this.#cargo, (worker, block) => {
      const { alpha, labels, importance, accumulators, inverseCounts } = this.#rows(worker);
      const lines = this.#columns(block);
      objective.cells.through(worker, block, ({ offsets, indices, values }, first, end) => {
        for (let i = first; i < end; i++) {
          const c = importance[i];
          const plain = c > 0 ? alpha[i] / c : 0;
          const slope = loss.conjugateDerivative(-plain, labels[i], loss.parameter);
          for (let k = offsets[i]; k < offsets[i + 1]; k++) {
            const at = indices[k] * saddleStride;
            const x = values[k] * inverseMass;
            const w = lines[at];
            const down = (l1 * Math.sign(w) + l2 * w) * lines[at + slot.share] - alpha[i] * x;
            const up = slope * inverseCounts[i] - w * x;
            lines[at + slot.squares] += down * down;
            accumulators[i] += up * up;
          }
        }
      });
    });
    team.barrier();
    this.passes++;
  }

  /** Puts the starting point into the boxes and into the columns' lines. */
  #projectStart(): void {
    const { objective, team } = this.#place;
    for (let part = team.first; part < team.end; part++) {
      const lines = this.#columns(part);
      const weights = objective.columnsOf(this.#memory.weights, part);
      for (let j = 0; j < weights.length; j++) {
        const at = j * saddleStride;
        lines[at] = Math.min(lines[at + slot.high], Math.max(lines[at + slot.low], weights[j]));
      }
      const { alpha, low, high, importance } = this.#rows(part);
      for (let i = 0; i < alpha.length; i++) {
        const c = importance[i];
        if (c > 0) alpha[i] = Math.min(c * high[i], Math.max(c * low[i], alpha[i]));
      }
    }
    this.#collectWeights();
  }

  /** Copies w out of the lines. */
  #collectWeights(): void {
    const { objective, team } = this.#place;
    for (let block = team.first; block < team.end; block++) {
      const lines = this.#columns(block);
      const weights = objective.columnsOf(this.#memory.weights, block);
      for (let j = 0; j < weights.length; j++) weights[j] = lines[j * saddleStride];
    }
    team.barrier();
  }

  #rows(worker: number): SaddleRows {
    const { objective, problem } = this.#place;
    const memory = this.#memory;
    const view = (array: Float64Array) => objective.rowsOf(array, worker);
    return {
      labels: view(problem.labels),
      importance: view(problem.weights),
      alpha: view(memory.alpha),
      accumulators: view(memory.accumulators),
      inverseCounts: view(memory.inverseCounts),
      low: view(memory.low),
      high: view(memory.high),
      snapshot: view(memory.snapshot),
      snapshotGradient: view(memory.snapshotGradient),
    };
  }

  #columns(block: number): Float64Array {
    return blockOf(this.#place.problem.grid.partition, this.#memory.columns, block, saddleStride);
  }

  #rowView(array: Int32Array, worker: number): Int32Array {
    const { rowStarts } = this.#place.problem.grid.partition;
    return array.subarray(rowStarts[worker], rowStarts[worker + 1]);
  }

  #columnCounts(block: number): Int32Array {
    const { columnStarts, columnCounts } = this.#place.problem.grid.partition;
    return columnCounts.subarray(columnStarts[block], columnStarts[block + 1]);
  }
}

/** Whether α = 0 is an end of a row's domain where the conjugate is infinitely steep. */
function isOpenAtZero({ conjugateDerivative, parameter }: Loss, label: number): boolean {
  return Math.abs(conjugateDerivative(0, label, parameter)) > 100;
}

function moveTowards(mean: Float64Array, next: Float64Array, share: number): void {
  for (let k = 0; k < mean.length; k++) mean[k] += share * (next[k] - mean[k]);
}

export const dsoEngine: Engine<DsoSettings, DsoMemory> = {
  orientation: 'rows',
  refusal: ({ penalty }, { initialize }) =>
    initialize > 0 && !(penalty.l2 > 0)
      ? `cannot start from local dual coordinate descent with penalty '${penalty.name}': it needs a quadratic part (l2 or elastic-net)`
      : undefined,
  allocate: allocateDso,
  create: (place, memory, settings, loss) => new Dso(place, memory, settings, loss),
};
