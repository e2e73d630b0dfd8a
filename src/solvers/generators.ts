import type { Arena } from '../engine/arena.ts';
import type { Partition } from '../engine/partition.ts';

/** Four words of state for the random generator of every worker. */
const words = 4;

/** Where the workers' generators are kept for a checkpoint, whatever thread plays a worker. */
export function allocateGenerators(arena: Arena, { size }: Partition): Int32Array {
  return arena.int32(words * size);
}

export function generatorOf(generators: Int32Array, worker: number): Int32Array {
  return generators.subarray(words * worker, words * (worker + 1));
}
