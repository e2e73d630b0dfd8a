import { errorOf } from '../metrics/error.ts';
import type { Run } from './comparison.ts';

/** Why a run ended, in words. */
export function describeOutcome({ state, reason, report }: Run): string {
  if (state === 'refused' || state === 'failed') return `${state}: ${reason}`;
  switch (report?.stopped) {
    case 'converged':
      return 'converged';
    case 'epoch-limit':
      return 'epoch limit';
    case 'time-limit':
      return 'time limit';
    default:
      return 'interrupted';
  }
}

/** Error rate or mean squared error on the test rows at the end. */
export function finalTestError({ report }: Run): number | undefined {
  return report?.test && errorOf(report.test);
}

export function finalAuprc({ report }: Run): number | undefined {
  const test = report?.test;
  return test?.task === 'classification' ? (test.auprc ?? undefined) : undefined;
}

/** Seconds of training on the clock of the events. */
export function trainingSeconds({ events, report }: Run): number | undefined {
  return events.at(-1)?.seconds ?? report?.seconds.train;
}
