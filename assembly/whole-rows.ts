// Rows of one worker across its cells. Twin of src/kernels/plain/whole-rows.ts.
import * as loss from "./loss";
import { addDouble, double, float, int, setDouble } from "./memory";

export function sweepWholeRows(
  rowCount: i32, blocks: i32, offsets: usize, indices: usize, values: usize, starts: usize,
  order: usize, begin: i32, end: i32,
  labels: usize, alphas: usize, norms: usize, counts: usize,
  inverseRows: f64, inverse: usize, weights: usize, parameter: f64, stats: usize,
): void {
  const stride = rowCount + 1;
  for (let position = begin; position < end; position++) {
    const i = int(order, position);
    let u: f64 = 0;
    for (let block = 0; block < blocks; block++) {
      const at = block * stride + i;
      const last = int(offsets, at + 1);
      // Columns of a block count from its start.
      const part = weights + ((<usize>int(starts, block)) << 3);
      for (let k = int(offsets, at); k < last; k++) {
        u += double(part, int(indices, k)) * float(values, k);
      }
    }
    const alpha = double(alphas, i);
    const q = double(norms, i) * inverseRows;
    const next = loss.dualStep(alpha, u, q, double(labels, i), parameter);
    const delta = next - alpha;
    addDouble(stats, 0, (delta != 0 ? <f64>2 : <f64>1) * <f64>int(counts, i));
    if (delta == 0) continue;
    setDouble(alphas, i, next);
    const scaled = delta * inverseRows;
    for (let block = 0; block < blocks; block++) {
      const at = block * stride + i;
      const last = int(offsets, at + 1);
      const start = (<usize>int(starts, block)) << 3;
      for (let k = int(offsets, at); k < last; k++) {
        const j = int(indices, k);
        addDouble(weights + start, j, scaled * float(values, k) * double(inverse + start, j));
      }
    }
  }
}
