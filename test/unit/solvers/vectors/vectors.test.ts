import { describe, expect, test } from 'vitest';
import { separateArena } from '../../../../src/engine/arena.ts';
import { stream } from '../../../../src/math/random.ts';
import { losses } from '../../../../src/problem/losses/index.ts';
import { penalties } from '../../../../src/problem/penalties/index.ts';
import { solvers } from '../../../../src/solvers/index.ts';
import { allocateVectors, Vectors } from '../../../../src/solvers/vectors/vectors.ts';
import { sampleFor } from '../../../support/data.ts';
import { contextOf, prepare } from '../../../support/engine.ts';

const columns = 9;
const loss = losses.logistic();
const { dataset, rows, labels } = sampleFor(loss, { rows: 30, columns, seed: 6 });

describe.each([1, 3])('grid %i', (grid) => {
  const options = { dataset, loss, penalty: penalties.l2(), solver: solvers.lbfgs(), grid };
  const engine = prepare({ ...options, intercept: true, kernels: 'plain' });
  const context = contextOf(engine);
  const { partition } = engine.problem.grid;
  const vectors = new Vectors(context, allocateVectors(separateArena, partition));
  const random = stream(7, grid);
  const drawn = (count: number) => Float64Array.from({ length: count }, () => random.normal());
  /** The data in the order of positions, with the column of ones. */
  const dense = [...partition.rowOrder].map((row) => {
    const whole = [...rows[row], 1];
    return [...partition.columnOrder].map((column) => whole[column]);
  });
  const ofRows = () => vectors.rows(drawn(rows.length));
  const ofColumns = () => vectors.columns(drawn(columns + 1));
  const near = (found: Float64Array, expected: readonly number[]) => {
    expect(found.length).toBe(expected.length);
    for (const [k, value] of expected.entries()) expect(found[k]).toBeCloseTo(value, 12);
  };

  test('products with X, with its transpose and with the squares of its entries', () => {
    const [w, u] = [ofColumns(), ofRows()];
    vectors.product(w, u);
    near(
      u.all,
      dense.map((x) => x.reduce((sum, value, j) => sum + value * w.all[j], 0)),
    );
    const [alpha, image] = [ofRows(), ofColumns()];
    const transposed = (factor: (value: number) => number) =>
      dense[0].map((_, j) => dense.reduce((sum, x, i) => sum + factor(x[j]) * alpha.all[i], 0));
    vectors.transposed(alpha, image);
    near(
      image.all,
      transposed((value) => value),
    );
    vectors.transposedSquares(alpha, image);
    near(
      image.all,
      transposed((value) => value * value),
    );
    expect(vectors.products).toBe(3);
  });

  test('several sums at once, of rows and of columns, and the largest number', () => {
    const [a, b, w] = [ofRows(), ofRows(), ofColumns()];
    const dot = (x: Float64Array, y: Float64Array) => x.reduce((sum, v, k) => sum + v * y[k], 0);
    near(vectors.dots([a, b], [w, w]), [dot(a.all, b.all), dot(w.all, w.all)]);
    near(vectors.sums(a, w), [
      dot(
        a.all,
        a.all.map(() => 1),
      ),
      dot(
        w.all,
        w.all.map(() => 1),
      ),
    ]);
    expect(vectors.largest(a)).toBe(Math.max(...a.all));
  });

  test.each([true, false])('losses, slopes and curvatures of the rows, bent %s', (isBent) => {
    const [u, alpha, slopes, curvatures] = [ofRows(), ofRows(), ofRows(), ofRows()];
    const sum = vectors.expand(u, isBent, slopes, curvatures);
    vectors.slopes(u, alpha);
    expect([...slopes.all]).toEqual([...alpha.all]);
    const y = [...partition.rowOrder].map((row) => labels[row]);
    const beta = y.map((label, i) => 1 / (1 + Math.exp(label * u.all[i])));
    expect(sum).toBeCloseTo(
      beta.reduce((before, b) => before - Math.log(1 - b), 0),
      10,
    );
    near(
      alpha.all,
      beta.map((b, i) => y[i] * b),
    );
    // On the steep side, where ℓ is almost straight, ℓ'²/(4 ℓ) is larger.
    near(
      curvatures.all,
      beta.map((b) => Math.max(b * (1 - b), (b * b) / (4 * -Math.log(1 - b)))),
    );
  });
});
