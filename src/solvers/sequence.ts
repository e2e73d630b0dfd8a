import type { Arena } from '../engine/arena.ts';
import type { StateArray } from '../engine/checkpoint/state.ts';
import { allocateGrid, type Grid } from '../engine/grid.ts';
import type { Partition } from '../engine/partition.ts';
import { log } from '../math/elementary.ts';
import type { Loss } from '../problem/losses/loss.ts';
import type { ProvedBound } from './objective/certificate.ts';
import { type Gap, Objective, relativeGap } from './objective/objective.ts';
import { type EntryName, entryOf, type NextPlan, type SolverPlan, solverCode } from './registry.ts';
import type { Method, SolverContext } from './solver.ts';
import { fillTransposed } from './vectors/column-cells.ts';

/** The arrays of a plan's solvers; those of each are known to its code alone. */
export interface MethodMemory {
  readonly method: unknown;
  readonly next?: MethodMemory;
  /** The data by rows, or by columns, where the next solver needs them so and this one does not. */
  readonly grid?: Grid;
}

export function allocateMethod(arena: Arena, partition: Partition, plan: SolverPlan): MethodMemory {
  const method = solverCode(plan).allocate(arena, partition, plan.settings);
  if (!plan.next) return { method };
  const next = allocateMethod(arena, partition, plan.next.plan);
  const { orientation } = entryOf(plan.next.plan);
  const grid = orientation !== entryOf(plan).orientation;
  return { method, next, ...(grid && { grid: allocateGrid(arena, partition, orientation) }) };
}

export function createMethod(
  context: SolverContext,
  memory: MethodMemory,
  plan: SolverPlan,
  loss: Loss,
): Method {
  const first = solverCode(plan).create(context, memory.method, plan.settings, loss);
  const { next } = plan;
  if (!next || !memory.next) return first;
  const { next: nextMemory, grid } = memory;
  const createNext = (at: SolverContext) =>
    createMethod(grid ? onGrid(at, grid) : at, nextMemory, next.plan, loss);
  const prepare = () => {
    if (grid) transpose(context, grid);
  };
  return new MethodSequence(context, plan.name, first, next, { create: createNext, prepare });
}

function onGrid(context: SolverContext, grid: Grid): SolverContext {
  const { kernels, team, ring } = context;
  const problem = { ...context.problem, grid };
  const objective = new Objective(problem, kernels, team, ring, context.objective.memory);
  return { ...context, objective, problem };
}

function transpose({ problem, team, kernels }: SolverContext, { cells }: Grid): void {
  for (let worker = team.first; worker < team.end; worker++) {
    fillTransposed(problem.grid, cells, worker, kernels);
  }
  team.barrier();
}

/** How the second method of a sequence comes to be; `prepare`: once, before it looks at the data. */
interface Successor {
  readonly create: (context: SolverContext) => Method;
  readonly prepare: () => void;
}

/**
 * A method, and another that takes its place where it is stuck, or has not met the tolerance after a number
 * of passes, unless the fall of its gap promises to meet it in as many passes again. Work and gaps
 * decide, never time, so the change comes at the same epoch on any machine.
 */
class MethodSequence implements Method {
  readonly #context: SolverContext;
  readonly #names: readonly [EntryName, EntryName];
  /** Passes that the first one has, and may be granted again. */
  readonly #budget: number;
  readonly #first: Method;
  #second: Method;
  readonly #successor: Successor;
  /**
   * Whether the second one is at work; the best P and D so far; passes at which the first one is
   * judged, and passes and relative gap of the point from which its progress is measured.
   */
  #scalars = {
    changed: false,
    primal: Number.MAX_VALUE,
    dual: -Number.MAX_VALUE,
    due: 0,
    markPasses: 0,
    markGap: Number.MAX_VALUE,
  };

  constructor(
    context: SolverContext,
    name: EntryName,
    first: Method,
    { plan, after = Number.MAX_VALUE }: NextPlan,
    successor: Successor,
  ) {
    this.#context = context;
    this.#names = [name, plan.name];
    this.#budget = after;
    this.#scalars.due = after;
    this.#first = first;
    this.#successor = successor;
    // For what it saves of its state: it finds its first point when it begins.
    this.#second = successor.create({ ...context, resumes: true });
  }

  get #active(): Method {
    return this.#scalars.changed ? this.#second : this.#first;
  }

  get solver(): string {
    return this.#names[this.#scalars.changed ? 1 : 0];
  }

  get weights(): Float64Array {
    return this.#active.weights;
  }

  get margins(): Float64Array {
    return this.#active.margins;
  }

  get dualPoint(): Float64Array | undefined {
    return this.#active.dualPoint;
  }

  get passes(): number {
    return this.#first.passes + (this.#scalars.changed ? this.#second.passes : 0);
  }

  get isStuck(): boolean {
    return this.#scalars.changed && this.#second.isStuck === true;
  }

  get slack(): number | undefined {
    return this.#active.slack;
  }

  get result(): Method['result'] {
    return this.#active.result;
  }

  get visits(): Int32Array | undefined {
    return this.#active.visits;
  }

  get rotations(): number | undefined {
    return this.#first.rotations;
  }

  epoch(): void {
    if (this.#isDue) this.#change();
    this.#active.epoch();
  }

  get #isDue(): boolean {
    const { changed, due } = this.#scalars;
    const { tolerance } = this.#context;
    const { passes } = this.#first;
    const gap = relativeGap(this.#scalars);
    if (changed || gap <= tolerance) return false;
    if (this.#first.isStuck) return true;
    if (passes < due) return false;
    const isNear = this.#passesLeft(gap) <= this.#budget;
    Object.assign(this.#scalars, { due: passes + this.#budget / 2 });
    this.#mark(gap);
    return !isNear;
  }

  /** Passes until the tolerance is met, if the gap goes on falling as since the mark. */
  #passesLeft(gap: number): number {
    const { markPasses, markGap } = this.#scalars;
    const fall = log(markGap / gap);
    const passes = this.#first.passes - markPasses;
    return fall > 0 ? (passes * log(gap / this.#context.tolerance)) / fall : Infinity;
  }

  #mark(gap: number): void {
    Object.assign(this.#scalars, {
      markPasses: this.#first.passes,
      markGap: Math.min(gap, Number.MAX_VALUE),
    });
  }

  #change(): void {
    const { weights, dualPoint, isStuck } = this.#first;
    // The point of one that is stuck is far from the optimum, and no better a start than none.
    const start = !isStuck && { start: { weights, ...(dualPoint && { alpha: dualPoint }) } };
    // Threads may still be reading what the first one has written.
    this.#context.team.barrier();
    this.#successor.prepare();
    this.#second = this.#successor.create({ ...this.#context, resumes: false, ...start });
    this.#scalars.changed = true;
  }

  evaluate(whole: boolean): Gap {
    const found = this.#active.evaluate(whole);
    this.#scalars.primal = Math.min(this.#scalars.primal, found.primal);
    this.#scalars.dual = Math.max(this.#scalars.dual, found.dual);
    const { markPasses, due } = this.#scalars;
    const isHalfWay = markPasses === 0 && this.#first.passes >= due / 2;
    if (isHalfWay) this.#mark(relativeGap(this.#scalars));
    return found;
  }

  certify(): ProvedBound {
    return this.#active.certify?.() ?? { dual: -Infinity, allowance: 0 };
  }

  save() {
    const { changed } = this.#scalars;
    const second = this.#second.save();
    return {
      passes: this.passes,
      ...this.#scalars,
      first: this.#first.save(),
      // What it does not know yet may be infinite, which no checkpoint has.
      second: changed ? second : finite(second),
    };
  }

  restore(saved: ReturnType<MethodSequence['save']>): void {
    const { passes: _, first, second, ...scalars } = saved;
    const { changed } = scalars;
    this.#scalars = scalars;
    this.#first.restore(first);
    if (!changed) return;
    this.#successor.prepare();
    this.#second = this.#successor.create({ ...this.#context, resumes: true });
    this.#second.restore(second);
  }

  /** Of the one at work: the other has nothing that is still needed. */
  arrays(): StateArray[] {
    return this.#active.arrays();
  }

  resume(): void {
    this.#active.resume();
  }
}

/** The same members, also of objects in it, with 0 for numbers that are not finite. */
function finite(saved: object): object {
  const entries = Object.entries(saved).map(([key, value]: [string, unknown]) => [
    key,
    finiteValue(value),
  ]);
  return Object.fromEntries(entries) as object;
}

function finiteValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : 0;
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isRecord ? finite(value) : value;
}
