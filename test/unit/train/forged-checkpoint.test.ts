import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { formatVersion } from '../../../src/engine/checkpoint/file.ts';
import { DataError, DsoError } from '../../../src/errors.ts';
import { losses } from '../../../src/problem/losses/index.ts';
import { solvers } from '../../../src/solvers/index.ts';
import type { TrainOptions } from '../../../src/train/options/options.ts';
import { train } from '../../../src/train/train.ts';
import { arraysOf, putTogether, takeApart, writeNumber } from '../../fuzz/checkpoint-file.ts';
import { type Json, type Path, pathsOf, valueAt, withValue } from '../../fuzz/json-forgery.ts';
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

const folder = lastingFolders()();
const written = join(folder, 'written');
let name: string;
let header: Json;
let arrays: Buffer;

beforeAll(async () => {
  await train(dataset, {
    ...base,
    epochs: 4,
    checkpoint: { folder: written, every: { epochs: 4 } },
  });
  [name] = readdirSync(written).filter((entry) => entry.endsWith('.checkpoint'));
  ({ header, payload: arrays } = takeApart(readFileSync(join(written, name))));
});

let count = 0;

/** Resumes from a checkpoint with this header and the right checksum. */
async function resume(other: Json): Promise<unknown> {
  const copy = join(folder, `copy-${count++}`);
  cpSync(written, copy, { recursive: true });
  const bytes = putTogether({ header: other, payload: arrays }, formatVersion);
  writeFileSync(join(copy, name), bytes);
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
        if (path[1] === 'options' && valueAt(header, path) === null && (other ?? null) === null)
          continue;
        if (path.length === 1 && last === 'test' && other === 'x') continue;
        const outcome = await resume(withValue(header, path, other));
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
        const outcome = await resume(withValue(header, path, other));
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
    const outcome = await resume(withValue(header, path, other));
    expect(outcome).toBeInstanceOf(DataError);
    expect((outcome as Error).message).toContain(message);
    expect((outcome as Error).message).toContain(name);
  });
});

describe('forged arrays with the right checksum', () => {
  const { ring, sgd, dso, admm, dcd } = solvers;
  test.each([
    [ring({ mode: 'rows' }), 'best', NaN, /best: has a number that is not finite$/],
    [ring({ mode: 'rows' }), 'bestAlpha', Infinity, /bestAlpha: has a number that is not finite$/],
    [dso(), 'columns', NaN, /columns: has a number that is not finite$/],
    // Positions that kernels would read from and write to.
    [ring({ mode: 'rows' }), 'runs', 2 ** 20, /runs: 1048576 is there twice or not from 0 to/],
    [ring({ mode: 'columns' }), 'runs', 0, /runs: 0 is there twice or not from 0 to 5$/],
    [sgd(), 'order', -1, /order: -1 is there twice or not from 0 to 29$/],
    [dso(), 'order', 30, /order: 30 is there twice or not from 0 to 29$/],
    [admm(), 'order', 2 ** 31 - 1, /order: 2147483647 is there twice or not from 0 to 29$/],
    [dcd(), 'order', 30, /runs: 30 is there twice or not from 0 to 29$/],
  ] as const)('%o: %s with %d is rejected', async (solver, array, value, message) => {
    const options: TrainOptions = { ...base, loss: losses.squaredHinge(), solver };
    const { holdout: _, ...all } = options;
    const own = join(folder, `arrays-${count++}`);
    await train(dataset, { ...all, epochs: 4, checkpoint: { folder: own, every: { epochs: 4 } } });
    const path = join(own, name);
    const { header: whole, payload } = takeApart(readFileSync(path));
    const forged = arraysOf({ header: whole, payload }).find((one) => one.name === array)!;
    // In both of the first two places there is one that was there before, if it is the value.
    for (const index of [0, 1]) writeNumber(payload, forged, index, value);
    writeFileSync(path, putTogether({ header: whole, payload }, formatVersion));
    const outcome = train(dataset, { ...all, epochs: 5, resume: own });
    await expect(outcome).rejects.toThrow(DataError);
    await expect(outcome).rejects.toThrow(message);
    await expect(outcome).rejects.toThrow(name);
  });

  test('a best point that is far too large ends the run, not with a certificate', async () => {
    const own = join(folder, 'large');
    const all: TrainOptions = { ...base, solver: solvers.lbfgs(), loss: losses.logistic() };
    await train(dataset, { ...all, epochs: 4, checkpoint: { folder: own, every: { epochs: 4 } } });
    const parts = takeApart(readFileSync(join(own, name)));
    const best = arraysOf(parts).find((array) => array.name === 'best')!;
    writeNumber(parts.payload, best, 0, 1e300);
    // No later point is better than the one that is claimed.
    const convergence = ['saved', 'convergence'];
    const { dual } = valueAt(parts.header, convergence) as { dual: number };
    const claimed = withValue(parts.header, [...convergence, 'primal'], dual);
    writeFileSync(join(own, name), putTogether({ ...parts, header: claimed }, formatVersion));
    const outcome = train(dataset, { ...all, epochs: 5, resume: own });
    await expect(outcome).rejects.toThrow(/^the objective is no longer finite after/);
    await expect(outcome).rejects.toThrow(DsoError);
  });

  test('weights that did best on the test rows and are far too large are no model', async () => {
    const own = join(folder, 'tested');
    const all: TrainOptions = { ...base, earlyStop: 50 };
    await train(dataset, { ...all, epochs: 4, checkpoint: { folder: own, every: { epochs: 4 } } });
    const parts = takeApart(readFileSync(join(own, name)));
    const tested = arraysOf(parts).find((array) => array.name === 'tested')!;
    writeNumber(parts.payload, tested, 0, -1e300);
    // No later weights do better on the test rows.
    const measured = ['saved', 'convergence', 'early', 'best', 'error'];
    const forged = { ...parts, header: withValue(parts.header, measured, 0) };
    writeFileSync(join(own, name), putTogether(forged, formatVersion));
    const outcome = train(dataset, { ...all, epochs: 5, resume: own });
    await expect(outcome).rejects.toThrow(/^the objective is no longer finite after/);
  });
});
