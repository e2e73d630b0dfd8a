import { losses } from '../src/problem/losses/index.ts';
import { penalties } from '../src/problem/penalties/index.ts';
import { solvers } from '../src/solvers/index.ts';
import type { TrainOptions } from '../src/train/options/options.ts';

/** Rows that large data repeats. */
export const shape = { rows: 50_000, columns: 50_000, perRow: 400 };
export const epochs = 3;

interface LargeMethod {
  /** Of training memory, per non-zero. */
  readonly bytes: number;
  readonly options: TrainOptions;
}

const hinge = { loss: losses.hinge(), lambda: 1e-6 };
const logistic = { loss: losses.logistic(), lambda: 1e-6 };
const l1 = { loss: losses.logistic(), lambda: 1e-5, penalty: penalties.l1() };

export const methods: Readonly<Record<string, LargeMethod>> = {
  'ring rows by stages': {
    bytes: 8.4,
    options: { ...hinge, solver: solvers.ring({ mode: 'rows' }) },
  },
  'ring rows, 8 rotations': {
    bytes: 8.4,
    options: { ...hinge, solver: solvers.ring({ mode: 'rows', rotations: 8 }) },
  },
  'ring columns': {
    bytes: 8.3,
    options: { ...logistic, solver: solvers.ring({ mode: 'columns' }) },
  },
  dso: { bytes: 8.4, options: { ...hinge, solver: solvers.dso() } },
  lbfgs: { bytes: 8.3, options: { ...logistic, solver: solvers.lbfgs() } },
  newton: { bytes: 16.4, options: { ...logistic, solver: solvers.newton() } },
  'working-set': { bytes: 16.4, options: { ...l1, solver: solvers.workingSet() } },
};

export interface LargeEpoch {
  readonly nonzeros: number;
  /** Most bytes that were resident. */
  readonly resident: number;
  readonly passes: number;
  readonly primal: number;
  /** Seconds at the end of each epoch. */
  readonly marks: readonly number[];
  /** Processor time of all threads until then. */
  readonly processor: readonly number[];
}
