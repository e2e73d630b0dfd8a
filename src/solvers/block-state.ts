import type { Arena } from '../engine/arena.ts';
import { blockOf } from '../engine/block-layout.ts';
import type { StateArray } from '../engine/checkpoint/state.ts';
import type { Partition } from '../engine/partition.ts';
import { type Random, stream } from '../math/random.ts';
import type { Gap, Point } from './objective/objective.ts';
import { checkOrder } from './orders.ts';
import type { Method, SolverContext, WarmStart } from './solver.ts';

type Numbers = Float64Array | Int32Array | Uint8Array;
type Arrays = Readonly<Record<string, Numbers>>;

/** Four words of state for the random generator of every worker. */
const generatorWords = 4;

/** Where checkpoints find the workers' generators, whatever thread runs a worker. */
export function allocateGenerators(arena: Arena, { size }: Partition): Int32Array {
  return arena.int32(generatorWords * size);
}

/** Arrays of one kind and length, by name. */
export function reserve<Kind extends 'float64' | 'int32' | 'uint8', Name extends string>(
  arena: Arena,
  kind: Kind,
  length: number,
  names: readonly Name[],
) {
  const arrays = names.map((name) => [name, arena[kind](length)]);
  return Object.fromEntries(arrays) as Record<Name, ReturnType<Arena[Kind]>>;
}

/** A copy of a record with each array replaced by a view; same members in the same order. */
function views<Some extends Arrays>(arrays: Some, viewOf: (array: Numbers) => Numbers): Some {
  const result: Record<string, Numbers> = { ...arrays };
  for (const name of Object.keys(result)) result[name] = viewOf(result[name]);
  return result as Some;
}

/** A method's state by worker and block: views of its arrays, and the workers' random numbers. */
export class BlockState {
  readonly context: SolverContext;
  /** The workers this thread runs; they are also the blocks it is home to. */
  readonly parts: readonly number[];
  readonly #generators: Int32Array | undefined;
  readonly #random = new Map<number, Random>();

  constructor(context: SolverContext, generators?: Int32Array) {
    const { first, end } = context.team;
    this.context = context;
    this.parts = Array.from({ length: end - first }, (_, k) => first + k);
    this.#generators = generators;
    if (!generators) return;
    for (const worker of this.parts) this.#random.set(worker, stream(context.seed, 1 + worker));
  }

  /** The columns that this thread is home to: from the first to the one before the second. */
  get ownColumns(): [begin: number, end: number] {
    const { problem, team } = this.context;
    const { columnStarts } = problem.grid.partition;
    return [columnStarts[team.first], columnStarts[team.end]];
  }

  isOwn(column: number): boolean {
    const [begin, end] = this.ownColumns;
    return column >= begin && column < end;
  }

  /** Something for every worker, or block, wherever it runs or is at home. */
  forAll<Item>(make: (index: number) => Item): Item[] {
    return Array.from({ length: this.context.problem.grid.size }, (_, index) => make(index));
  }

  rowsOf<Some extends Arrays>(worker: number, arrays: Some): Some {
    const { rowStarts } = this.context.problem.grid.partition;
    const [from, to] = [rowStarts[worker], rowStarts[worker + 1]];
    return views(arrays, (array) => array.subarray(from, to));
  }

  /** `stride`: numbers per column. */
  columnsOf<Some extends Arrays>(block: number, arrays: Some, stride = 1): Some {
    const { partition } = this.context.problem.grid;
    return views(arrays, (array) => blockOf(partition, array, block, stride));
  }

  /** The part of one worker, or block, in an array with the same number of items for all. */
  partOf<Some extends Numbers>(array: Some, index: number): Some {
    const length = array.length / this.context.problem.grid.size;
    return array.subarray(index * length, (index + 1) * length) as Some;
  }

  random(worker: number): Random {
    return this.#random.get(worker) as Random;
  }

  saveRandom(): void {
    for (const [worker, random] of this.#random) random.store(this.#wordsOf(worker));
  }

  /** What a checkpoint saves of the state; after that is back, resume() computes the rest. */
  arrays(): StateArray[] {
    return [];
  }

  resume(): void {
    for (const [worker, random] of this.#random) random.load(this.#wordsOf(worker));
  }

  /** Checks the orders of rows that came back with a checkpoint. */
  checkOrders(order: Int32Array): void {
    for (const worker of this.parts) checkOrder(this.rowsOf(worker, { order }).order, 'order');
  }

  #wordsOf(worker: number): Int32Array {
    return this.partOf(this.#generators as Int32Array, worker);
  }
}

/** What methods have in common; each overrides what it does differently. */
export abstract class BlockMethod<State extends BlockState = BlockState> implements Method {
  readonly weights: Float64Array;
  readonly margins: Float64Array;
  readonly dualPoint: Float64Array | undefined;
  passes = 0;
  readonly result: Method['result'] = 'best';
  /** Numbers that change from epoch to epoch and that checkpoints save, besides `passes`. */
  protected readonly scalars: object = {};
  protected readonly state: State;
  protected readonly context: SolverContext;

  constructor(state: State, { weights, margins }: Point, dualPoint?: Float64Array) {
    this.state = state;
    this.context = state.context;
    this.weights = weights;
    this.margins = margins;
    this.dualPoint = dualPoint;
  }

  abstract epoch(): void;

  evaluate(whole: boolean): Gap {
    if (!whole || !this.dualPoint) return { primal: Infinity, dual: -Infinity };
    return this.context.objective.gap(this.weights, this.margins, this.dualPoint);
  }

  /** Starts at weights that are given. */
  protected startAt({ weights }: WarmStart): void {
    this.context.objective.copyColumns(weights, this.weights);
    this.context.objective.margins(this.weights, this.margins);
    this.passes++;
  }

  /** The nonzeros that all workers have touched, in passes over the data. */
  protected passesOf(work: (worker: number) => number): number {
    const [touched] = this.context.team.reduce(1, (worker, values) => {
      values[0] = work(worker);
    });
    return touched / Math.max(1, this.context.problem.nonzeros);
  }

  save(): { readonly passes: number } {
    this.state.saveRandom();
    return { passes: this.passes, ...this.scalars };
  }

  restore({ passes, ...scalars }: { readonly passes: number }): void {
    this.passes = passes;
    Object.assign(this.scalars, scalars);
  }

  arrays(): StateArray[] {
    return this.state.arrays();
  }

  resume(): void {
    this.state.resume();
  }
}
