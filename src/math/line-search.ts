/** An argument and the function's value there. */
type Point = readonly [x: number, value: number];

/**
 * A root of a continuous falling function on [low, high] where f(low) > 0 > f(high), by false
 * position with the Illinois correction: as quick as the secant on nearly straight lines, and it
 * keeps its bracket. Stops when |f| ≤ goal or after `iterations` evaluations.
 */
export function rootOfFalling(
  f: (x: number) => number,
  low: Point,
  high: Point,
  goal: number,
  iterations: number,
): number {
  let [a, fa] = low;
  let [b, fb] = high;
  let middle = a;
  let side = 0;
  for (let k = 0; k < iterations; k++) {
    middle = (a * fb - b * fa) / (fb - fa);
    if (!(middle > a && middle < b)) middle = 0.5 * (a + b);
    const value = f(middle);
    if (Math.abs(value) <= goal) break;
    if (value > 0) {
      a = middle;
      fa = value;
      if (side === 1) fb *= 0.5;
      side = 1;
    } else {
      b = middle;
      fb = value;
      if (side === -1) fa *= 0.5;
      side = -1;
    }
  }
  return middle;
}

const searchSteps = 12;
/** Shares tried, each a tenth of the last, while P is not seen to fall nearby. */
const contractions = 40;
/** A share where P falls is nearby if it is at least this part of one where it rises. */
const nearby = 1e-3;

/**
 * A share between `low`, where a convex P falls, and `high`, where it rises, whose descent is
 * within the goals; where none is found in time, the largest at which P was seen to fall, hence no
 * higher than at 0. The first step may be too long by many orders of magnitude (features of a large
 * scale, a loss that rises like e^u) for false position to find them: then tenths of it are tried.
 */
export function findFlat(
  descent: (share: number) => number,
  low: Point,
  high: Point,
  [least, most]: readonly [number, number],
): number {
  const middle = 0.5 * (least + most);
  const reach = 0.5 * (most - least);
  let falling = low;
  let rising = high;
  let last = high;
  const off = (share: number) => {
    last = [share, descent(share)];
    if (last[1] >= middle && share > falling[0]) falling = last;
    if (last[1] < middle && share < rising[0]) rising = last;
    return last[1] - middle;
  };
  const search = () => {
    const [a, b] = [falling, rising];
    rootOfFalling(off, [a[0], a[1] - middle], [b[0], b[1] - middle], reach, searchSteps);
    return Math.abs(last[1] - middle) <= reach;
  };
  if (search()) return last[0];
  const lost = () => falling[0] <= nearby * rising[0];
  if (!lost()) return falling[0];
  for (let k = 0; k < contractions && lost(); k++) off(rising[0] / 10);
  return !lost() && search() ? last[0] : falling[0];
}
