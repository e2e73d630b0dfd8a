import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UsageError } from '../../../../src/errors.ts';
import { loadLoss } from '../../../../src/problem/losses/index.ts';

const parts: Readonly<Record<string, string>> = {
  name: "export const name = 'half-square';",
  task: "export const task = 'regression';",
  smooth: 'export const smooth = true;',
  value: 'export const value = (u, y, p) => (p / 2) * (u - y) ** 2;',
  derivative: 'export const derivative = (u, y, p) => p * (u - y);',
  curvature: 'export const curvature = (u, y, p) => p;',
  conjugate: 'export const conjugate = (s, y, p) => y * s + (s * s) / (2 * p);',
  conjugateDerivative: 'export const conjugateDerivative = (s, y, p) => y + s / p;',
  conjugateLow: 'export const conjugateLow = () => -Infinity;',
  conjugateHigh: 'export const conjugateHigh = () => Infinity;',
  dualStep: 'export const dualStep = (a, u, q, y, p) => a + (y - u - a / p) / (1 / p + q);',
  parameter: 'export const parameter = 4;',
};

let folder = '';
let count = 0;

/** Writes the module with some parts replaced or, by '', left out. */
function write(changes: Readonly<Record<string, string>> = {}): string {
  count += 1;
  const file = join(folder, `loss-${count}.mjs`);
  writeFileSync(file, Object.values({ ...parts, ...changes }).join('\n'));
  return file;
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dso-loss-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('a loss from a module', () => {
  test('is a loss like the others, and knows where it came from', async () => {
    const file = write();
    const loss = await loadLoss(file);
    expect(loss).toMatchObject({
      name: 'half-square',
      task: 'regression',
      smooth: true,
      parameter: 4,
      module: pathToFileURL(file).href,
    });
    expect(loss.value(3, 1, loss.parameter)).toBe(8);
    expect(loss.dualStep(0, 0, 0, 2, loss.parameter)).toBe(8);
    expect(Object.isFrozen(loss)).toBe(true);
  });

  test('by relative path and by URL', async () => {
    const file = write();
    const url = pathToFileURL(file);
    expect((await loadLoss(relative(process.cwd(), file))).module).toBe(url.href);
    expect((await loadLoss(url)).module).toBe(url.href);
    expect((await loadLoss(url.href)).module).toBe(url.href);
  });

  test('without a parameter has 0', async () => {
    expect((await loadLoss(write({ parameter: '' }))).parameter).toBe(0);
  });
});

describe('a module that is refused', () => {
  test('for lack of a conjugate, with what it is for', async () => {
    const file = write({ conjugate: '' });
    await expect(loadLoss(file)).rejects.toThrow(
      `loss '${file}' has no conjugate: solvers 'dso' and 'ring' need one for the duality gap`,
    );
    await expect(loadLoss(file)).rejects.toThrow(UsageError);
  });

  test.each([
    'value',
    'derivative',
    'curvature',
    'conjugate',
    'conjugateDerivative',
    'conjugateLow',
    'conjugateHigh',
    'dualStep',
  ])('for lack of %s', async (name) => {
    await expect(loadLoss(write({ [name]: '' }))).rejects.toThrow(`has no ${name}: `);
  });

  test.each([
    ['name', '', 'has no name'],
    ['task', "export const task = 'ranking';", 'task is "ranking"; it must be'],
    ['task', '', 'task is missing'],
    ['smooth', '', 'smooth is missing; it must be true'],
    ['parameter', 'export const parameter = NaN;', 'parameter is NaN'],
    ['value', 'export const value = 3;', 'value is a number; it must be a function'],
    ['value', 'export const value = ;', 'cannot be loaded'],
  ])('for its %s: %s', async (name, text, message) => {
    await expect(loadLoss(write({ [name]: text }))).rejects.toThrow(message);
  });

  test('because it is not there', async () => {
    await expect(loadLoss(join(folder, 'nowhere.mjs'))).rejects.toThrow(
      /nowhere\.mjs: no such file$/,
    );
  });
});
