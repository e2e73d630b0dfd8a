/**
 * The family of all penalties here: a sum over the weights of
 *
 *   φ(w)         = l1 |w| + (l2/2) w²  for low ≤ w ≤ high, else ∞
 *   prox_tφ(w)   = clip(S(w, t l1) / (1 + t l2)),   clip to the box, S the soft threshold
 *   φ*(s)        = w (e − (l2/2) w),   e = S(s, l1), at the w of the box that attains it:
 *                  clip(e/l2) for l2 > 0, else the end of the box that e points to, 0 for e = 0
 *
 * Without l2 the conjugate is infinite where e points to a side without an end.
 */
import { UsageError } from '../../errors.ts';
import { clamp, softThreshold } from '../../math/scalars.ts';

/**
 * A penalty of this family. Kernels need its four numbers and no call; the functions are what they
 * compute, which test/laws ties together. λ and per-feature factors are applied by the objective.
 */
export interface Penalty extends Bounds {
  readonly name: string;
  readonly l1: number;
  readonly l2: number;
  /** φ(w) */
  value(w: number): number;
  /** An element of ∂φ(w), 0 at w = 0; of no meaning where φ(w) is infinite. */
  subgradient(w: number): number;
  /** argmin_x { t·φ(x) + ½ (x − w)² }, t ≥ 0. */
  prox(w: number, t: number): number;
  /** φ*(s) = sup_w { s w − φ(w) }; Infinity outside the domain. */
  conjugate(s: number): number;
}

/** The ends of the box that weights are in, low ≤ 0 ≤ high; none unless given. */
export interface Bounds {
  readonly low?: number;
  readonly high?: number;
}

export function separablePenalty(name: string, l1: number, l2: number, box?: Bounds): Penalty {
  const { low = -Infinity, high = Infinity } = box ?? {};
  return Object.freeze({
    name,
    l1,
    l2,
    ...(box && { low, high }),
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

export function l1Penalty(): Penalty {
  return separablePenalty('l1', 1, 0);
}

export function l2Penalty(): Penalty {
  return separablePenalty('l2', 0, 1);
}

/** φ(w) = ρ |w| + ½ (1 − ρ) w² with ρ = l1Ratio, 0 < ρ < 1; scikit-learn's `l1_ratio`. */
export function elasticNet({ l1Ratio = 0.5 }: { l1Ratio?: number | undefined } = {}): Penalty {
  if (!(l1Ratio > 0 && l1Ratio < 1)) {
    throw new UsageError(
      `penalty 'elastic-net': l1Ratio is ${String(l1Ratio)}; it must lie between 0 and 1 ` +
        "(penalties 'l2' and 'l1' are its ends)",
    );
  }
  return separablePenalty('elastic-net', l1Ratio, 1 - l1Ratio);
}

/** The penalty with its weights in [low, high]; of two boxes the part they share. */
export function bounded(penalty: Penalty, bounds: Bounds): Penalty {
  const { name, l1, l2 } = penalty;
  // Without the sign that a zero can have.
  const low = Math.max(bounds.low ?? -Infinity, penalty.low ?? -Infinity) + 0;
  const high = Math.min(bounds.high ?? Infinity, penalty.high ?? Infinity) + 0;
  if (!(low <= 0 && high >= 0)) {
    const change = low <= 0 ? 'an upper bound of at least 0' : 'a lower bound of at most 0';
    const box = `[${low}, ${high}]`.replaceAll('Infinity', '∞');
    throw new UsageError(
      `weights are bounded to ${box}, without 0, the weight of a feature that does not count: give ${change}`,
    );
  }
  if (low === -Infinity && high === Infinity) return penalty;
  return separablePenalty(name, l1, l2, { low, high });
}

export function nonNegative(penalty: Penalty): Penalty {
  return bounded(penalty, { low: 0 });
}

const probes = [-100, -1, -0.01, 0.01, 1, 100];

/** Why solvers cannot train with a penalty; undefined if its value is what its numbers give. */
export function penaltyIncompatibility(penalty: Penalty): string | undefined {
  const { name, l1, l2 } = penalty;
  const family = 'solvers compute with l1 |w| + (l2/2) w² and a box';
  const intro = `penalty '${name}' is not compatible with any solver: ${family}`;
  if (!(l1 >= 0 && l2 >= 0 && l1 + l2 > 0 && l1 + l2 < Infinity)) {
    return `${intro}; its l1 is ${l1} and its l2 is ${l2}`;
  }
  const inFamily = separablePenalty(name, l1, l2, penalty);
  const differs = (w: number) => {
    const [found, expected] = [penalty.value(w), inFamily.value(w)];
    return found !== expected && !(Math.abs(found - expected) <= 1e-9 * expected);
  };
  const w = probes.find(differs);
  if (w === undefined) return undefined;
  return `${intro}, which is ${inFamily.value(w)} at w = ${w} where its value is ${penalty.value(w)}`;
}

/** The ends of a penalty's box, undefined where it has none. */
export function boundsOf({ low = -Infinity, high = Infinity }: Bounds) {
  return low > -Infinity || high < Infinity ? { low, high } : undefined;
}

/** The ends that are numbers, as in files. */
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
