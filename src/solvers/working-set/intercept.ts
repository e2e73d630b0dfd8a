import type { ColumnSet } from './column-set.ts';

const mostSteps = 50;
/** The sum of slopes that is left, as a share of that of their sizes. */
const negligible = 1e-14;

/**
 * Newton's method for the intercept alone, which makes the sum of α vanish, as a dual point needs.
 * Where it would leave the interval that must hold the minimum, the interval is halved. Adds the
 * change to the margins and returns it. Uses the model's arrays of rows.
 */
export function moveIntercept(set: ColumnSet): number {
  const { context } = set;
  const { kernels, team } = context;
  let [total, low, high] = [0, -Infinity, Infinity];
  for (let k = 0; k < mostSteps; k++) {
    const [slope, curvature, size] = team.reduce(3, (worker, values) => {
      const { rows, labels, rowWeights } = set.partOf(worker);
      const { margins, derivatives, slopes, curvatures } = rows;
      const known = set.isDifferentiated;
      kernels.modelRows(margins, labels, rowWeights, known, derivatives, slopes, curvatures);
      for (let i = 0; i < slopes.length; i++) {
        values[0] += slopes[i];
        values[1] += rowWeights[i] * curvatures[i];
        values[2] += Math.abs(slopes[i]);
      }
    });
    set.isDifferentiated = true;
    if (Math.abs(slope) <= negligible * size) break;
    if (slope > 0) high = total;
    else low = total;
    let next = total - slope / curvature;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    const change = next - total;
    if (!Number.isFinite(change) || total + change === total) break;
    total = next;
    set.moved();
    for (const { rows } of set.parts) {
      for (let i = 0; i < rows.margins.length; i++) rows.margins[i] += change;
    }
  }
  return total;
}
