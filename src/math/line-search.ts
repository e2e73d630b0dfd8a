import { rootOfFalling } from './root.ts';

const searchSteps = 12;
/** Shares tried short of the end, each a tenth of the last, as long as nothing falls nearby. */
const contractions = 40;
/** A share where P falls that is so much smaller than one where it rises tells nothing. */
const nearby = 1e-3;

/** A share of a step, and how steeply the function falls there. */
type Point = readonly [share: number, descent: number];

/**
 * A share between `low`, where a convex P falls, and `high`, where it rises, whose descent lies
 * within the goals; where none is found in time, the largest at which P was seen to fall, hence no
 * higher than at 0. A step too long by many orders of magnitude, such as features of a large
 * scale or a loss that rises like e^u make the first one, hides these shares from false position:
 * then they are looked for at tenths of it.
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
    rootOfFalling(off, a[0], a[1] - middle, b[0], b[1] - middle, reach, searchSteps);
    return Math.abs(last[1] - middle) <= reach;
  };
  if (search()) return last[0];
  const lost = () => falling[0] <= nearby * rising[0];
  if (!lost()) return falling[0];
  for (let k = 0; k < contractions && lost(); k++) off(rising[0] / 10);
  return !lost() && search() ? last[0] : falling[0];
}
