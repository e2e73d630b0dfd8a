// The dual point of a loss smoothed about a centre. Twin of src/solvers/kernels/plain/proximal.ts.
import * as loss from "./loss";
import { double, setDouble } from "./memory";

export function proximalAlong(
  margins: usize, change: usize, share: f64, labels: usize, rowWeights: usize, centre: usize, width: f64, count: i32,
  alpha: usize, parameter: f64,
): void {
  for (let i = 0; i < count; i++) {
    const c = double(rowWeights, i);
    const u = double(margins, i) + share * double(change, i);
    const a = loss.dualStep(double(centre, i), u, width, double(labels, i), parameter);
    setDouble(alpha, i, c == 0 ? 0 : c * a);
  }
}

export function proximalPoint(
  margins: usize, labels: usize, rowWeights: usize, centre: usize, width: f64, flat: i32, count: i32,
  alpha: usize, curvatures: usize, parameter: f64,
): void {
  for (let i = 0; i < count; i++) {
    const c = double(rowWeights, i);
    const y = double(labels, i);
    const a = loss.dualStep(double(centre, i), double(margins, i), width, y, parameter);
    let curvature: f64 = 0;
    if (-a > loss.conjugateLow(y, parameter) && -a < loss.conjugateHigh(y, parameter) && !(flat && a == 0)) {
      curvature = 1 / (width + loss.conjugateCurvature(-a, y, parameter));
    }
    setDouble(alpha, i, c == 0 ? 0 : c * a);
    setDouble(curvatures, i, c * curvature);
  }
}
