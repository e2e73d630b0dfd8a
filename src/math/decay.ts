/** The flow dw/dt = −l1 sign(w) − l2 w of an elastic net, stopping at 0. Also AssemblyScript. */
import { exp, log1p } from './elementary.ts';

/** Below, the series of (1 − e^−x)/x is exact to the last bit and quicker than the exponential. */
const SHORT = 0.0078125;
const THIRD = 0.3333333333333333;
const SIXTH = 0.16666666666666666;

/** (1 − e^−x)/x for x ≥ 0: the mean of e^−t over 0 ≤ t ≤ x. */
function meanExponential(x: number): number {
  if (x >= SHORT) return (1 - exp(-x)) / x;
  return 1 - 0.5 * x * (1 - THIRD * x * (1 - 0.25 * x * (1 - 0.2 * x * (1 - SIXTH * x))));
}

/**
 * Where the flow leads from w in `time` ≥ 0:
 *
 *   |w| ← max(0, (|w| + l1/l2) e^(−l2 time) − l1/l2),   without l2: max(0, |w| − l1 time)
 *
 * written so that neither case divides by l2 nor cancels. Two stretches of time in a row lead to
 * where their sum does.
 */
export function decayed(w: number, time: number, l1: number, l2: number): number {
  const size = Math.abs(w);
  const left = size - time * meanExponential(l2 * time) * (l1 + l2 * size);
  if (!(left > 0)) return 0;
  return w < 0 ? -left : left;
}

/**
 * The mean of w on the way that decayed() has led from `w` to `end`. As long as w is not 0, the
 * change of |w| is −l1 time − l2 ∫|w|; where that cancels, the middle of both ends is as good.
 */
export function meanOfDecay(w: number, end: number, time: number, l1: number, l2: number): number {
  const size = Math.abs(w);
  let alive = time;
  if (end === 0 && l1 > 0) {
    const ratio = (l2 * size) / l1;
    alive = Math.min(time, (size / l1) * (ratio > 0 ? log1p(ratio) / ratio : 1));
  }
  if (!(l2 * alive >= SHORT)) return 0.5 * (w + end) * (alive / time);
  const mean = (size - Math.abs(end) - l1 * alive) / (l2 * time);
  return w < 0 ? -mean : mean;
}
