import type { Metrics } from '../../model/metrics/evaluate.ts';
import type { StopReason } from '../../train/events.ts';
import type { TrainReport } from '../../train/options/options.ts';
import {
  type Colours,
  formatBytes,
  formatCount,
  formatGapUp,
  formatNumber,
  formatPercent,
  formatPercentUp,
  formatSeconds,
  plural,
} from '../format.ts';
import { describeEffort } from './effort.ts';

export interface SavedModel {
  readonly path: string;
  readonly bytes: number;
}

/** What `dso train` says at the end: what was solved, how well, why it ended, where it is. */
export function summarize(
  report: TrainReport,
  tolerance: number,
  saved: SavedModel,
  colours: Colours,
): string {
  const { bold, dim, green, yellow } = colours;
  const converged = report.stopped === 'converged';
  const lines = [
    `${bold(`${report.loss} loss, ${report.penalty} penalty`)}, ` +
      `lambda ${formatNumber(report.lambda)}: ${plural(report.rows, 'row')} × ` +
      `${plural(report.columns, 'column')}, ${formatCount(report.nonzeros)} non-zeros`,
    `${report.solver} solver on ${describeCrew(report)}, ` +
      `${describeStop(report.stopped, tolerance)} after ${plural(report.epochs, 'epoch')} ` +
      dim(`(${describeTimes(report)})`),
    (converged ? green : yellow)(describeCertificate(report.relativeGap)),
  ];
  const effort = describeEffort(report);
  if (effort) lines.push(dim(effort));
  if (report.test) lines.push(describeTest(report.test));
  const size = saved.path === '-' ? '' : dim(` (${formatBytes(saved.bytes)})`);
  lines.push(`model in ${bold(saved.path === '-' ? 'standard output' : saved.path)}${size}`);
  return lines.join('\n');
}

function describeCrew({ threads, ranks }: TrainReport): string {
  const each = plural(threads, 'thread');
  return ranks === undefined ? each : `${plural(ranks, 'rank')} of ${each}`;
}

function describeStop(stopped: StopReason, tolerance: number): string {
  switch (stopped) {
    case 'converged':
      return `converged to the tolerance ${formatNumber(tolerance)}`;
    case 'early-stop':
      return 'stopped early, since the test error stopped falling,';
    case 'epoch-limit':
      return `stopped by the epoch limit, above the tolerance ${formatNumber(tolerance)},`;
    case 'time-limit':
      return `stopped by the time limit, above the tolerance ${formatNumber(tolerance)},`;
    case 'stream':
      return 'stopped by the end of the stream';
    case 'imported':
      return 'trained by another program';
    case 'interrupted':
      return 'interrupted';
  }
}

function describeTimes({ seconds }: TrainReport): string {
  return `read ${formatSeconds(seconds.read)}, train ${formatSeconds(seconds.train)}`;
}

/** A gap of g relative to P(w) bounds (P(w) − P*) / P* by g / (1 − g). */
export function describeCertificate(relativeGap: number): string {
  if (!(relativeGap < 1)) return 'no certificate yet: no useful lower bound found';
  if (relativeGap > 0.5) {
    return `no useful bound yet (relative duality gap ${formatGapUp(relativeGap)})`;
  }
  return (
    `within ${formatPercentUp(relativeGap / (1 - relativeGap))} of the optimum ` +
    `(certified: relative duality gap ${formatGapUp(relativeGap)})`
  );
}

function describeTest(test: Metrics): string {
  const rows = plural(test.rows, 'row');
  switch (test.task) {
    case 'regression':
      return `test mean squared error ${formatNumber(test.mse)} on ${rows}`;
    case 'multi-label':
      return `test Hamming loss ${formatPercent(test.hammingLoss)}, micro F1 ${formatNumber(test.microF1)} on ${rows}`;
    case 'multi-class':
      return `test error ${formatPercent(test.error)}, macro F1 ${formatNumber(test.macroF1)} on ${rows}`;
    case 'classification': {
      const auprc = test.auprc === null ? '' : `, AUPRC ${formatNumber(test.auprc)}`;
      return `test error ${formatPercent(test.error)}${auprc} on ${rows}`;
    }
  }
}
