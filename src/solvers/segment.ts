/** now ← now + β (now − previous); start and previous ← now as it was. */
export function extrapolate(
  now: Float64Array,
  start: Float64Array,
  previous: Float64Array,
  beta: number,
): void {
  for (let k = 0; k < now.length; k++) {
    const value = now[k];
    start[k] = value;
    now[k] = value + beta * (value - previous[k]);
    previous[k] = value;
  }
}

/** now ← start + η (now − start) */
export function interpolate(now: Float64Array, start: Float64Array, eta: number): void {
  for (let k = 0; k < now.length; k++) now[k] = start[k] + eta * (now[k] - start[k]);
}
