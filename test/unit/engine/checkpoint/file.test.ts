import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type Description,
  readCheckpointFile,
  writeCheckpointFile,
} from '../../../../src/engine/checkpoint/file.ts';
import {
  addCheckpoint,
  clearPartial,
  makeFolder,
} from '../../../../src/engine/checkpoint/folder.ts';
import { loadArrays } from '../../../../src/engine/checkpoint/resume.ts';
import {
  type Layout,
  type StateArray,
  stateArrays,
} from '../../../../src/engine/checkpoint/state.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const description = (epoch: number): Description => ({
  program: '1.2.3',
  identity: {
    data: { rows: 3, columns: 5, nonzeros: 7, hash: 'abc' },
    options: { lambda: 0.1, loss: 'hinge', holdout: null },
  },
  epoch,
  seconds: 1.5,
  follows: 0,
  tolerance: 1e-3,
  test: null,
  saved: {
    convergence: { dual: -Infinity, primal: 0.1 + 0.2, zero: -0, open: Infinity, none: NaN },
    method: { inverses: [1 / 3, 5e-324, -1.7976931348623157e308] },
  },
});

const layout: Layout = {
  first: 0,
  end: 2,
  size: 2,
  rowBounds: [0, 400, 1000],
  columnBounds: [0, 9000, 9000],
};

/** Lines of 4 of which slots 0 and 2 are state, over more lines than are copied at a time. */
function arraysOf(fill: (k: number) => number): StateArray[] {
  const numbers = (length: number) => Float64Array.from({ length }, (_, k) => fill(k));
  const shared = new Float64Array(new SharedArrayBuffer(8 * 9000)).map((_, k) => fill(k));
  return stateArrays({
    row: { alpha: numbers(1000), skip: Uint8Array.from({ length: 1000 }, (_, k) => fill(k)) },
    column: { shared, lines: { lines: numbers(4 * 9000), stride: 4, slots: [0, 2] } },
    worker: { generators: Int32Array.from({ length: 8 }, (_, k) => fill(k)), none: numbers(0) },
  });
}

const numberOf = (k: number) => (k % 7 === 0 ? -0 : (k * 37) % 101);

describe('a file', () => {
  test('gives back every number, −0 and infinities among them', () => {
    const path = join(temporaryFolder(), 'x');
    writeCheckpointFile(path, description(7), arraysOf(numberOf), layout);
    const found = readCheckpointFile(path);
    const { arrays, ...rest } = found.header;
    expect(rest).toEqual({ ...description(7), workers: [0, 2], grid: 2 });
    expect(arrays.map(({ name }) => name)).toEqual([
      'alpha',
      'skip',
      'shared',
      'lines',
      'generators',
    ]);
    const target = arraysOf(() => 1);
    loadArrays({ header: found.header, parts: [found] }, target, layout);
    const expected = arraysOf(numberOf);
    for (const [k, { name, values }] of target.entries()) {
      const other = expected[k].values;
      if ('lines' in values && 'lines' in other) {
        const kept = Float64Array.from(other.lines, (value, at) => (at % 2 === 0 ? value : 1));
        expect(values.lines).toEqual(kept);
      } else expect(values, name).toEqual(other);
    }
  });

  test('is refused by a run that has other arrays', () => {
    const path = join(temporaryFolder(), 'x');
    writeCheckpointFile(path, description(7), arraysOf(numberOf), layout);
    const found = readCheckpointFile(path);
    const generation = { header: found.header, parts: [found] };
    const others = arraysOf(numberOf).slice(1);
    expect(() => loadArrays(generation, others, layout)).toThrow('holds other arrays');
  });

  test('cut off anywhere is found out', () => {
    const path = join(temporaryFolder(), 'x');
    const bytes = writeCheckpointFile(path, description(7), arraysOf(numberOf), layout);
    const whole = readFileSync(path);
    expect(whole).toHaveLength(bytes);
    const header = whole.indexOf('---\n') + 4;
    const lengths = [0, 1, 15, 16, 20, 40, header - 5, header, header + 1, bytes - 33, bytes - 1];
    for (const length of lengths) {
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
    const small = { ...layout, rowBounds: [0, 20, 50] };
    const bytes = writeCheckpointFile(path, description(7), arrays, small);
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
    writeCheckpointFile(path, description(7), [], layout);
    const { createHash } = await import('node:crypto');
    const text = readFileSync(path).subarray(0, -32).toString().replace('point 4', 'point 2');
    const digest = createHash('sha256').update(text).digest();
    writeFileSync(path, Buffer.concat([Buffer.from(text), digest]));
    expect(() => readCheckpointFile(path)).toThrow('version 2 of the format; this program reads');
  });
});

describe('a folder', () => {
  test('what a killed process left half-written of its workers is cleared away, nothing else', () => {
    const folder = temporaryFolder();
    addCheckpoint(folder, description(9), arraysOf(numberOf), layout);
    const names = ['', '.workers-0-2', '.workers-1-3', '.workers-2-4'].map(
      (workers) => `.epoch-0000000010${workers}.checkpoint.partial`,
    );
    for (const name of names) writeFileSync(join(folder, name), 'half');
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    clearPartial(folder, [0, 2]);
    expect(readdirSync(folder).sort()).toEqual([
      names[3],
      'epoch-0000000009.checkpoint',
      'notes.txt',
    ]);
  });

  test('that is a file is refused in words', () => {
    const path = join(temporaryFolder(), 'file');
    writeFileSync(path, '');
    expect(() => makeFolder(path)).toThrow(`checkpoints cannot go to ${path}: it is not a folder`);
  });

  test('is made with its parents, and where none can be made that is said', ({ skip }) => {
    const path = join(temporaryFolder(), 'a', 'b', 'c');
    makeFolder(path);
    makeFolder(path);
    expect(readdirSync(path)).toEqual([]);
    if (process.platform !== 'linux') skip("/proc is Linux's");
    // There mkdir says that the parent is missing, though it is not.
    expect(() => makeFolder('/proc/kept/here')).toThrow('none can be made');
  });
});
