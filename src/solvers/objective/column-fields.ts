import { blockOf } from '../../engine/block-layout.ts';
import type { Partition } from '../../engine/partition.ts';
import type { BlockFields, Ring } from '../../engine/ring.ts';

/** Arrays of columns, as what travels. All threads ask for the same in the same order. */
export class ColumnFields {
  readonly #ring: Ring;
  readonly #partition: Partition;
  readonly #changed = new Map<Float64Array, BlockFields>();
  readonly #read = new Map<Float64Array, BlockFields>();

  constructor(ring: Ring, partition: Partition) {
    this.#ring = ring;
    this.#partition = partition;
  }

  /** Arrays that visits change; they are known by the last. */
  of(...arrays: readonly Float64Array[]): BlockFields {
    const last = arrays[arrays.length - 1];
    const views = (block: number) => arrays.map((array) => blockOf(this.#partition, array, block));
    return found(this.#changed, last, () => this.#ring.fields(views));
  }

  /** An array that visits only read. */
  read(array: Float64Array): BlockFields {
    const views = (block: number) => [blockOf(this.#partition, array, block)];
    return found(this.#read, array, () => this.#ring.readFields(views));
  }
}

function found<Key, Value>(all: Map<Key, Value>, key: Key, make: () => Value): Value {
  const value = all.get(key) ?? make();
  all.set(key, value);
  return value;
}
