/** Where the slope of a piecewise quadratic function of one number jumps, and by how much. */
export interface Kink {
  readonly at: number;
  readonly jump: number;
  /** The weight that is 0 there. */
  readonly who: number;
}

export interface Minimum {
  readonly share: number;
  /** How far the function falls. */
  readonly fall: number;
  /** The weight at whose kink it ends, or −1. */
  readonly hit: number;
}

/**
 * The minimum over b ≥ 0 of slope · b + curve · b²/2, where the slope jumps up at the kinks. Sorts the
 * kinks.
 */
export function kinkedMinimum(slope: number, curve: number, kinks: Kink[]): Minimum {
  if (!(slope < 0)) return { share: 0, fall: 0, hit: -1 };
  kinks.sort((a, b) => a.at - b.at || a.who - b.who);
  let [share, fall, steep] = [0, 0, slope];
  for (const { at, jump, who } of kinks) {
    const next = steep + curve * (at - share);
    if (next >= 0) break;
    fall -= 0.5 * (steep + next) * (at - share);
    share = at;
    steep = next + jump;
    if (steep >= 0) return { share, fall, hit: who };
  }
  if (!(curve > 0)) return { share, fall, hit: -1 };
  const step = -steep / curve;
  return { share: share + step, fall: fall + 0.5 * step * step * curve, hit: -1 };
}
