import { describe, expect, test } from 'vitest';
import { hashedColumn, hashName, murmur3 } from '../../../src/math/murmur.ts';

describe('MurmurHash3, 32 bits', () => {
  // Values that the reference implementation gives.
  test.each([
    ['', 0, 0],
    ['', 1, 0x514e28b7],
    ['', 0xffffffff, 0x81f16f39],
    ['hello', 0, 0x248bfa47],
    ['hello, world', 0, 0x149bbb7f],
    ['The quick brown fox jumps over the lazy dog', 0, 0x2e4ff723],
    ['aaaa', 0x9747b28c, 0x5a97808a],
    ['aaa', 0x9747b28c, 0x283e0130],
    ['aa', 0x9747b28c, 0x5d211726],
    ['a', 0x9747b28c, 0x7fa09ea6],
    ['ππππππππ', 0x9747b28c, 0xd58063c1],
  ])('%j with seed %d', (text, seed, hash) => {
    expect(hashName(text, seed)).toBe(hash);
  });

  test('bytes with the high bit', () => {
    expect(murmur3(Uint8Array.of(0xff, 0xff, 0xff, 0xff), 0)).toBe(0x76293b50);
    expect(murmur3(Uint8Array.of(0x21, 0x43, 0x65, 0x87), 0x5082edee)).toBe(0x2362f9de);
  });

  test('columns are the low bits', () => {
    expect(hashedColumn('hello', 8)).toBe(0x47);
    expect(hashedColumn('hello', 30)).toBe(0x248bfa47);
  });
});
