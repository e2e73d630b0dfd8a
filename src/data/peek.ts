import { magic } from './binary/layout.ts';
import type { ByteChunks } from './decompress.ts';

/** The first few bytes of a stream, and the whole stream. */
export async function peek(source: AsyncIterable<Uint8Array>) {
  const iterator = source[Symbol.asyncIterator]();
  const taken: Uint8Array[] = [];
  let head = new Uint8Array(0);
  while (head.length < magic.length) {
    const next = await iterator.next();
    if (next.done) break;
    taken.push(next.value);
    head = Buffer.concat(taken).subarray(0, magic.length);
  }
  return { head, chunks: rejoin(taken, iterator) };
}

async function* rejoin(taken: Uint8Array[], rest: AsyncIterator<Uint8Array>): ByteChunks {
  yield* taken;
  yield* { [Symbol.asyncIterator]: () => rest };
}
