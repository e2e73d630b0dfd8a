import type { Kernels } from '../../src/solvers/kernels/kernels.ts';
import type { Workload } from './workload.ts';

/** A kernel to measure. */
export interface Subject {
  readonly title: string;
  /** The same loop in kernels.c. */
  readonly command: string;
  readonly loss: 'hinge' | 'logistic';
  /** Whether C must give the same bits: not where it calls its library's log or exp. */
  readonly exact: boolean;
  /** One pass over all non-zeros. */
  pass(kernels: Kernels, workload: Workload): void;
}

/** Units per call: short calls let the engine replace a kernel by a faster one. */
const chunk = 1024;

function eachChunk(order: Int32Array, work: (begin: number, end: number) => void): void {
  for (let begin = 0; begin < order.length; begin += chunk) {
    work(begin, Math.min(order.length, begin + chunk));
  }
}

function saddle(loss: Subject['loss'], adagrad: boolean, svrg: boolean): Subject {
  const suffix = svrg ? 'Svrg' : adagrad ? 'Adagrad' : '';
  return {
    title: `saddleRows ${loss}${adagrad ? ', AdaGrad' : ''}${svrg ? ', SVRG' : ''}`,
    command: `saddle${loss === 'hinge' ? 'Hinge' : 'Logistic'}${suffix}`,
    loss,
    exact: loss === 'hinge',
    pass(kernels, workload) {
      const { rowOrder, lines } = workload.arrays;
      const { rowCell, saddleRows } = workload;
      const step = workload.saddleStep(adagrad, svrg);
      eachChunk(rowOrder, (begin, end) =>
        kernels.saddleRows(rowCell, rowOrder, begin, end, saddleRows, lines, step),
      );
    },
  };
}

const sweepRows: Subject = {
  title: 'sweepRows hinge',
  command: 'sweepRows',
  loss: 'hinge',
  exact: true,
  pass(kernels, { arrays, rowCell, rowState, rowStep }) {
    const { rowOrder, weights, stats } = arrays;
    eachChunk(rowOrder, (begin, end) =>
      kernels.sweepRows(rowCell, rowOrder, begin, end, rowState, rowStep, weights, stats),
    );
  },
};

const gather: Subject = {
  title: 'gather',
  command: 'gather',
  loss: 'hinge',
  exact: true,
  pass(kernels, { arrays, rowCell }) {
    const { rowOrder, weights, margins } = arrays;
    eachChunk(rowOrder, (begin, end) =>
      kernels.gather(rowCell, rowOrder, begin, end, true, weights, margins),
    );
  },
};

const scatter: Subject = {
  title: 'scatter',
  command: 'scatter',
  loss: 'hinge',
  exact: true,
  pass(kernels, { arrays, rowCell, rowChanges: { units, deltas } }) {
    eachChunk(units, (begin, end) => {
      const pending = { units: units.subarray(begin, end), deltas: deltas.subarray(begin, end) };
      kernels.scatter(rowCell, pending, end - begin, arrays.weights);
    });
  },
};

const gatherColumns: Subject = {
  title: 'gatherColumns logistic',
  command: 'gatherColumns',
  loss: 'logistic',
  exact: false,
  pass(kernels, { arrays, columnCell, marginState, columnState, numbers }) {
    const { columnOrder } = arrays;
    eachChunk(columnOrder, (begin, end) =>
      kernels.gatherColumns(
        columnCell,
        columnOrder,
        begin,
        end,
        true,
        marginState,
        columnState,
        numbers.damping,
      ),
    );
  },
};

const scatterColumns: Subject = {
  title: 'scatterColumns',
  command: 'scatterColumns',
  loss: 'logistic',
  exact: true,
  pass(kernels, { columnCell, marginState, columnChanges: { units, deltas } }) {
    eachChunk(units, (begin, end) => {
      const pending = { units: units.subarray(begin, end), deltas: deltas.subarray(begin, end) };
      kernels.scatterColumns(columnCell, pending, end - begin, marginState);
    });
  },
};

export const subjects: readonly Subject[] = [
  saddle('hinge', false, false),
  saddle('hinge', true, false),
  saddle('hinge', true, true),
  sweepRows,
  gather,
  scatter,
  saddle('logistic', false, false),
  saddle('logistic', true, false),
  saddle('logistic', true, true),
  gatherColumns,
  scatterColumns,
];
