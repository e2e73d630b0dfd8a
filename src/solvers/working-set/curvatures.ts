import type { ColumnSet } from './column-set.ts';

/** Curvatures are raised to this share of the largest at least. */
const leastShare = 1e-8;

/**
 * Slopes s and curvatures h of the loss at the present margins, h raised to `share` of the largest
 * that the loss has anywhere: of those at hand all may be tiny, where every row is far on its side.
 * Poisson's loss has no largest, and those at hand have to do.
 */
export function measureRows(set: ColumnSet, greatest: number | undefined, share: number): void {
  const { context, parts } = set;
  const { kernels } = context;
  const found = differentiate(set);
  const least = Math.max(leastShare, share) * (greatest ?? found);
  for (const { rows, rowWeights } of parts) {
    kernels.boundCurvatures(rows.curvatures, rowWeights, least, rows.inverses);
  }
}

/** ℓ' at the present margins, unless it is known, slopes and ℓ''; returns the largest ℓ''. */
export function differentiate(set: ColumnSet): number {
  const { context, isDifferentiated } = set;
  const { kernels, team } = context;
  const [found] = team.reduce(
    1,
    (worker, values) => {
      const { rows, labels, rowWeights } = set.partOf(worker);
      const { margins, derivatives, slopes, curvatures } = rows;
      values[0] = kernels.modelRows(
        margins,
        labels,
        rowWeights,
        isDifferentiated,
        derivatives,
        slopes,
        curvatures,
      );
    },
    'max',
  );
  set.isDifferentiated = true;
  return found;
}
