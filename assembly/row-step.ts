// The exact dual step of one row. Twin of src/solvers/kernels/plain/rows.ts.
import * as loss from "./loss";
import { addDouble, byte, double, int, setByte, setDouble } from "./memory";
import { conjugateDerivative, dualStep, inverseOf } from "./weighted";

const restMargin: f64 = 0.05;
const highestLevel: i32 = 3;

function restWithoutSay(i: i32, counts: usize, levels: usize, skips: usize, shrink: i32, stats: usize): f64 {
  addDouble(stats, 0, <f64>int(counts, i));
  if (shrink != 0) {
    setByte(levels, i, highestLevel);
    setByte(skips, i, (1 << highestLevel) - 1);
  }
  return 0;
}

// @ts-ignore: decorator
@inline
export function stepRow(
  i: i32, u: f64,
  labels: usize, rowWeights: usize, alphas: usize, norms: usize, collisions: usize, counts: usize, levels: usize, skips: usize,
  damping: f64, inverseTotalWeight: f64, shrink: i32, parameter: f64, stats: usize,
): f64 {
  const c = double(rowWeights, i);
  if (c == 0) return restWithoutSay(i, counts, levels, skips, shrink, stats);
  const y = double(labels, i);
  const alpha = double(alphas, i);
  const inverse = inverseOf(c);
  const q = (double(norms, i) + damping * double(collisions, i)) * inverseTotalWeight;
  const bend = q * c;
  const next = dualStep(c, inverse, alpha, u, q, y, parameter);
  const delta = next - alpha;
  if (delta != 0) {
    setDouble(alphas, i, next);
    setByte(levels, i, 0);
    const curvature = loss.curvature(u + q * delta, y, parameter, -(next * inverse));
    addDouble(stats, 0, 2 * <f64>int(counts, i));
    addDouble(stats, 1, curvature > 0 ? (bend * curvature) / (1 + bend * curvature) : 1);
    const s = -(next * inverse);
    addDouble(stats, 2, c * (loss.value(u, y, parameter) + loss.conjugate(s, y, parameter) - s * u));
    return delta;
  }
  addDouble(stats, 0, <f64>int(counts, i));
  if (shrink != 0) {
    const slope = conjugateDerivative(c, -alpha, y, parameter) - u;
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
