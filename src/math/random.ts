/**
 * Seeded pseudo-random numbers from 32-bit integer arithmetic only, so every platform draws the
 * same sequence. The generator is xoshiro128** (Blackman and Vigna, "Scrambled linear
 * pseudorandom number generators", 2021): period 2^128 − 1.
 */
import { log } from './elementary.ts';

/** A bijection of 32-bit integers that lets every input bit reach every output bit. */
export function scramble(x: number): number {
  let h = x;
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return h ^ (h >>> 16);
}

function rotateLeft(x: number, count: number): number {
  return (x << count) | (x >>> (32 - count));
}

export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  /** The generator's state: four 32-bit integers, not all zero. */
  constructor(a: number, b: number, c: number, d: number) {
    this.#a = a | 0;
    this.#b = b | 0;
    this.#c = c | 0;
    this.#d = d | 0;
    if ((this.#a | this.#b | this.#c | this.#d) === 0) this.#a = 1;
  }

  /** Writes the state to four words, from which load() continues. */
  store(words: Int32Array): void {
    words.set([this.#a, this.#b, this.#c, this.#d]);
  }

  load(words: Int32Array): void {
    [this.#a, this.#b, this.#c, this.#d] = words;
  }

  /** An integer in [0, 2^32). */
  nextUint32(): number {
    const result = Math.imul(rotateLeft(Math.imul(this.#b, 5), 7), 9);
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = rotateLeft(this.#d, 11);
    return result >>> 0;
  }

  /** A multiple of 2^−53 in [0, 1). */
  uniform(): number {
    const high = this.nextUint32() >>> 5;
    const low = this.nextUint32() >>> 6;
    return (high * 67108864 + low) / 9007199254740992;
  }

  /** An integer in [0, n), each equally likely; 1 ≤ n ≤ 2^31. */
  below(n: number): number {
    if (n <= 1) return 0;
    // The fewest leading bits that can hold n − 1; a larger number is drawn again.
    const shift = Math.clz32(n - 1);
    let drawn = this.nextUint32() >>> shift;
    while (drawn >= n) drawn = this.nextUint32() >>> shift;
    return drawn;
  }

  /** Standard normal: the polar method of Marsaglia, which needs no sine. */
  normal(): number {
    for (;;) {
      const x = 2 * this.uniform() - 1;
      const y = 2 * this.uniform() - 1;
      const square = x * x + y * y;
      if (square > 0 && square < 1) return x * Math.sqrt((-2 * log(square)) / square);
    }
  }

  /** Puts the first `count` elements into random order, in place (Fisher–Yates). */
  shuffle(items: Int32Array, count: number): void {
    for (let last = count - 1; last > 0; last -= 1) {
      const chosen = this.below(last + 1);
      const item = items[chosen];
      items[chosen] = items[last];
      items[last] = item;
    }
  }
}

/** One word of a starting state: `salt` makes the four words differ. */
function stateWord(salt: number, seed: number, id: number): number {
  let hash = scramble(salt);
  for (const part of [seed, Math.floor(seed / 4294967296), id, Math.floor(id / 4294967296)]) {
    hash = scramble((hash + 0x9e3779b9) ^ part);
  }
  return hash;
}

/** Generator number `id` of a seed, both in [0, 2^53). Their starting states are unrelated. */
export function stream(seed: number, id: number): Random {
  const word = (salt: number) => stateWord(salt, seed, id);
  return new Random(word(1), word(2), word(3), word(4));
}
