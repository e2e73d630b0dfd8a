import type { Comparison, Run } from '../../../../../src/train/compare/comparison.ts';
import type { EpochEvent } from '../../../../../src/train/events.ts';

/** Epochs whose gap shrinks by `factor` each, a tenth of a second apart. */
export function madeUpEvents(epochs: number, factor: number): EpochEvent[] {
  return Array.from({ length: epochs }, (_, index) => {
    const gap = factor ** (index + 1);
    return {
      epoch: index + 1,
      seconds: (index + 1) / 10,
      passes: 2 * (index + 1),
      primal: 0.5 + gap / 2,
      dual: 0.5 - gap / 2,
      relativeGap: gap / (0.5 + gap / 2),
      testError: 0.1 + gap / 10,
      effort: { computing: 1, waiting: 0, communicating: 0, bytes: 0 },
    };
  });
}

export function madeUpRun(solver: string, events: EpochEvent[], changes: Partial<Run> = {}): Run {
  const last = events[events.length - 1];
  return {
    loss: 'hinge',
    lambda: 1e-5,
    solver,
    task: 'classification',
    settings: { name: 'auto' },
    state: 'finished',
    notices: [],
    started: '2026-01-01T00:00:00.000Z',
    events,
    report: {
      solver: 'ring-rows',
      loss: 'hinge',
      penalty: 'l2',
      lambda: 1e-5,
      rows: 100,
      columns: 10,
      nonzeros: 500,
      grid: 1,
      threads: 1,
      seed: 1,
      epochs: last.epoch,
      passes: last.passes,
      seconds: { read: 0, partition: 0, train: last.seconds, total: last.seconds },
      primal: last.primal,
      dual: last.dual,
      gap: last.primal - last.dual,
      relativeGap: last.relativeGap,
      effort: { computing: 1, waiting: 0, communicating: 0, bytes: 0 },
      stopped: last.relativeGap <= 1e-3 ? 'converged' : 'epoch-limit',
      imbalance: { rows: 0, columns: 0, nonzeros: 0 },
    },
    ...changes,
  };
}

/** A run that came to nothing. */
export function madeUpFailure(solver: string, state: 'refused' | 'failed', reason: string): Run {
  const { report: _report, ...run } = madeUpRun(solver, madeUpEvents(1, 0.5));
  return { ...run, events: [], state, reason };
}

export function madeUpComparison(runs: readonly Run[]): Comparison {
  return {
    format: 1,
    title: 'Made up <data> & "more"',
    version: '1.2.3',
    commands: ['dso compare a.svm --solvers dso,sgd'],
    machine: {
      processor: 'Abacus',
      cores: 2,
      memory: 2 ** 33,
      platform: 'linux x64',
      node: '24.0.0',
    },
    data: { name: 'folder/a.svm', rows: 100, columns: 10, nonzeros: 500, hash: 'aa' },
    test: null,
    conditions: {
      penalty: 'l2',
      intercept: false,
      penaltyFactors: null,
      tolerance: 1e-3,
      epochs: 100,
      time: 30,
      threads: 2,
      grid: 4,
      seed: 1,
      auprc: false,
      testOn: 'best',
      warmUp: true,
    },
    runs,
  };
}
