/**
 * Where blocks lie in the arrays of one process. Those it is home to have their own place; those
 * that come by on their way round the ring lodge behind them, each in the slot that its turn gives
 * it, so that everybody knows where a block will be without being told.
 */
export interface Lodging {
  /** Columns of each block. */
  readonly blockLengths: Int32Array;
  /** Where each block lies in an array that travels. */
  readonly blockAt: Int32Array;
  /** Length of an array that travels: home, and slots for guests. */
  readonly travelling: number;
  /** Slot of each block that is not at home here, −1 for those that are. */
  readonly blockSlot: Int32Array;
  readonly slots: number;
}

/** Blocks that may be on their way in and out beside those being worked on. */
const underWay = 2;

/** For a process that is home to the blocks first … end-1. */
export function lodge(columnBounds: Int32Array, first: number, end: number): Lodging {
  const size = columnBounds.length - 1;
  const home = end - first;
  const slots = home === 0 ? 0 : Math.min(home + underWay, size - home);
  const lengthOf = (block: number) => columnBounds[block + 1] - columnBounds[block];
  const blockLengths = Int32Array.from({ length: size }, (_, block) => lengthOf(block));
  const longest = blockLengths.reduce((most, length) => Math.max(most, length), 0);
  const columns = columnBounds[end] - columnBounds[first];
  const blockAt = new Int32Array(size);
  const blockSlot = new Int32Array(size).fill(-1);
  for (let block = 0; block < size; block++) {
    if (block >= first && block < end) {
      blockAt[block] = columnBounds[block] - columnBounds[first];
    } else if (slots > 0) {
      // Guests come in the order end, end + 1, …
      blockSlot[block] = ((block - end + size) % size) % slots;
      blockAt[block] = columns + blockSlot[block] * longest;
    }
  }
  return { blockLengths, blockAt, blockSlot, slots, travelling: columns + slots * longest };
}

/** Columns of a block in an array of numbers, or of lines of so many numbers. */
export function blockOf<Numbers extends Float64Array | Int32Array | Uint8Array>(
  { blockAt, blockLengths }: Pick<Lodging, 'blockAt' | 'blockLengths'>,
  array: Numbers,
  block: number,
  stride = 1,
): Numbers {
  const from = stride * blockAt[block];
  return array.subarray(from, from + stride * blockLengths[block]) as Numbers;
}
