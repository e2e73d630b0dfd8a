import type { Arena } from '../engine/arena.ts';
import { blockOf } from '../engine/block-layout.ts';
import type { Partition } from '../engine/partition.ts';
import { type Random, stream } from '../math/random.ts';
import type { SolverContext } from './solver.ts';

type Numbers = Float64Array | Int32Array | Uint8Array;
type Arrays = Readonly<Record<string, Numbers>>;

/** Four words of state for the random generator of every worker. */
const generatorWords = 4;

/** Where checkpoints find the workers' generators, whatever thread runs a worker. */
export function allocateGenerators(arena: Arena, { size }: Partition): Int32Array {
  return arena.int32(generatorWords * size);
}

/** A copy of a record with each array replaced by a view; same members in the same order. */
function views<Some extends Arrays>(arrays: Some, viewOf: (array: Numbers) => Numbers): Some {
  const result: Record<string, Numbers> = { ...arrays };
  for (const name of Object.keys(result)) result[name] = viewOf(result[name]);
  return result as Some;
}

/**
 * The state of a method by worker and block: views of its arrays, and the random numbers of the
 * workers that this thread runs.
 */
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

  /** All workers, or blocks, wherever they run or are at home. */
  get all(): readonly number[] {
    return Array.from({ length: this.context.problem.grid.size }, (_, k) => k);
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

  random(worker: number): Random {
    return this.#random.get(worker) as Random;
  }

  saveRandom(): void {
    for (const [worker, random] of this.#random) random.store(this.#wordsOf(worker));
  }

  restoreRandom(): void {
    for (const [worker, random] of this.#random) random.load(this.#wordsOf(worker));
  }

  #wordsOf(worker: number): Int32Array {
    const words = this.#generators as Int32Array;
    return words.subarray(generatorWords * worker, generatorWords * (worker + 1));
  }
}
