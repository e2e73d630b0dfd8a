import { UsageError } from '../../errors.ts';
import { losses } from '../../losses/index.ts';
import { penalties } from '../../penalties/index.ts';
import type { Penalty } from '../../penalties/penalty.ts';
import type { Loss } from '../../problem/losses/loss.ts';

/** One of the problems that LIBLINEAR numbers with -s. */
export interface LiblinearSolver {
  /** What its model files call it. */
  readonly name: string;
  readonly loss: (epsilon: number) => Loss;
  readonly penalty: () => Penalty;
  /** What -e is when it is not given. */
  readonly stopping: number;
  /** Whether LIBLINEAR solves the dual problem, of which it prints minus the value. */
  readonly dual: boolean;
}

const { logistic, squaredHinge, hinge, squaredAbsolute, absolute } = losses;
const { l1, l2 } = penalties;

/** Several numbers stand for one problem solved in several ways; here one way serves them all. */
const solvers: Readonly<Record<number, LiblinearSolver>> = {
  0: { name: 'L2R_LR', loss: logistic, penalty: l2, stopping: 0.01, dual: false },
  1: { name: 'L2R_L2LOSS_SVC_DUAL', loss: squaredHinge, penalty: l2, stopping: 0.1, dual: true },
  2: { name: 'L2R_L2LOSS_SVC', loss: squaredHinge, penalty: l2, stopping: 0.01, dual: false },
  3: { name: 'L2R_L1LOSS_SVC_DUAL', loss: hinge, penalty: l2, stopping: 0.1, dual: true },
  5: { name: 'L1R_L2LOSS_SVC', loss: squaredHinge, penalty: l1, stopping: 0.01, dual: false },
  6: { name: 'L1R_LR', loss: logistic, penalty: l1, stopping: 0.01, dual: false },
  7: { name: 'L2R_LR_DUAL', loss: logistic, penalty: l2, stopping: 0.1, dual: true },
  11: {
    name: 'L2R_L2LOSS_SVR',
    loss: (epsilon) => squaredAbsolute({ epsilon }),
    penalty: l2,
    stopping: 0.0001,
    dual: false,
  },
  12: {
    name: 'L2R_L2LOSS_SVR_DUAL',
    loss: (epsilon) => squaredAbsolute({ epsilon }),
    penalty: l2,
    stopping: 0.1,
    dual: true,
  },
  13: {
    name: 'L2R_L1LOSS_SVR_DUAL',
    loss: (epsilon) => absolute({ epsilon }),
    penalty: l2,
    stopping: 0.1,
    dual: true,
  },
};

/** Those that a separable penalty and a sum of losses, each of one score, cannot express. */
const refusals: Readonly<Record<number, string>> = {
  4: 'the SVM of Crammer and Singer couples the scores of all classes in one loss; here every class has a problem of its own (-s 1 or -s 3 train one against the rest)',
  21: 'the one-class SVM is not a sum of losses and a separable penalty: its threshold is part of the problem, and its rows have no labels',
};

export function liblinearSolver(type: number): LiblinearSolver {
  const solver = solvers[type];
  if (solver) return solver;
  const reason = refusals[type] ?? `wanted one of ${Object.keys(solvers).join(', ')}`;
  throw new UsageError(`-s ${type}: ${reason}`);
}
