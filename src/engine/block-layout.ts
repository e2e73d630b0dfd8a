/** The workers of each rank: firsts[r] … firsts[r+1]-1. */
export function workersOfRanks(workers: number, ranks: number): Int32Array {
  return Int32Array.from({ length: ranks + 1 }, (_, rank) => Math.floor((rank * workers) / ranks));
}

/** The workers of one process: from the first to the one before the second. */
export function workersOfRank(
  { rank, size }: { readonly rank: number; readonly size: number },
  workers: number,
): [first: number, end: number] {
  const [first, end] = workersOfRanks(workers, size).subarray(rank);
  return [first, end];
}

/** Blocks that may be arriving and leaving besides those being worked on. */
const inTransit = 2;

/**
 * The slots of visiting blocks in a process that is home to the blocks first … end-1. Visitors come
 * in the order end, end + 1, … and take the slots in turn, so every process knows where a block
 * will be without a message.
 */
export class VisitSlots {
  readonly count: number;
  readonly #blocks: number;
  readonly #home: number;
  readonly #end: number;

  constructor(blocks: number, first: number, end: number) {
    this.#blocks = blocks;
    this.#home = end - first;
    this.#end = end;
    this.count = this.#home === 0 ? 0 : Math.min(this.#home + inTransit, blocks - this.#home);
  }

  of(block: number): number {
    return ((block - this.#end + this.#blocks) % this.#blocks) % this.count;
  }

  /**
   * The departure that must be complete before arrival `index`, both counted from the start of the
   * run: of the same block, if it is at home here, otherwise of the one that had its slot before.
   */
  freeAfter(index: number): number {
    const home = this.#home;
    const visitors = this.#blocks - home;
    const turn = index % this.#blocks;
    if (turn >= visitors) return index - visitors;
    if (turn >= this.count) return index - this.count + home;
    const last = turn + this.count * Math.floor((visitors - 1 - turn) / this.count);
    return index - turn - this.#blocks + last + home;
  }
}

/** Where blocks are in the arrays of a process: home blocks first, then slots of visiting ones. */
export type BlockLayout = Readonly<ReturnType<typeof layOutBlocks>>;

/** For a process that is home to the blocks first … end-1. */
export function layOutBlocks(columnBounds: Int32Array, first: number, end: number) {
  const size = columnBounds.length - 1;
  const slots = new VisitSlots(size, first, end);
  const blockLengths = Int32Array.from(
    { length: size },
    (_, block) => columnBounds[block + 1] - columnBounds[block],
  );
  const longest = blockLengths.reduce((most, length) => Math.max(most, length), 0);
  const columns = columnBounds[end] - columnBounds[first];
  /** Where each block begins in an array of `bufferLength`. */
  const blockOffsets = new Int32Array(size);
  for (let block = 0; block < size; block++) {
    if (block >= first && block < end) {
      blockOffsets[block] = columnBounds[block] - columnBounds[first];
    } else if (slots.count > 0) {
      blockOffsets[block] = columns + slots.of(block) * longest;
    }
  }
  /** Length of an array that holds the home blocks and the visiting ones. */
  const bufferLength = columns + slots.count * longest;
  return { blockLengths, blockOffsets, slots: slots.count, bufferLength };
}

/** Columns of a block in an array of numbers, or of lines of `stride` numbers. */
export function blockOf<Numbers extends Float64Array | Int32Array | Uint8Array>(
  { blockOffsets, blockLengths }: Pick<BlockLayout, 'blockOffsets' | 'blockLengths'>,
  array: Numbers,
  block: number,
  stride = 1,
): Numbers {
  const from = stride * blockOffsets[block];
  return array.subarray(from, from + stride * blockLengths[block]) as Numbers;
}
