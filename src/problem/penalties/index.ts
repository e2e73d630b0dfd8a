/**
 * The penalties by name, as values: `penalties.elasticNet({ l1Ratio: 0.2 })`; with bounds on the
 * weights: `penalties.nonNegative(penalties.l1())`. One entry describes each.
 */
import { UsageError } from '../../errors.ts';
import { type CamelCase, camelCase, unknownName } from '../names.ts';
import {
  bounded,
  elasticNet,
  l1Penalty,
  l2Penalty,
  nonNegative,
  type Penalty,
} from './separable.ts';

export { describePenalty, type Penalty, penaltyIncompatibility } from './separable.ts';

export interface PenaltyOptions {
  readonly l1Ratio?: number | undefined;
}

export interface PenaltyEntry {
  make(options?: PenaltyOptions): Penalty;
  readonly parameters: readonly (keyof PenaltyOptions)[];
  /** The formula, for help and documentation. */
  readonly doc: string;
}

const entries = {
  l2: { make: l2Penalty, parameters: [], doc: '½ w² (ridge)' },
  l1: { make: l1Penalty, parameters: [], doc: '|w| (LASSO)' },
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
