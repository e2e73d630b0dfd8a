/**
 * The penalties by name, as values: `penalties.elasticNet({ l1Ratio: 0.2 })`; with bounds on the
 * weights: `penalties.nonNegative(penalties.l1())`.
 */
import { UsageError } from '../errors.ts';
import { closest } from '../math/closest.ts';
import { bounded, nonNegative } from '../problem/penalties/separable.ts';
import { elasticNet } from './elastic-net.ts';
import { l1 } from './l1.ts';
import { l2 } from './l2.ts';
import type { Penalty } from './penalty.ts';

export { describePenalty } from '../problem/penalties/separable.ts';

export const penaltyNames = ['l2', 'l1', 'elastic-net'] as const;

export type PenaltyName = (typeof penaltyNames)[number];

export const penalties = Object.freeze({ l2, l1, elasticNet, bounded, nonNegative });

/** Why there is no group LASSO; docs/mathematics.md has the whole story. */
const noGroups =
  "penalty 'group-lasso' is not to be had: every solver here rests on a penalty that is a sum over " +
  'single weights, and the norm of a group is not; use elastic-net, which keeps correlated ' +
  'features together, or l1';

/** The penalty the command line calls `name`; only the elastic net takes `l1Ratio`. */
export function penaltyByName(name: string, l1Ratio?: number): Penalty {
  if (name === 'elastic-net') return elasticNet(l1Ratio === undefined ? {} : { l1Ratio });
  if (name === 'l1' || name === 'l2') {
    if (l1Ratio === undefined) return name === 'l1' ? l1() : l2();
    throw new UsageError(
      `penalty '${name}' takes no l1Ratio, but was given ${l1Ratio}; use 'elastic-net'`,
    );
  }
  if (name === 'group-lasso') throw new UsageError(noGroups);
  const similar = closest(name, penaltyNames);
  const hint = similar === undefined ? '' : `; did you mean '${similar}'?`;
  throw new UsageError(`unknown penalty '${name}'${hint} (penalties: ${penaltyNames.join(', ')})`);
}
