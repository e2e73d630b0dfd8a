/**
 * A root of a continuous falling function on [low, high] where f(low) > 0 > f(high), by false
 * position with the Illinois correction: as quick as the secant on nearly straight lines, and it
 * keeps its bracket. Stops when |f| ≤ goal or after `iterations` evaluations.
 */
export function rootOfFalling(
  f: (x: number) => number,
  low: number,
  atLow: number,
  high: number,
  atHigh: number,
  goal: number,
  iterations: number,
): number {
  let a = low;
  let fa = atLow;
  let b = high;
  let fb = atHigh;
  let middle = a;
  let kept = 0;
  for (let k = 0; k < iterations; k++) {
    middle = (a * fb - b * fa) / (fb - fa);
    if (!(middle > a && middle < b)) middle = 0.5 * (a + b);
    const value = f(middle);
    if (Math.abs(value) <= goal) break;
    if (value > 0) {
      a = middle;
      fa = value;
      if (kept === 1) fb *= 0.5;
      kept = 1;
    } else {
      b = middle;
      fb = value;
      if (kept === -1) fa *= 0.5;
      kept = -1;
    }
  }
  return middle;
}
