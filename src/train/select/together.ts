import { createArena } from '../../engine/arena.ts';
import { fairCores } from '../../engine/processes/process-group.ts';
import { shareTeam } from '../../engine/team.ts';
import { runTogether, threadPool } from '../../engine/thread-pool.ts';
import { panelWidth } from '../../solvers/kernels/dense.ts';
import { kernelModule } from '../../solvers/kernels/wasm.ts';
import {
  allocateNormal,
  type NormalMemory,
  type NormalShape,
} from '../../solvers/normal/memory.ts';
import { bytesOfNormal, planNormal } from '../../solvers/normal/plan.ts';
import type { NormalPayload, NormalProblem, NormalStage } from '../../solvers/normal/run.ts';
import { relativeGap } from '../../solvers/objective/objective.ts';
import { layOutProblem } from '../../solvers/objective/problem.ts';
import { noTimeUse } from '../../solvers/statistics.ts';
import { weightsWithout } from '../calibrate.ts';
import type { Fit } from '../fit.ts';
import { threadsOfRuns, totalOf } from '../layout.ts';
import type { StartingPoint } from '../warm-start.ts';
import type { LaidPath } from './lambdas.ts';

/** The name that models carry whose weights come from the normal equations. */
export const togetherName = 'normal-equations';

/** Rows held out in turn: the fold of each row, the number of folds and those to solve. */
export interface HeldOutFolds {
  readonly folds: Int32Array;
  readonly count: number;
  readonly mine: readonly number[];
}

/** A solution, and what its certificate says; a fit where that meets the tolerance. */
export interface TogetherFit {
  readonly weights: Float64Array;
  readonly outcome: Fit['outcome'];
  readonly met: boolean;
  /** The margins of the rows that are held out, in the order of the rows. */
  scores(): Float64Array;
  /** The dual point by row. */
  alpha(): Float64Array;
}

/** A model that is done, or where another solver begins because its certificate misses the tolerance. */
export type KnownFit = { readonly fit: Fit } | { readonly start: Required<StartingPoint> };

export function knownFit(found: TogetherFit): KnownFit {
  const { weights, outcome, met } = found;
  if (met) return { fit: { weights, outcome, solver: togetherName, bounds: [] } };
  return { start: { weights, alpha: found.alpha() } };
}

/** All solutions, a few at a time: `visit` gets each with its place among the λ and the fold held out. */
type Visit = (found: TogetherFit, place: number, fold: number) => void;

interface Together {
  readonly laid: LaidPath;
  readonly shape: NormalShape;
  readonly heldOut: HeldOutFolds | undefined;
  readonly problems: readonly NormalProblem[];
}

/**
 * Solves every λ, on all rows or without each of the folds, from XᵀCX: one pass over the data for all
 * solutions and two for the certificates of all that memory has room for. Returns whether it has: only
 * for the square loss on a tall table, and where no solver was asked for.
 */
export async function solveTogether(
  laid: LaidPath,
  heldOut: HeldOutFolds | undefined,
  visit: Visit,
): Promise<boolean> {
  const { layout, settings, options, group, shard } = laid.training;
  const { loss, penalty, solver } = settings;
  const isPlain = solver.name === 'auto' && group.size === 1 && options.earlyStop === undefined;
  if (!isPlain || layout.grid.disk) return false;
  const sets = heldOut ? heldOut.mine : [-1];
  const problems = sets.flatMap((fold) => laid.path.map((lambda) => ({ lambda, heldOut: fold })));
  const { partition } = layout.grid;
  const columns = partition.columnPosition.length;
  const shape = planNormal({
    loss,
    penalty,
    shape: { rows: shard.rows, columns, nonzeros: shard.nonzeros },
    partition,
    parts: heldOut?.count ?? 1,
    // Those of all processes: how many there are must not decide.
    problems: laid.path.length * (heldOut?.count ?? 1),
    threads: threadsOfRuns(laid.training, 1),
  });
  if (!shape) return false;
  options.onNotice?.(
    `square loss on ${shard.rows} rows × ${columns} columns: every model from one sum of XᵀX, certified in shared passes`,
  );
  await run({ laid, shape, heldOut, problems }, visit);
  return true;
}

async function run(together: Together, visit: Visit): Promise<void> {
  const { laid, shape, problems } = together;
  const { layout, settings, options, group } = laid.training;
  const { threads } = shape;
  const { memory, payload } = prepare(together);
  const all = { ...together, positions: positionsOf(together) };
  const pool = threadPool(threads * layout.workspaces.length);
  const controller = new AbortController();
  const signals = [
    controller.signal,
    layout.halt.signal,
    ...(options.signal ? [options.signal] : []),
  ];
  const isOver = () => signals.some(({ aborted }) => aborted);
  const limit =
    settings.time < 2e6 ? setTimeout(() => controller.abort(), 1e3 * settings.time) : undefined;
  const runStage = async (stage: NormalStage) => {
    const shared = shareTeam({ threads, workers: partitionSize(laid), cores: fairCores(group) });
    const interrupt = () => Atomics.store(shared.interrupt, 0, 1);
    if (isOver()) interrupt();
    for (const signal of signals) signal.addEventListener('abort', interrupt);
    await runTogether(pool, 'normal', threads, (index): NormalPayload => {
      return { ...payload, shared, index, stage };
    });
    for (const signal of signals) signal.removeEventListener('abort', interrupt);
  };
  try {
    await runStage({ name: 'solve' });
    const atOnce = shape.panels * panelWidth;
    const passes = 1 + 2 * Math.ceil(shape.problems / atOnce);
    for (let first = 0; first < problems.length && !isOver(); first += atOnce) {
      const end = Math.min(first + atOnce, problems.length);
      await runStage({ name: 'certify', first, end });
      if (isOver()) return;
      for (let at = first; at < end; at += 1) {
        const one = fitOf(all, memory, at, at - first, passes / shape.problems);
        visit(one, at % laid.path.length, problems[at].heldOut);
      }
    }
  } finally {
    clearTimeout(limit);
  }
}

function partitionSize({ training }: LaidPath): number {
  return training.layout.grid.size;
}

/** Memory of its own, and all that threads need but their stage. */
function prepare({ laid, shape, heldOut, problems }: Together) {
  const { layout, settings, options } = laid.training;
  const { loss, penalty, intercept } = settings;
  const { grid, targets, centre, rowWeights, totalWeight } = layout;
  const { partition } = grid;
  const arena = createArena(bytesOfNormal(shape, partition, penalty));
  const memory = allocateNormal(arena, partition, penalty, shape);
  const problem = layOutProblem(memory.problem, grid, targets.of(0), {
    penalty,
    lambda: 1,
    factors: options.penaltyFactors,
    intercept,
    centre,
    rowWeights,
    totalWeight,
  });
  memory.baseWeights.set(problem.rowWeights);
  memory.factors.set(problem.strength);
  const { rowOrder } = partition;
  if (heldOut)
    for (let k = 0; k < rowOrder.length; k += 1) memory.folds[k] = heldOut.folds[rowOrder[k]];
  const totalWeights = [totalWeight];
  for (const fold of heldOut?.mine ?? []) {
    totalWeights[fold + 1] = totalOf(weightsWithout(layout, heldOut!.folds, fold));
  }
  const { memory: wasmMemory } = arena;
  const wasm = wasmMemory && { module: kernelModule(loss.name, wasmMemory), memory: wasmMemory };
  const payload: Omit<NormalPayload, 'index' | 'shared' | 'stage'> = {
    problem,
    memory,
    parts: shape.parts,
    totalWeights,
    problems,
    loss: loss.name,
    ...(wasm && { wasm }),
  };
  return { memory, payload };
}

/** The positions of the rows of each fold, in the order of the rows. */
function positionsOf({ laid, heldOut }: Together): Int32Array[] {
  const { rowOrder } = laid.training.layout.grid.partition;
  const positions = new Int32Array(rowOrder.length);
  for (let k = 0; k < positions.length; k += 1) positions[rowOrder[k]] = k;
  return Array.from({ length: heldOut?.count ?? 0 }, (_none, fold) =>
    positions.filter((_, row) => heldOut?.folds[row] === fold),
  );
}

/** Problem number `at`, whose margins are those of a slot of its group. */
function fitOf(
  { laid, problems, positions }: Together & { readonly positions: readonly Int32Array[] },
  memory: NormalMemory,
  at: number,
  slot: number,
  passes: number,
): TogetherFit {
  const { layout, settings } = laid.training;
  const { columnOrder, rowOrder } = layout.grid.partition;
  const { centre } = layout;
  const weights = new Float64Array(columnOrder.length);
  const solution = memory.solutions.subarray(at * weights.length);
  for (let k = 0; k < weights.length; k += 1) weights[columnOrder[k]] = solution[k];
  if (centre !== 0) weights[weights.length - 1] += centre;
  const [primal, dual] = memory.results.subarray(3 * at);
  const gap = { primal, dual };
  const relative = relativeGap(gap);
  const met = relative <= settings.tolerance;
  const rows = rowOrder.length;
  const byRow = (array: Float64Array) => {
    const found = new Float64Array(rows);
    for (let k = 0; k < rows; k += 1) found[rowOrder[k]] = array[slot * rows + k];
    return found;
  };
  const fold = problems[at].heldOut;
  return {
    weights,
    met,
    outcome: {
      ...gap,
      epochs: 1,
      passes,
      relativeGap: relative,
      stopped: met ? 'converged' : 'precision',
      seconds: 0,
      effort: noTimeUse,
    },
    scores: () => {
      const margins = memory.margins.subarray(slot * rows);
      return Float64Array.from(positions[fold], (k) => margins[k] + centre);
    },
    alpha: () => byRow(memory.alpha),
  };
}
