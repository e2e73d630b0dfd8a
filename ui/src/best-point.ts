/** So much worse than the best, relative to it, is more than wavering. */
const worse = 0.02;

/** Where the best of some values is, if the last one is clearly worse. */
export function bestPoint(
  values: readonly (number | null)[],
  best: 'least' | 'most',
): number | undefined {
  const sign = best === 'least' ? 1 : -1;
  let at = -1;
  let last = -1;
  for (let index = 0; index < values.length; index++) {
    const value = values[index];
    if (value === null || !Number.isFinite(value)) continue;
    last = index;
    if (at < 0 || sign * value < sign * values[at]!) at = index;
  }
  if (at < 0) return undefined;
  const loss = sign * (values[last]! - values[at]!);
  return loss > worse * Math.abs(values[at]!) ? at : undefined;
}
