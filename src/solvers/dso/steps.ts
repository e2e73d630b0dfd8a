import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import { stream } from '../../math/random.ts';
import { sum } from '../../math/vectors.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { saddleStride, saddleSlot as slot } from '../kernels/kernels.ts';
import type { SolverContext, WarmStart } from '../solver.ts';
import { startingAlpha } from '../warm-start.ts';
import {
  addImage,
  allColumns,
  allocateLocalProblems,
  blockAmongAll,
  descend,
  everywhere,
  localProblem,
  partOfWorker,
} from '../whole.ts';
import type { DsoState } from './state.ts';

/** Rows whose mean square is this near to 1 count as rows of unit length: files round them. */
const unitRows = 1e-3;

/**
 * How far the appendix keeps α of logistic regression, whose labels have the size 1, from the ends
 * of its domain, where the conjugate is infinitely steep.
 */
const openEnd = 1e-14;

/**
 * Step sizes that did well on text: (η for w, η for α), by step rule and loss. AdaGrad forgets the
 * scale of the features; where rows are longer, as long a step of w moves the scores further.
 */
export function defaultSteps({ context, adagrad }: DsoState, loss: Loss): [number, number] {
  const { rows, totalWeight } = context.problem;
  // Gradients are of the size 1/m in w and 1/W in α/c.
  if (!adagrad) return [0.05 * rows, 0.05 * totalWeight];
  const meanSquare = meanRowSquare(context);
  const [weight, alpha] = loss.defaultSteps;
  const isUnit = !(meanSquare > 0) || Math.abs(meanSquare - 1) < unitRows;
  return [isUnit ? weight : weight / Math.sqrt(meanSquare), alpha];
}

/** The mean of ‖x_i‖². */
function meanRowSquare({ problem, objective, team }: SolverContext): number {
  const [squares] = team.reduce(1, (worker, sums) => {
    for (let block = 0; block < problem.grid.size; block++) {
      objective.cells.at(worker, block).through(({ offsets, values }, first, end) => {
        for (let k = offsets[first]; k < offsets[end]; k++) sums[0] += values[k] * values[k];
      });
    }
  });
  return squares / Math.max(1, problem.rows);
}

/**
 * A bound on |w_j| at the optimum. At a saddle point λ l2 ‖w‖² ≤ P(0) and λ l1 ‖w‖₁ ≤ P(0), which
 * gives the appendix's 1/√λ for the SVM and √(log 2/λ) for logistic regression.
 */
export function boxOf(atZero: number, l1: number, l2: number): number {
  const quadratic = l2 > 0 ? Math.sqrt(atZero / l2) : Infinity;
  return l1 > 0 ? Math.min(quadratic, atZero / l1) : quadratic;
}

/** Sets what the steps need of each row and column, and the first w and α. Returns the passes it took. */
export function initialize(state: DsoState, loss: Loss): number {
  const { context, memory, settings } = state;
  const atZero = context.objective.primalAtZero();
  for (const part of state.parts) {
    prepareRows(state, part, loss);
    prepareColumns(state, part, atZero);
  }
  context.team.barrier();
  state.travel.learnConstants();
  let passes = 0;
  if (context.start) passes = startFrom(state, context.start, loss);
  else if (memory.local && !context.resumes) {
    localDualDescent(state, memory.local);
    passes = 2 * settings.initialize;
    project(state);
  }
  state.measure();
  return passes;
}

type LocalDescentMemory = ReturnType<typeof allocateLocalDescent>;

/** Every worker has its own weights: 8 bytes per column and worker that the process runs. */
export function allocateLocalDescent(arena: Arena, partition: Partition) {
  const { first, end, rowOrder } = partition;
  return {
    ...allocateLocalProblems(arena, partition),
    spare: arena.float64(rowOrder.length),
    weights: arena.float64((end - first) * allColumns(partition)),
  };
}

/**
 * The appendix's starting point: every worker solves its own rows' problem by passes of dual
 * coordinate descent (Hsieh et al. 2008); α stays as it is there, and w is the mean of the workers'
 * weights. Only the quadratic part of the penalty counts, and columns without one stay at 0: it is
 * a start, not a result.
 */
function localDualDescent(state: DsoState, memory: LocalDescentMemory): void {
  const { problem, objective, ring, team } = state.context;
  const { weights } = state.memory;
  const { partition, size } = problem.grid;
  const [begin, end] = state.ownColumns;
  if (team.index === 0) memory.starts.set(partition.columnBounds);
  for (let j = begin; j < end; j++) {
    memory.inverse[j] = problem.l2[j] > 0 ? 1 / problem.l2[j] : 0;
  }
  everywhere(state.context, memory.inverse, memory.inverses);
  const local = new Map(state.parts.map((worker) => [worker, solveLocally(state, memory, worker)]));
  ring.rotate(objective.fields.of(weights), (worker, block, iteration) => {
    const target = objective.columnsOf(weights, block);
    const mine = blockAmongAll(partition, local.get(worker) as Float64Array, block);
    if (iteration === 0) target.fill(0);
    for (let j = 0; j < target.length; j++) target[j] += (1 / size) * mine[j];
  });
  team.barrier();
}

function solveLocally(state: DsoState, memory: LocalDescentMemory, worker: number): Float64Array {
  const { problem, objective, kernels, seed } = state.context;
  const { cells, partition, size } = problem.grid;
  const own = partOfWorker(partition, memory.weights, worker);
  const local = localProblem(state, memory, state.memory.alpha, worker);
  const { alpha, rowWeights, norms } = local.rows;
  const totalWeight = sum(rowWeights);
  const share = 1 / (totalWeight > 0 ? totalWeight : 1);
  const spare = objective.rowsOf(memory.spare, worker);
  for (let block = 0; block < size; block++) {
    const cell = cells[worker * size + block];
    const inverse = blockAmongAll(partition, memory.inverses, block);
    kernels.rowNorms(cell, norms.length, inverse, inverse, norms, spare);
    addImage(cell, alpha, share, inverse, blockAmongAll(partition, own, block));
  }
  const random = stream(seed, 1 + size + worker);
  descend(kernels, local, own, random, { passes: state.settings.initialize, share });
  return own;
}

/** 1/(W|Ω_i|), the domain of α_i, and α_i = 0 wherever that is no open end of the domain. */
function prepareRows(state: DsoState, worker: number, loss: Loss): void {
  const { totalWeight } = state.context.problem;
  const { rows, order, counts } = state.workers[worker];
  for (let i = 0; i < counts.length; i++) {
    const y = rows.labels[i];
    order[i] = i;
    rows.inverseCounts[i] = 1 / (totalWeight * Math.max(1, counts[i]));
    const inset = loss.openEnds ? openEnd * Math.max(1, y) : 0;
    rows.low[i] = -loss.conjugateHigh(y, loss.parameter) + inset;
    rows.high[i] = -loss.conjugateLow(y, loss.parameter) - inset;
    if (isOpenAtZero(loss, y)) {
      rows.alpha[i] = -(rows.rowWeights[i] * loss.derivative(0, y, loss.parameter));
    }
  }
  settleEmptyRows(state, worker, loss);
}

/** Whether α = 0 is an end of a row's domain where the conjugate is infinitely steep. */
function isOpenAtZero({ conjugateDerivative, parameter }: Loss, label: number): boolean {
  return Math.abs(conjugateDerivative(0, label, parameter)) > 100;
}

/** No step ever meets an empty row: it starts at the best α for u = 0 and stays there. */
function settleEmptyRows(state: DsoState, worker: number, loss: Loss): void {
  const { rows, counts } = state.workers[worker];
  const { alpha, labels, rowWeights } = rows;
  for (let i = 0; i < counts.length; i++) {
    if (counts[i] > 0) continue;
    alpha[i] = -(rowWeights[i] * loss.derivative(0, labels[i], loss.parameter));
  }
}

/** λ f_j/|Ω̄_j|, and the box of w_j: the problem's own and, with `boxes`, the appendix's. */
function prepareColumns(state: DsoState, block: number, atZero: number): void {
  const { problem } = state.context;
  const { l1, l2, strength, box } = problem;
  const lines = state.lines[block];
  const counts = state.columnCounts(block);
  const start = problem.grid.partition.columnStarts[block];
  for (let j = 0, at = 0; j < counts.length; j++, at += saddleStride) {
    const column = start + j;
    const farthest = state.settings.boxes ? boxOf(atZero, l1[column], l2[column]) : Infinity;
    lines[at + slot.share] = strength[column] / Math.max(1, counts[j]);
    lines[at + slot.low] = Math.max(-farthest, box?.low[column] ?? -Infinity);
    lines[at + slot.high] = Math.min(farthest, box?.high[column] ?? Infinity);
  }
}

function startFrom(state: DsoState, start: WarmStart, loss: Loss): number {
  const { context, memory, parts } = state;
  context.objective.copyColumns(start.weights, memory.weights);
  const passes = startingAlpha(context, start, loss, memory.margins, memory.alpha);
  for (const part of parts) settleEmptyRows(state, part, loss);
  project(state);
  return passes + (state.adagrad ? rememberGradients(state, loss) : 0);
}

/** Puts the starting point into the boxes and into the columns' lines. */
function project(state: DsoState): void {
  const { objective } = state.context;
  for (const part of state.parts) {
    const lines = state.lines[part];
    const weights = objective.columnsOf(state.memory.weights, part);
    for (let j = 0, at = 0; j < weights.length; j++, at += saddleStride) {
      lines[at] = Math.min(lines[at + slot.high], Math.max(lines[at + slot.low], weights[j]));
    }
    const { alpha, low, high, rowWeights } = state.workers[part].rows;
    for (let i = 0; i < alpha.length; i++) {
      const c = rowWeights[i];
      if (c > 0) alpha[i] = Math.min(c * high[i], Math.max(c * low[i], alpha[i]));
    }
  }
  state.collectWeights();
}

/**
 * AdaGrad's first step is as long as all it knows is the first gradient, however small that is,
 * and would lead away from a good start. So it sees the gradients of all non-zeros there first.
 */
function rememberGradients({ context, workers, lines, travel }: DsoState, loss: Loss): number {
  const { objective, problem, ring, team } = context;
  const { l1, l2 } = problem.penalty;
  const inverseTotalWeight = 1 / problem.totalWeight;
  travel.rotate(ring, (worker, block) => {
    const { alpha, labels, rowWeights, accumulators, inverseCounts } = workers[worker].rows;
    const columns = lines[block];
    objective.cells.at(worker, block).through(({ offsets, indices, values }, first, end) => {
      for (let i = first; i < end; i++) {
        const c = rowWeights[i];
        const plain = c > 0 ? alpha[i] / c : 0;
        const slope = loss.conjugateDerivative(-plain, labels[i], loss.parameter);
        for (let k = offsets[i]; k < offsets[i + 1]; k++) {
          const at = indices[k] * saddleStride;
          const x = values[k] * inverseTotalWeight;
          const w = columns[at];
          const down = (l1 * Math.sign(w) + l2 * w) * columns[at + slot.share] - alpha[i] * x;
          const up = slope * inverseCounts[i] - w * x;
          columns[at + slot.squares] += down * down;
          accumulators[i] += up * up;
        }
      }
    });
  });
  team.barrier();
  return 1;
}

/** SVRG: (w⁰, α⁰) ← (w, α) and its full gradient, spread over the non-zeros of each row and column. */
export function takeSnapshot(state: DsoState): void {
  const { context, memory, settings } = state;
  const { objective, kernels, problem } = context;
  const { l1, l2 } = problem.penalty;
  if (settings.average) state.measure();
  for (const part of state.parts) {
    const lines = state.lines[part];
    const image = objective.columnsOf(memory.image, part);
    const columnCounts = state.columnCounts(part);
    for (let j = 0, at = 0; j < image.length; j++, at += saddleStride) {
      const w = lines[at + slot.weight];
      const slope = l1 * Math.sign(w) + l2 * w;
      lines[at + slot.snapshot] = w;
      lines[at + slot.gradient] = slope * lines[at + slot.share] - image[j] / columnCounts[j];
    }
    const { rows, margins } = state.workers[part];
    const { alpha, labels, rowWeights, snapshotGradient } = rows;
    rows.snapshot.set(alpha);
    kernels.dualSlopes(alpha, labels, rowWeights, snapshotGradient);
    for (let i = 0; i < margins.length; i++) {
      snapshotGradient[i] = (snapshotGradient[i] - margins[i]) * rows.inverseCounts[i];
    }
  }
}

/** Theorem 1: running means of w^t and α^t. */
export function average({ context, memory }: DsoState, t: number): void {
  const { kernels, objective, team } = context;
  const { weights, weightSum, alpha, alphaSum } = memory;
  const [w, meanWeights] = [weights, weightSum].map((array) => objective.ownColumns(array));
  const [a, meanAlpha] = [alpha, alphaSum].map((array) => objective.ownRows(array));
  kernels.interpolate(meanWeights, meanWeights, w, 1 / t);
  kernels.interpolate(meanAlpha, meanAlpha, a, 1 / t);
  objective.keepInBox(weightSum);
  team.barrier();
}
