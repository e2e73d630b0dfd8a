import { UsageError } from '../../errors.ts';
import { clamp, softThreshold } from '../../math/scalars.ts';
import type { Penalty } from '../../penalties/penalty.ts';

export interface Bounds {
  readonly low?: number;
  readonly high?: number;
}

/**
 * A penalty whose weights stay in [low, high], a box that holds 0:
 *
 *   φ(w)       = l1 |w| + (l2/2) w²  for low ≤ w ≤ high, else ∞
 *   prox_tφ(w) = clip(S(w, t l1) / (1 + t l2)),   clip to the box, S the soft threshold
 *   φ*(s)      = w (e − (l2/2) w),   e = S(s, l1), at the w of the box that attains it:
 *                clip(e/l2) for l2 > 0, else the end of the box that e points to, 0 for e = 0
 *
 * Without l2 the conjugate is infinite where e points to a side without an end. A penalty that is
 * bounded already keeps what the two boxes share.
 */
export function bounded(penalty: Penalty, bounds: Bounds): Penalty {
  const { name, l1, l2 } = penalty;
  // Without the sign that a zero can have.
  const low = Math.max(bounds.low ?? -Infinity, penalty.low ?? -Infinity) + 0;
  const high = Math.min(bounds.high ?? Infinity, penalty.high ?? Infinity) + 0;
  checkBounds(low, high);
  if (low === -Infinity && high === Infinity) return penalty;
  return Object.freeze({
    name,
    l1,
    l2,
    low,
    high,
    value: (w: number) => (w >= low && w <= high ? l1 * Math.abs(w) + 0.5 * l2 * w * w : Infinity),
    subgradient: (w: number) => l1 * Math.sign(w) + l2 * w,
    prox: (w: number, t: number) => clamp(softThreshold(w, t * l1) / (1 + t * l2), low, high),
    conjugate: (s: number) => {
      const excess = softThreshold(s, l1);
      if (excess === 0) return 0;
      const end = excess > 0 ? high : low;
      const w = l2 > 0 ? clamp(excess / l2, low, high) : end;
      if (w === 0) return 0;
      return l2 > 0 ? w * (excess - 0.5 * l2 * w) : w * excess;
    },
  });
}

/** The penalty with no weight below 0. */
export function nonNegative(penalty: Penalty): Penalty {
  return bounded(penalty, { low: 0 });
}

function checkBounds(low: number, high: number): void {
  if (low <= 0 && high >= 0) return;
  throw new UsageError(
    `weights are bounded to [${low}, ${high}]; the box must hold 0, the weight of a feature ` +
      'that does not count: a lower bound is at most 0, an upper bound at least 0',
  );
}

/** The ends of a penalty's box, undefined where it has none. */
export function boundsOf({
  low = -Infinity,
  high = Infinity,
}: Bounds): Required<Bounds> | undefined {
  return low > -Infinity || high < Infinity ? { low, high } : undefined;
}

/** The ends that are numbers, as files keep them. */
export function finiteBounds({ low = -Infinity, high = Infinity }: Bounds): Bounds {
  return { ...(low > -Infinity && { low }), ...(high < Infinity && { high }) };
}

/** The penalty in words: its name and, if it has one, its box. */
export function describePenalty(penalty: Bounds & { readonly name: string }): string {
  const bounds = boundsOf(penalty);
  if (bounds === undefined) return penalty.name;
  const { low, high } = bounds;
  if (high === Infinity) return `${penalty.name} (w ≥ ${low})`;
  return `${penalty.name} (${low === -Infinity ? '' : `${low} ≤ `}w ≤ ${high})`;
}
