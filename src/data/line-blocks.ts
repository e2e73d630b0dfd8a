import type { ByteChunks } from './read/byte-blocks.ts';

const newline = 10;

/** Buffers on shared memory that are used again once a block has been parsed. */
export class BlockPool {
  readonly #size: number;
  readonly #idle: Uint8Array[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  take(): Uint8Array {
    return this.#idle.pop() ?? new Uint8Array(new SharedArrayBuffer(this.#size));
  }

  /** Gives back the buffer behind a block; one that grew for a long line is let go. */
  release(block: Uint8Array): void {
    if (block.buffer.byteLength === this.#size) this.#idle.push(new Uint8Array(block.buffer));
  }
}

/** Where the last whole line of a block ends; 0 if there is none. */
export function lastLineEnd(block: Uint8Array): number {
  return block.lastIndexOf(newline) + 1;
}

/**
 * Cuts a stream of bytes into blocks of whole lines, or of what `lastEnd` finds the end of, each in
 * its own buffer of the pool; a buffer grows for a line that does not fit. Only the last block may
 * lack its line end.
 */
export async function* lineBlocks(
  chunks: ByteChunks,
  pool: BlockPool,
  lastEnd: (block: Uint8Array) => number = lastLineEnd,
): AsyncGenerator<Uint8Array> {
  let block = pool.take();
  let used = 0;
  for await (const chunk of chunks) {
    for (let offset = 0; offset < chunk.length; ) {
      const count = Math.min(chunk.length - offset, block.length - used);
      block.set(chunk.subarray(offset, offset + count), used);
      used += count;
      offset += count;
      if (used < block.length) continue;
      const end = lastEnd(block);
      const next = end === 0 ? larger(block) : remainder(block, end, pool);
      used -= end;
      if (end > 0) yield block.subarray(0, end);
      block = next;
    }
  }
  if (used > 0) yield block.subarray(0, used);
}

function larger(block: Uint8Array): Uint8Array {
  const grown = new Uint8Array(new SharedArrayBuffer(2 * block.length));
  grown.set(block);
  return grown;
}

function remainder(block: Uint8Array, start: number, pool: BlockPool): Uint8Array {
  const rest = block.subarray(start);
  let next = pool.take();
  // A grown block may leave more than a fresh buffer holds.
  while (next.length <= rest.length) next = larger(next);
  next.set(rest);
  return next;
}
