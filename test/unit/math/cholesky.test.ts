import { describe, expect, test } from 'vitest';
import { GrowingCholesky } from '../../../src/math/cholesky.ts';
import { stream } from '../../../src/math/random.ts';

type Matrix = readonly (readonly number[])[];

/** The products of `size` random vectors: of full rank when they are as long as they are many. */
function gram(size: number, length: number, seed: number): Matrix {
  const random = stream(seed, 5);
  const vectors = Array.from({ length: size }, () => Array.from({ length }, () => random.normal()));
  return vectors.map((a) => vectors.map((b) => a.reduce((sum, x, k) => sum + x * b[k], 0)));
}

function factorOf(matrix: Matrix): GrowingCholesky {
  const factor = new GrowingCholesky(matrix.length);
  matrix.forEach((row) => {
    factor.append(row.slice(0, factor.size + 1));
  });
  return factor;
}

function residual(matrix: Matrix, x: Float64Array, expected: readonly number[]): number {
  const rest = matrix.map((row, k) => row.reduce((sum, a, l) => sum + a * x[l], -expected[k]));
  return Math.max(...rest.map(Math.abs));
}

describe('a growing factor', () => {
  const matrix = gram(8, 11, 1);
  const expected = [3, -1, 4, 1, -5, 9, 2, 6];

  test('solves', () => {
    const x = Float64Array.from(expected);
    factorOf(matrix).solve(x);
    expect(residual(matrix, x, expected)).toBeLessThan(1e-12);
  });

  test.each([0, 3, 7])('solves after row %i is gone and another has come', (gone) => {
    const factor = factorOf(matrix);
    factor.remove(gone);
    expect(factor.size).toBe(7);
    const order = [...matrix.keys()].filter((k) => k !== gone);
    const part = (rows: readonly number[]) => rows.map((k) => rows.map((l) => matrix[k][l]));
    const short = Float64Array.from(order, (k) => expected[k]);
    factor.solve(short);
    expect(
      residual(
        part(order),
        short,
        order.map((k) => expected[k]),
      ),
    ).toBeLessThan(1e-12);
    const longer = [...order, gone];
    factor.append(longer.map((k) => matrix[gone][k]));
    const long = Float64Array.from(longer, (k) => expected[k]);
    factor.solve(long);
    expect(
      residual(
        part(longer),
        long,
        longer.map((k) => expected[k]),
      ),
    ).toBeLessThan(1e-12);
  });

  test('starts again when cleared', () => {
    const factor = factorOf(matrix);
    factor.clear();
    factor.append([4]);
    const x = Float64Array.of(8);
    factor.solve(x);
    expect(x[0]).toBe(2);
  });

  test('has finite solutions of a singular matrix, which solve it where it can be solved', () => {
    const singular = gram(6, 3, 2);
    const image = singular.map((row) => row[0] - 2 * row[4]);
    const x = Float64Array.from(image);
    factorOf(singular).solve(x);
    expect(x.every(Number.isFinite)).toBe(true);
    expect(residual(singular, x, image)).toBeLessThan(1e-6);
    const zero = Float64Array.of(1);
    factorOf([[0]]).solve(zero);
    expect(zero[0]).toBeGreaterThan(1e100);
  });
});
