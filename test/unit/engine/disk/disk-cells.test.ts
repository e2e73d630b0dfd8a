import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { DiskWindow, windowBuffer } from '../../../../src/engine/disk/disk-cells.ts';
import { stream } from '../../../../src/math/random.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const content = new Uint8Array(100_000).map(
  (_, position) => (position * 31 + (position >> 8)) % 251,
);

function contentFile(): number {
  const path = join(temporaryFolder(), 'pieces');
  writeFileSync(path, content);
  const file = openSync(path, 'r');
  onTestFinished(() => closeSync(file));
  return file;
}

/** Pieces of several lengths, side by side in the file. */
const starts = Array.from({ length: 60 }, (_, piece) => piece * 1500 + (piece % 7));

function reader(size: number) {
  const memory = new Uint8Array(new SharedArrayBuffer(size));
  const window = new DiskWindow<{ at: number; bytes: number }>(memory, contentFile());
  let reads = 0;
  const get = (piece: number): Uint8Array => {
    const bytes = starts[piece + 1] - starts[piece];
    const found = window.find(piece);
    if (!found) reads++;
    const { at } =
      found ?? window.read(piece, starts[piece], bytes, (position) => ({ at: position, bytes }));
    return memory.subarray(at, at + bytes);
  };
  return { get, reads: () => reads };
}

describe('a window', () => {
  test('always shows the piece that was requested', () => {
    const { get, reads } = reader(10_000);
    const random = stream(5, 1);
    for (let turn = 0; turn < 3000; turn++) {
      // A few pieces again and again, as a segment's blocks are.
      const piece = (Math.floor(turn / 40) + random.below(4)) % 59;
      const expected = content.subarray(starts[piece], starts[piece + 1]);
      expect(Buffer.compare(get(piece), expected)).toBe(0);
    }
    expect(reads()).toBeLessThan(400);
  });

  test('keeps as many of the newest as there is room for', () => {
    const { get, reads } = reader(5 * windowBuffer(1507));
    for (const piece of [0, 1, 2, 3, 0, 1, 2, 3]) get(piece);
    expect(reads()).toBe(4);
    for (const piece of [4, 5, 6, 7, 8]) get(piece);
    expect(reads()).toBe(9);
    for (const piece of [5, 6, 7, 8]) get(piece);
    expect(reads()).toBe(9);
    get(0);
    expect(reads()).toBe(10);
  });

  test('refuses a piece that is larger than itself', () => {
    expect(() => reader(1024).get(0)).toThrow('a piece of 1536 bytes in a window of 1024');
  });

  test('says when the file has become shorter', () => {
    const window = new DiskWindow(new Uint8Array(4096), contentFile());
    expect(() => window.read(1, content.length - 10, 100, () => 0)).toThrow('shorter');
  });
});
