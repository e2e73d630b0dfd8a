const first = 0xcc9e2d51;
const second = 0x1b873593;

/** The 32-bit MurmurHash3 of bytes, from 0 to 2^32 - 1. */
export function murmur3(bytes: Uint8Array, seed: number): number {
  const { length } = bytes;
  const whole = length & ~3;
  let hash = seed | 0;
  let position = 0;
  for (; position < whole; position += 4) {
    const word =
      bytes[position] |
      (bytes[position + 1] << 8) |
      (bytes[position + 2] << 16) |
      (bytes[position + 3] << 24);
    hash ^= scramble(word);
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  let rest = 0;
  for (let shift = 0; position < length; position += 1, shift += 8)
    rest |= bytes[position] << shift;
  hash ^= scramble(rest) ^ length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function scramble(word: number): number {
  const product = Math.imul(word, first);
  return Math.imul((product << 15) | (product >>> 17), second);
}

const encoder = new TextEncoder();

/** The hash of a text in UTF-8. */
export function hashName(name: string, seed = 0): number {
  return murmur3(encoder.encode(name), seed);
}

/** The column of a feature among 2^bits columns: the low bits of its hash, for up to 31 bits. */
export function hashedColumn(name: string, bits: number): number {
  return hashName(name) % 2 ** bits;
}
