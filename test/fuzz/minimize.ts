import { bytesOfText, byteText, linesOf } from './mutate.ts';

/** Whether a smaller input fails in the same way. */
type StillFails = (bytes: Uint8Array) => boolean | Promise<boolean>;

const mostTries = 2000;
/** Of all that are tried. */
const mostBytes = 2 ** 23;

/** Leaves out runs of items, long ones first, as long as the rest fails. */
export async function without<Item>(
  items: readonly Item[],
  fails: (rest: readonly Item[]) => Promise<boolean>,
): Promise<readonly Item[]> {
  let left = items;
  for (let length = Math.ceil(left.length / 2); length >= 1; length = Math.floor(length / 2)) {
    for (let start = 0; start < left.length; ) {
      const rest = [...left.slice(0, start), ...left.slice(start + length)];
      if (await fails(rest)) left = rest;
      else start += length;
    }
  }
  return left;
}

/** A smaller input that fails in the same way: without lines, then without bytes. */
export async function minimize(bytes: Uint8Array, stillFails: StillFails): Promise<Uint8Array> {
  let [tries, tried] = [0, 0];
  const fails = async (text: string) => {
    if (tries >= mostTries || tried >= mostBytes) return false;
    tries += 1;
    tried += text.length;
    return stillFails(bytesOfText(text));
  };
  const lines = await without(linesOf(byteText(bytes)), (rest) => fails(rest.join('')));
  const letters = await without(lines.join('').split(''), (rest) => fails(rest.join('')));
  return bytesOfText(letters.join(''));
}
