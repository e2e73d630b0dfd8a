// The exact dual step of one row. Twin of src/kernels/plain/row-step.ts.
import * as loss from "./loss";
import { addDouble, byte, double, int, setByte, setDouble } from "./memory";

const restMargin: f64 = 0.05;
const highestLevel: i32 = 3;

// @ts-ignore: decorator
@inline
export function stepRow(
  i: i32, u: f64,
  labels: usize, alphas: usize, norms: usize, collisions: usize, counts: usize, levels: usize, skips: usize,
  damping: f64, inverseRows: f64, shrink: i32, parameter: f64, stats: usize,
): f64 {
  const y = double(labels, i);
  const alpha = double(alphas, i);
  const q = (double(norms, i) + damping * double(collisions, i)) * inverseRows;
  const next = loss.dualStep(alpha, u, q, y, parameter);
  const delta = next - alpha;
  if (delta != 0) {
    setDouble(alphas, i, next);
    setByte(levels, i, 0);
    const curvature = loss.curvature(u + q * delta, y, parameter, -next);
    addDouble(stats, 0, 2 * <f64>int(counts, i));
    addDouble(stats, 1, curvature > 0 ? (q * curvature) / (1 + q * curvature) : 1);
    return delta;
  }
  addDouble(stats, 0, <f64>int(counts, i));
  if (shrink != 0) {
    const slope = loss.conjugateDerivative(-alpha, y, parameter) - u;
    let level = 0;
    if (slope > restMargin || slope < -restMargin) {
      const before = byte(levels, i);
      level = before < highestLevel ? before + 1 : highestLevel;
      setByte(skips, i, (1 << level) - 1);
    }
    setByte(levels, i, level);
  }
  return 0;
}
