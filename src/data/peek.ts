import { magic } from './binary/layout.ts';
import type { ByteChunks } from './read/byte-blocks.ts';

/** The first few bytes of a stream, and the whole stream. */
export async function peek(source: AsyncIterable<Uint8Array>) {
  const { head, chunks } = await peekUntil(source, ({ length }) => length >= magic.length);
  return { head: head.subarray(0, magic.length), chunks };
}

/** The same until there is enough, or all: `whole` says that the stream has no more. */
export async function peekUntil(
  source: AsyncIterable<Uint8Array>,
  isEnough: (head: Uint8Array) => boolean,
) {
  const iterator = source[Symbol.asyncIterator]();
  const taken: Uint8Array[] = [];
  let head = new Uint8Array(0);
  let length = 0;
  let whole = false;
  while (!whole) {
    const next = await iterator.next();
    whole = next.done === true;
    if (!next.done) {
      taken.push(next.value);
      length += next.value.length;
    }
    // Looking again only when there is twice as much keeps the effort in proportion.
    if (!whole && length < 2 * head.length) continue;
    head = Buffer.concat(taken);
    if (isEnough(head)) break;
  }
  return { head, whole, chunks: rejoin(taken, iterator) };
}

async function* rejoin(taken: Uint8Array[], rest: AsyncIterator<Uint8Array>): ByteChunks {
  yield* taken;
  yield* { [Symbol.asyncIterator]: () => rest };
}
