import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  loadArrays,
  readCheckpointFile,
  writeCheckpointFile,
} from '../../../src/checkpoint/file.ts';
import { addCheckpoint, newestCheckpoint, prepareFolder } from '../../../src/checkpoint/folder.ts';
import type { Header } from '../../../src/checkpoint/header.ts';
import { type StateArray, stateArrays } from '../../../src/checkpoint/state.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const description = (epoch: number): Omit<Header, 'arrays'> => ({
  program: '1.2.3',
  identity: {
    data: { rows: 3, columns: 5, nonzeros: 7, hash: 'abc' },
    options: { lambda: 0.1, loss: 'hinge', holdout: null },
  },
  workers: [0, 2],
  epoch,
  seconds: 1.5,
  tolerance: 1e-3,
  test: null,
  saved: {
    standing: { dual: -Infinity, primal: 0.1 + 0.2, zero: -0, open: Infinity, none: NaN },
    method: { inverses: [1 / 3, 5e-324, -1.7976931348623157e308] },
  },
});

/** Lines of 4 of which slots 0 and 2 are state, over more lines than are copied at a time. */
function arraysOf(fill: (k: number) => number): StateArray[] {
  const numbers = (length: number) => Float64Array.from({ length }, (_, k) => fill(k));
  const shared = new Float64Array(new SharedArrayBuffer(8 * 100)).map((_, k) => fill(k));
  return stateArrays({
    row: { alpha: numbers(1000), skip: Uint8Array.from({ length: 999 }, (_, k) => fill(k)) },
    column: { shared, lines: { lines: numbers(4 * 9000), stride: 4, slots: [0, 2] } },
    worker: { generators: Int32Array.from({ length: 8 }, (_, k) => fill(k)), none: numbers(0) },
  });
}

const numberOf = (k: number) => (k % 7 === 0 ? -0 : (k * 37) % 101);

describe('a file', () => {
  test('gives back every number, −0 and infinities among them', () => {
    const path = join(temporaryFolder(), 'x');
    writeCheckpointFile(path, description(7), arraysOf(numberOf));
    const found = readCheckpointFile(path);
    const { arrays, ...rest } = found.header;
    expect(rest).toEqual(description(7));
    expect(arrays.map(({ name }) => name)).toEqual([
      'alpha',
      'skip',
      'shared',
      'lines',
      'generators',
    ]);
    const target = arraysOf(() => 1);
    loadArrays(found, target);
    const wanted = arraysOf(numberOf);
    for (const [k, { name, values }] of target.entries()) {
      const other = wanted[k].values;
      if ('lines' in values && 'lines' in other) {
        const kept = Float64Array.from(other.lines, (value, at) => (at % 2 === 0 ? value : 1));
        expect(values.lines).toEqual(kept);
      } else expect(values, name).toEqual(other);
    }
  });

  test('is refused by a run that has other arrays', () => {
    const path = join(temporaryFolder(), 'x');
    writeCheckpointFile(path, description(7), arraysOf(numberOf));
    const found = readCheckpointFile(path);
    expect(() => loadArrays(found, arraysOf(numberOf).slice(1))).toThrow('holds other arrays');
  });

  test('cut off anywhere is found out', () => {
    const path = join(temporaryFolder(), 'x');
    const bytes = writeCheckpointFile(path, description(7), arraysOf(numberOf));
    const whole = readFileSync(path);
    expect(whole).toHaveLength(bytes);
    const header = whole.indexOf('---\n') + 4;
    const places = [0, 1, 15, 16, 20, 40, header - 5, header, header + 1, bytes - 33, bytes - 1];
    for (const length of places) {
      writeFileSync(path, whole);
      truncateSync(path, length);
      expect(() => readCheckpointFile(path), `${length} of ${bytes}`).toThrow(
        /damaged|cut off|begin/,
      );
    }
    truncateSync(path, bytes - 32);
    expect(() => readCheckpointFile(path)).toThrow(`it has ${bytes - 32} bytes of ${bytes}`);
    writeFileSync(path, Buffer.concat([whole, Buffer.alloc(3)]));
    expect(() => readCheckpointFile(path)).toThrow('damaged');
  });

  test('with one bit flipped is found out, whatever byte it is in', () => {
    const path = join(temporaryFolder(), 'x');
    const arrays = stateArrays({ row: { alpha: Float64Array.from({ length: 50 }, numberOf) } });
    const bytes = writeCheckpointFile(path, description(7), arrays);
    const whole = readFileSync(path);
    for (let at = 0; at < bytes; at++) {
      const changed = Buffer.from(whole);
      changed[at] ^= 1 << (at % 8);
      writeFileSync(path, changed);
      expect(() => readCheckpointFile(path), `byte ${at}`).toThrow(/damaged|cut off|version/);
    }
  });

  test('of another version of the format is refused by that name', async () => {
    const path = join(temporaryFolder(), 'x');
    writeCheckpointFile(path, description(7), []);
    const { createHash } = await import('node:crypto');
    const text = readFileSync(path).subarray(0, -32).toString().replace('point 1', 'point 2');
    const digest = createHash('sha256').update(text).digest();
    writeFileSync(path, Buffer.concat([Buffer.from(text), digest]));
    expect(() => readCheckpointFile(path)).toThrow('version 2 of the format; this program reads');
  });
});

describe('a folder', () => {
  const fill = (folder: string, epochs: readonly number[]) => {
    for (const epoch of epochs) addCheckpoint(folder, description(epoch), arraysOf(numberOf));
  };

  test('the newest is used, by number and not by name', () => {
    const folder = temporaryFolder();
    fill(folder, [9, 10, 100]);
    expect(newestCheckpoint(folder, () => {})?.header.epoch).toBe(100);
  });

  test('a damaged one is told of, and the one before used', () => {
    const folder = temporaryFolder();
    fill(folder, [9, 10]);
    const [, newest] = readdirSync(folder).sort();
    truncateSync(join(folder, newest), 500);
    const complaints: string[] = [];
    const found = newestCheckpoint(folder, (message) => complaints.push(message));
    expect(found?.header.epoch).toBe(9);
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toContain('epoch-0000000010.checkpoint: cut off in its header');
  });

  test('one that opens but cannot be read is told of, and the one before used', () => {
    const folder = temporaryFolder();
    fill(folder, [9]);
    mkdirSync(join(folder, 'epoch-0000000010.checkpoint'));
    const complaints: string[] = [];
    const found = newestCheckpoint(folder, (message) => complaints.push(message));
    expect(found?.header.epoch).toBe(9);
    expect(complaints).toEqual([
      expect.stringContaining('epoch-0000000010.checkpoint: cannot be read: EISDIR'),
    ]);
  });

  test('with nothing whole: an error that says what is wrong with each', () => {
    const folder = temporaryFolder();
    fill(folder, [9, 10]);
    for (const name of readdirSync(folder)) truncateSync(join(folder, name), 3000);
    expect(() => newestCheckpoint(folder, () => {})).toThrow(
      /no whole checkpoint in .*\n.*0010.checkpoint: cut off: .*\n.*0009.checkpoint: cut off: /,
    );
  });

  test('without any, or not there: undefined', () => {
    const folder = temporaryFolder();
    expect(newestCheckpoint(folder, () => {})).toBeUndefined();
    expect(newestCheckpoint(join(folder, 'nowhere'), () => {})).toBeUndefined();
  });

  test('what a killed process left half-written is cleared away, nothing else', () => {
    const folder = temporaryFolder();
    fill(folder, [9]);
    writeFileSync(join(folder, '.epoch-0000000010.checkpoint.partial'), 'half');
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    prepareFolder(folder);
    expect(readdirSync(folder).sort()).toEqual(['epoch-0000000009.checkpoint', 'notes.txt']);
  });

  test('that is a file is refused in words', () => {
    const path = join(temporaryFolder(), 'file');
    writeFileSync(path, '');
    expect(() => prepareFolder(path)).toThrow(
      `checkpoints cannot go to ${path}: it is not a folder`,
    );
  });
});
