import { losses } from '../../src/problem/losses/index.ts';
import type { Loss } from '../../src/problem/losses/loss.ts';
import { type Penalty, penalties } from '../../src/problem/penalties/index.ts';

export interface Pair {
  readonly title: string;
  readonly loss: Loss;
  readonly penalty: Penalty;
  /** A linear program: neither the loss nor the penalty has curvature. */
  readonly linear: boolean;
  /** More for linear programs, where the epochs of saddle solvers grow with 1/λ² or so. */
  readonly lambda: number;
}

const allLosses = [
  losses.hinge(),
  losses.squaredHinge(),
  losses.smoothedHinge({ smoothing: 0.5 }),
  losses.logistic(),
  losses.square(),
  losses.huber({ delta: 0.7 }),
  losses.absolute({ epsilon: 0.1 }),
  losses.squaredAbsolute({ epsilon: 0.1 }),
  losses.quantile({ quantile: 0.3 }),
  losses.poisson(),
];

const allPenalties = [penalties.l2(), penalties.l1(), penalties.elasticNet({ l1Ratio: 0.5 })];

/** Every loss with every penalty. */
export const pairs: readonly Pair[] = allLosses.flatMap((loss) =>
  allPenalties.map((penalty) => {
    const linear = !loss.smooth && !(penalty.l2 > 0);
    const title = `${loss.name} + ${penalty.name}`;
    return { title, loss, penalty, linear, lambda: linear ? 0.06 : 0.02 };
  }),
);
