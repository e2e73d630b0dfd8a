import { stream } from '../../../src/math/random.ts';
import type { Loss } from '../../../src/problem/losses/loss.ts';
import type { Problem } from '../../../src/solvers/objective/problem.ts';
import type { SgdSettings } from '../../../src/solvers/registry.ts';
import type { Sample } from '../../support/data.ts';

const rms = (values: readonly number[]) =>
  Math.sqrt(values.reduce((sum, x) => sum + x * x, 0) / values.length);

/** (1 − e^−x)/x */
const meanExponential = (x: number) => (x > 0 ? -Math.expm1(-x) / x : 1);

/**
 * Stochastic gradient descent of one worker by the textbook: every step touches every column, first
 * by the gradient of the row's loss, then by the penalty's flow for as long as the column's step is.
 * Returns w, the mean of w over the last epoch (for a penalty without L1), and −ℓ' of the last epoch.
 */
export function eagerSgd(
  { rows, labels }: Sample,
  { grid, l1, l2 }: Problem,
  settings: SgdSettings & { stepSize: number },
  loss: Loss,
  worker: number,
  epochs: number,
) {
  const { rowOrder, rowStarts, columnOrder } = grid.partition;
  const own = [...rowOrder.subarray(rowStarts[worker], rowStarts[worker + 1])];
  // A column that the data do not have is the intercept's.
  const X = own.map((i) => [...columnOrder].map((j) => rows[i][j] ?? 1));
  const y = own.map((i) => labels[i]);
  const perRow = X.flat().filter((x) => x !== 0).length / X.length;
  const scale = [...columnOrder].map((_, j) => {
    const there = X.map((row) => row[j]).filter((x) => x !== 0);
    return (settings.stepSize * rms(y)) / (rms(there) * Math.sqrt(perRow));
  });
  const order = Int32Array.from(X, (_, i) => i);
  const random = stream(1, 1 + worker);
  const w = scale.map(() => 0);
  const squares = scale.map(() => 0);
  const mean = scale.map(() => 0);
  const alpha = y.map(() => 0);
  for (let step = 0; step < epochs * X.length; step++) {
    if (step % X.length === 0) {
      random.shuffle(order, order.length);
      mean.fill(0);
    }
    const i = order[step % X.length];
    const u = X[i].reduce((sum, x, j) => sum + x * w[j], 0);
    const slope = loss.derivative(u, y[i], loss.parameter);
    alpha[i] = -slope;
    for (let j = 0; j < w.length; j++) {
      const gradient = slope * X[i][j];
      squares[j] += gradient * gradient;
      const adaptive = squares[j] > 0 ? scale[j] / Math.sqrt(squares[j]) : 0;
      const plain = settings.stepSize / Math.sqrt(1 + step / X.length);
      const rate = settings.step === 'sqrt' ? plain : adaptive;
      const moved = w[j] - rate * gradient;
      const size =
        l2[j] > 0
          ? (Math.abs(moved) + l1[j] / l2[j]) * Math.exp(-l2[j] * rate) - l1[j] / l2[j]
          : Math.abs(moved) - l1[j] * rate;
      w[j] = Math.sign(moved) * Math.max(0, size);
      mean[j] += (moved * meanExponential(l2[j] * rate)) / X.length;
    }
  }
  return { w, mean, alpha };
}
