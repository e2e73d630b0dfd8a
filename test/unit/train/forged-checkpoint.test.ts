import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { formatVersion } from '../../../src/engine/checkpoint/file.ts';
import { DataError, DsoError } from '../../../src/errors.ts';
import { solvers } from '../../../src/solvers/index.ts';
import type { TrainOptions } from '../../../src/train/options/options.ts';
import { train } from '../../../src/train/train.ts';
import { sample } from '../../support/data.ts';
import { lastingFolders } from '../../support/lasting-folder.ts';

const { dataset } = sample({ rows: 30, columns: 6, density: 0.5 });
const base: TrainOptions = {
  solver: solvers.ring({ mode: 'rows' }),
  threads: 1,
  grid: 1,
  tolerance: 1e-9,
  holdout: 0.2,
};

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Path = readonly (string | number)[];

const folder = lastingFolders()();
const written = join(folder, 'written');
let name: string;
let header: Json;
let arrays: Uint8Array;

beforeAll(async () => {
  await train(dataset, {
    ...base,
    epochs: 4,
    checkpoint: { folder: written, every: { epochs: 4 } },
  });
  [name] = readdirSync(written).filter((entry) => entry.endsWith('.checkpoint'));
  const bytes = readFileSync(join(written, name));
  const text = bytes.toString('latin1');
  const [preamble, length] = /^dso-checkpoint \d+\nheader (\d+)\n/.exec(text)!;
  const end = preamble.length + Number(length);
  header = JSON.parse(bytes.subarray(preamble.length, end).toString('utf8')) as Json;
  arrays = bytes.subarray(end, -32);
});

/** Every value inside a value, itself not included. */
function pathsOf(value: Json, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const next = [...path, Array.isArray(value) ? Number(key) : key];
    return [next, ...pathsOf(inner, next)];
  });
}

/** A copy with another value at a path; undefined takes it out. */
function forged(value: Json, [key, ...rest]: Path, other: Json | undefined): Json {
  const copy = structuredClone(value) as Record<string, Json>;
  if (rest.length > 0) copy[key] = forged(copy[key], rest, other);
  else if (other === undefined) delete copy[key];
  else copy[key] = other;
  return copy;
}

function valueAt(path: Path): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], header);
}

let count = 0;

/** Resumes from a checkpoint with this header and the right checksum. */
async function resume(other: Json): Promise<unknown> {
  const copy = join(folder, `copy-${count++}`);
  cpSync(written, copy, { recursive: true });
  const text = `${JSON.stringify(other)}\n`;
  const head = `dso-checkpoint ${formatVersion}\nheader ${Buffer.byteLength(text)}\n${text}`;
  const body = Buffer.concat([Buffer.from(head), arrays]);
  const checksum = createHash('sha256').update(body).digest();
  writeFileSync(join(copy, name), Buffer.concat([body, checksum]));
  return train(dataset, { ...base, epochs: 5, resume: copy }).catch((error: unknown) => error);
}

/** What may be absent or null. */
const mayBeNull = ['test', 'latest', 'measured', 'best'];
/** Numbers of which −1 or 10³⁰⁸ is one that a run could have. */
const anyNumber =
  /tolerance|primal|dual|gap|error|passes|momentum|lastPasses|since|kappa|floor|moving|allowance|stalled/i;
const inMethod = (path: Path) => path[0] === 'saved' && path[1] === 'method';

describe('a forged header with the right checksum', () => {
  test('as it was is resumed from', async () => {
    expect(await resume(header)).toHaveProperty('model');
  });

  test('with a value of another type anywhere in it is rejected', async () => {
    const paths = pathsOf(header);
    expect(paths.length).toBeGreaterThan(60);
    for (const path of paths) {
      const last = String(path.at(-1));
      // A thread starts for each of these: one wrong type is enough there.
      const others = inMethod(path) ? ['x'] : [null, 'x', [[1]], undefined];
      for (const other of others) {
        if (mayBeNull.includes(last) && other === null) continue;
        // An option that is not given may be null or absent.
        if (path[1] === 'options' && valueAt(path) === null && (other ?? null) === null) continue;
        if (path.length === 1 && last === 'test' && other === 'x') continue;
        const outcome = await resume(forged(header, path, other));
        const what = `${path.join('.')} = ${JSON.stringify(other)}`;
        expect(outcome, what).toBeInstanceOf(DsoError);
        // Other options are those of another run; all else is a fault of the file.
        const kind = path[1] === 'options' && path.length > 2 ? /usage|data/ : /data/;
        expect((outcome as DsoError).kind, what).toMatch(kind);
      }
    }
  });

  test('with numbers that no run has is rejected', async () => {
    for (const path of pathsOf(header)) {
      if (anyNumber.test(String(path.at(-1))) || inMethod(path) || path[1] === 'options') continue;
      for (const other of [-1, 1e308]) {
        if (path.at(-1) === 'left' && other === -1) continue;
        const outcome = await resume(forged(header, path, other));
        expect(outcome, `${path.join('.')} = ${other}`).toBeInstanceOf(DataError);
      }
    }
  });

  test.each([
    [['saved', 'convergence', 'dual'], 1e308, 'a lower bound, at most'],
    [['saved', 'convergence', 'proved', 'dual'], 1e308, 'a lower bound, at most'],
    [['saved', 'convergence', 'primal'], 'Infinity', 'saved.convergence.primal'],
    [['saved', 'method', 'passes'], -1, 'saved.method.passes is -1'],
    [['saved', 'method', 'more'], 1, 'saved.method.more is 1; expected nothing there'],
  ] as const)('with %s = %s is rejected, and the field is named', async (path, other, message) => {
    const outcome = await resume(forged(header, path, other));
    expect(outcome).toBeInstanceOf(DataError);
    expect((outcome as Error).message).toContain(message);
    expect((outcome as Error).message).toContain(name);
  });
});
