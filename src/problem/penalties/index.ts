/**
 * The penalties by name, as values: `penalties.elasticNet({ l1Ratio: 0.2 })`; with bounds on the
 * weights: `penalties.nonNegative(penalties.l1())`. All are a sum over the weights of
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
import { type CamelCase, camelCase, unknownName } from '../names.ts';

/**
 * A penalty of this family. Kernels need its four numbers and no call; the functions are what they
 * compute, which test/laws ties together. λ and per-feature factors are applied by the objective.
 */
export interface Penalty {
  readonly name: string;
  readonly l1: number;
  readonly l2: number;
  /** The ends of the box that weights are kept in, low ≤ 0 ≤ high; none unless given. */
  readonly low?: number;
  readonly high?: number;
  /** φ(w) */
  value(w: number): number;
  /** An element of ∂φ(w), 0 at w = 0; of no meaning where φ(w) is infinite. */
  subgradient(w: number): number;
  /** argmin_x { t·φ(x) + ½ (x − w)² }, t ≥ 0. */
  prox(w: number, t: number): number;
  /** φ*(s) = sup_w { s w − φ(w) }; Infinity outside the domain. */
  conjugate(s: number): number;
}

export interface Bounds {
  readonly low?: number;
  readonly high?: number;
}

function separablePenalty(name: string, l1: number, l2: number, box?: Bounds): Penalty {
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

/** φ(w) = ρ |w| + ½ (1 − ρ) w² with ρ = l1Ratio, 0 < ρ < 1; scikit-learn's `l1_ratio`. */
function elasticNet({ l1Ratio = 0.5 }: PenaltyOptions = {}): Penalty {
  if (!(l1Ratio > 0 && l1Ratio < 1)) {
    throw new UsageError(
      `penalty 'elastic-net': l1Ratio is ${String(l1Ratio)}; it must lie between 0 and 1 ` +
        "(penalties 'l2' and 'l1' are its ends)",
    );
  }
  return separablePenalty('elastic-net', l1Ratio, 1 - l1Ratio);
}

/** The penalty with its weights in [low, high]; of two boxes the part they share. */
function bounded(penalty: Penalty, bounds: Bounds): Penalty {
  const { name, l1, l2 } = penalty;
  // Without the sign that a zero can have.
  const low = Math.max(bounds.low ?? -Infinity, penalty.low ?? -Infinity) + 0;
  const high = Math.min(bounds.high ?? Infinity, penalty.high ?? Infinity) + 0;
  if (!(low <= 0 && high >= 0)) {
    throw new UsageError(
      `weights are bounded to [${low}, ${high}]; the box must hold 0, the weight of a feature ` +
        'that does not count: a lower bound is at most 0, an upper bound at least 0',
    );
  }
  if (low === -Infinity && high === Infinity) return penalty;
  return separablePenalty(name, l1, l2, { low, high });
}

/** The penalty with no weight below 0. */
function nonNegative(penalty: Penalty): Penalty {
  return bounded(penalty, { low: 0 });
}

/** Options that some penalty has. */
export interface PenaltyOptions {
  readonly l1Ratio?: number | undefined;
}

export interface PenaltyEntry {
  make(options?: PenaltyOptions): Penalty;
  /** The options it takes. */
  readonly parameters: readonly (keyof PenaltyOptions)[];
  /** The formula, for help and documentation. */
  readonly doc: string;
}

const entries = {
  l2: { make: () => separablePenalty('l2', 0, 1), parameters: [], doc: '½ w² (ridge)' },
  l1: { make: () => separablePenalty('l1', 1, 0), parameters: [], doc: '|w| (LASSO)' },
  'elastic-net': {
    make: elasticNet,
    parameters: ['l1Ratio'],
    doc: 'ρ |w| + ½ (1 − ρ) w² with ρ = l1Ratio',
  },
} as const satisfies Readonly<Record<string, PenaltyEntry>>;

export type PenaltyName = keyof typeof entries;

export const penaltyNames = Object.keys(entries) as readonly PenaltyName[];

export function penaltyEntry(name: string): PenaltyEntry | undefined {
  return Object.hasOwn(entries, name) ? entries[name as PenaltyName] : undefined;
}

type Factories = {
  readonly [Name in PenaltyName as CamelCase<Name>]: (typeof entries)[Name]['make'];
};

export const penalties = Object.freeze({
  ...(Object.fromEntries(
    penaltyNames.map((name) => [camelCase(name), entries[name].make]),
  ) as Factories),
  bounded,
  nonNegative,
});

/** Why there is no group LASSO; docs/mathematics.md has the whole story. */
const noGroups =
  "penalty 'group-lasso' is not available: every solver here rests on a penalty that is a sum over " +
  'single weights, and the norm of a group is not; use elastic-net, which keeps correlated ' +
  'features together, or l1';

/** The penalty the command line calls `name`, with its options. */
export function penaltyByName(name: string, options: PenaltyOptions = {}): Penalty {
  const entry = penaltyEntry(name);
  if (entry === undefined) {
    if (name === 'group-lasso') throw new UsageError(noGroups);
    throw unknownName('penalty', 'penalties', name, penaltyNames);
  }
  for (const key of Object.keys(options) as (keyof PenaltyOptions)[]) {
    if (options[key] === undefined || entry.parameters.includes(key)) continue;
    const owner = penaltyNames.find((other) => penaltyEntry(other)?.parameters.includes(key));
    throw new UsageError(
      `penalty '${name}' takes no ${key}, but was given ${options[key]}; use '${owner}'`,
    );
  }
  return entry.make(options);
}

const probes = [-100, -1, -0.01, 0.01, 1, 100];

/**
 * What keeps solvers from training with a penalty, in words; undefined for one of the family. They
 * read its numbers, so its value must be what follows from them.
 */
export function penaltyIncompatibility(penalty: Penalty): string | undefined {
  const { name, l1, l2 } = penalty;
  const family = 'solvers compute with l1 |w| + (l2/2) w² and a box';
  const intro = `penalty '${name}' is not compatible with any solver: ${family}`;
  if (!(l1 >= 0 && l2 >= 0 && l1 + l2 > 0 && l1 + l2 < Infinity)) {
    return `${intro}; its l1 is ${l1} and its l2 is ${l2}`;
  }
  const inFamily = separablePenalty(name, l1, l2, penalty);
  const differs = (w: number) => {
    const [found, wanted] = [penalty.value(w), inFamily.value(w)];
    return found !== wanted && !(Math.abs(found - wanted) <= 1e-9 * wanted);
  };
  const w = probes.find(differs);
  if (w === undefined) return undefined;
  return `${intro}, which is ${inFamily.value(w)} at w = ${w} where its value is ${penalty.value(w)}`;
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
