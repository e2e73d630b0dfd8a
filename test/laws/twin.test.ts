/** The WebAssembly build of every portable function gives the bits of the plain one. */
import { describe, expect, test } from 'vitest';
import * as bits from '../../src/math/bits.ts';
import * as elementary from '../../src/math/elementary.ts';
import { type Random, stream } from '../../src/math/random.ts';
import * as rounding from '../../src/math/rounding.ts';
import * as scalars from '../../src/math/scalars.ts';
import { lossNames } from '../../src/problem/losses/index.ts';
import { lossCases } from './cases.ts';
import { compileTwin } from './wasm-twin.ts';

type NumberFunction = (...values: number[]) => number;

const special = [0, -0, 1, -1, 0.5, -0.5, 1e-310, 1e-300, 1e300, -1e300, Infinity, -Infinity, NaN];

/** A double of any size and sign, a special one now and then. */
function anyDouble(random: Random): number {
  if (random.below(20) === 0) return special[random.below(special.length)];
  const mantissa = (1 + random.uniform()) * (random.below(2) === 0 ? 1 : -1);
  const range = [4, 12, 2000][random.below(3)];
  return mantissa * 2 ** (random.below(range) - range / 2);
}

/** Compares on drawn arguments and says on which ones the two differ. */
function compare(
  plain: NumberFunction,
  twin: NumberFunction,
  draw: () => readonly number[],
  count: number,
): void {
  const different: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const values = draw();
    const [expected, found] = [plain(...values), twin(...values)];
    if (!Object.is(expected, found))
      different.push(`(${values.join(', ')}): ${expected}, ${found}`);
  }
  expect(different).toEqual([]);
}

/** Those of a module that has constants, too. */
function functionsOf(module: Readonly<Record<string, unknown>>): Record<string, NumberFunction> {
  const functions = Object.entries(module).filter((entry) => typeof entry[1] === 'function');
  return Object.fromEntries(functions as [string, NumberFunction][]);
}

describe.each([
  ['src/math/elementary.ts', { ...elementary }],
  ['src/math/scalars.ts', { ...scalars }],
  ['src/math/rounding.ts', functionsOf(rounding)],
])('%s', (file, functions: Record<string, NumberFunction>) => {
  test('all functions', async () => {
    const twin = await compileTwin(file);
    const random = stream(11, 1);
    expect(Object.keys(functions)).toEqual(expect.arrayContaining(Object.keys(functionsOf(twin))));
    for (const [name, plain] of Object.entries(functions)) {
      const draw = () => Array.from({ length: plain.length }, () => anyDouble(random));
      compare(plain, twin[name], draw, 20_000);
    }
  });
});

test('assembly/bits.ts', async () => {
  const twin = await compileTwin('assembly/bits.ts');
  const random = stream(11, 2);
  const normal = () => (1 + random.uniform()) * 2 ** (random.below(2046) - 1022);
  compare(bits.exponentOf, twin.exponentOf, () => [normal()], 5000);
  compare(bits.mantissaOf, twin.mantissaOf, () => [normal()], 5000);
  const scaling = () => [normal() * (random.below(2) * 2 - 1), random.below(4089) - 2044];
  compare(bits.scaleByPowerOfTwo, twin.scaleByPowerOfTwo, scaling, 20_000);
});

const lossFunctions = [
  'value',
  'derivative',
  'curvature',
  'conjugate',
  'conjugateDerivative',
  'conjugateLow',
  'conjugateHigh',
  'dualStep',
] as const;

test.each(lossNames)('src/problem/losses/%s.ts', async (lossName) => {
  const twin = await compileTwin(`src/problem/losses/${lossName}.ts`);
  const random = stream(11, 3);
  for (const { loss } of lossCases.filter((item) => item.loss.name === lossName)) {
    const label = () => {
      if (loss.task === 'classification') return random.below(2) * 2 - 1;
      const drawn = 10 * random.normal();
      return loss.labels ? Math.abs(drawn) : drawn;
    };
    /** Scores and dual variables as they occur, and any double at times. */
    const argument = () => (random.below(8) === 0 ? anyDouble(random) : 3 * random.normal());
    const stiffness = () => (random.below(10) === 0 ? 0 : 10 ** (random.uniform() * 12 - 6));
    for (const name of lossFunctions) {
      const plain: NumberFunction = loss[name];
      const draw = () => {
        if (name === 'dualStep') {
          return [argument(), argument(), stiffness(), label(), loss.parameter];
        }
        if (name === 'curvature') return [argument(), label(), loss.parameter, argument()];
        return [...(plain.length === 3 ? [argument()] : []), label(), loss.parameter];
      };
      compare(plain, twin[name], draw, 5000);
    }
  }
});
