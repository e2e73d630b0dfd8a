import type { Metrics } from '../model/metrics/evaluate.ts';

/** The one number by which models of a task are told apart, less being better. */
export function errorOf(metrics: Metrics): number {
  switch (metrics.task) {
    case 'regression':
      return metrics.mse;
    case 'multi-label':
      return metrics.hammingLoss;
    default:
      return metrics.error;
  }
}
