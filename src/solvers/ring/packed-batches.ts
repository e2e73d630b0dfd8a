import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import type { BlockFields } from '../../engine/ring.ts';
import type { SolverContext } from '../solver.ts';

/** A block of column mode, as far as it is at work: its batch, and the changes of the one before. */
export interface Batch {
  /** The batch is units[range[0]] … units[range[1]-1]. */
  readonly units: Int32Array;
  readonly range: Int32Array;
  readonly gradients: Float64Array;
  readonly hessians: Float64Array;
  /** Changes: count[0] of them, unit by unit. */
  readonly count: Int32Array;
  readonly changed: Int32Array;
  readonly deltas: Float64Array;
}

export type PackedBatchMemory = ReturnType<typeof allocatePackedBatches>;

/** Nothing where no block ever leaves. */
export function allocatePackedBatches(arena: Arena, { slots, bufferLength, size }: Partition) {
  const length = slots > 0 ? bufferLength : 0;
  return {
    counts: arena.int32(slots > 0 ? 2 * size : 0),
    integers: arena.int32(2 * length),
    numbers: arena.float64(3 * length),
  };
}

/**
 * What of a block of column mode goes from one process to the next: a batch is a small part of the
 * block, and only it is sent, packed together when the block leaves and laid out again where it
 * arrives.
 */
export class PackedBatches {
  readonly #context: SolverContext;
  readonly #memory: PackedBatchMemory;
  readonly #longest: number;
  readonly #travel: boolean;
  readonly fields: BlockFields;

  /** `rotations`: batches per epoch, by which the length of a batch is bounded. */
  constructor(context: SolverContext, memory: PackedBatchMemory, rotations: number) {
    this.#context = context;
    this.#memory = memory;
    this.#travel = context.team.link.exchangesBlocks;
    const { blockLengths } = context.problem.grid.partition;
    const longest = blockLengths.reduce((most, length) => Math.max(most, length), 0);
    this.#longest = Math.min(longest, Math.ceil(longest / rotations) + 1);
    this.fields = context.ring.fields((block) => (this.#travel ? this.#views(block) : []));
  }

  /** Counts; units and changed units; gradients, hessians and deltas. */
  #views(block: number): [Int32Array, Int32Array, Float64Array] {
    const { counts, integers, numbers } = this.#memory;
    const { blockOffsets, blockLengths } = this.#context.problem.grid.partition;
    const at = blockOffsets[block];
    const length = Math.min(this.#longest, blockLengths[block]);
    return [
      counts.subarray(2 * block, 2 * block + 2),
      integers.subarray(2 * at, 2 * at + 2 * length),
      numbers.subarray(3 * at, 3 * at + 3 * length),
    ];
  }

  #isHome(block: number): boolean {
    const { first, end } = this.#context.team.shared;
    return block >= first && block < end;
  }

  /** Before the visit of a worker: unpacks the block if it comes from another process. */
  arrive(worker: number, block: number, begun: boolean, batch: Batch): void {
    const { shared } = this.#context.team;
    if (!this.#travel || worker !== shared.end - 1 || !begun) return;
    const [counts, integers, numbers] = this.#views(block);
    const length = integers.length / 2;
    const [units, changes] = counts;
    if (!this.#isHome(block)) {
      batch.units.set(integers.subarray(0, units));
      batch.range[0] = 0;
      batch.range[1] = units;
      batch.count[0] = changes;
      batch.changed.set(integers.subarray(length, length + changes));
      batch.deltas.set(numbers.subarray(2 * length, 2 * length + changes));
    }
    for (let k = 0; k < units; k++) {
      batch.gradients[integers[k]] = numbers[k];
      batch.hessians[integers[k]] = numbers[length + k];
    }
  }

  /** After the visit of a worker: packs the block if it goes to another process. */
  leave(worker: number, block: number, batch: Batch): void {
    if (!this.#travel || worker !== this.#context.team.shared.first) return;
    const [counts, integers, numbers] = this.#views(block);
    const length = integers.length / 2;
    const units = batch.units.subarray(batch.range[0], batch.range[1]);
    const changes = batch.count[0];
    counts[0] = units.length;
    counts[1] = changes;
    integers.set(units);
    integers.set(batch.changed.subarray(0, changes), length);
    numbers.set(batch.deltas.subarray(0, changes), 2 * length);
    for (let k = 0; k < units.length; k++) {
      numbers[k] = batch.gradients[units[k]];
      numbers[length + k] = batch.hessians[units[k]];
    }
  }
}
