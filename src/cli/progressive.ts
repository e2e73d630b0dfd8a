import { UsageError } from '../errors.ts';
import type { ProgressiveReport } from '../online/progress.ts';
import { formatCount, formatPercent } from '../reporting/format.ts';
import { dataFlagNames } from './definitions/data-options.ts';
import type { ProgressiveFlags } from './definitions/progressive.ts';
import type { TrainFlags } from './definitions/train.ts';

export type LearnFlags = TrainFlags & ProgressiveFlags;

/** What a single pass over rows that are not kept can make use of. */
const meaningful = [
  'progressive',
  'snapshotEvery',
  'reportEvery',
  'output',
  'json',
  'quiet',
  'ui',
  'uiPort',
  'open',
  'runs',
  'name',
  'record',
  'loss',
  'epsilon',
  'delta',
  'smoothing',
  'quantile',
  'penalty',
  'l1Ratio',
  'lambda',
  'intercept',
  'solver',
  'step',
  'stepSize',
  ...dataFlagNames,
] as const satisfies readonly (keyof LearnFlags)[];

/** Options that have a value even if nobody gives them. */
const defaults: Readonly<Record<string, unknown>> = {
  tolerance: 1e-3,
  epochs: 10_000,
  svrg: true,
  boxes: true,
  shrink: true,
  peerTimeout: 60,
};

/** Refuses options that would have no effect, in words. */
export function checkProgressiveFlags(flags: LearnFlags): void {
  for (const [name, value] of Object.entries(flags)) {
    if (value === undefined || value === defaults[name]) continue;
    if ((meaningful as readonly string[]).includes(name)) continue;
    const option = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw new UsageError(
      `--${value === false ? 'no-' : ''}${option}: not with --progressive, which sees every row once, in its order, and keeps none`,
    );
  }
  if (flags.solver !== undefined && flags.solver !== 'sgd') {
    throw new UsageError(`--solver ${flags.solver}: --progressive is stochastic gradient descent`);
  }
  if (flags.step !== undefined && flags.step !== 'adagrad') {
    throw new UsageError(`--step ${flags.step}: --progressive has AdaGrad steps alone`);
  }
}

/** Lines like those of Vowpal Wabbit: how well rows were predicted before they were learned. */
export function progressiveHeader(isClassifier: boolean): string {
  const error = isClassifier ? 'error' : 'mse';
  return ['rows', 'loss', 'since last', error, 'since last']
    .map((title, place) => title.padStart(place === 0 ? 14 : 13))
    .join('');
}

export function progressiveLine(report: ProgressiveReport, isClassifier: boolean): string {
  const number = (value: number) => value.toPrecision(6);
  const error = isClassifier ? formatPercent : number;
  return [
    formatCount(report.rows).padStart(14),
    ...[
      number(report.loss),
      number(report.recentLoss),
      error(report.error),
      error(report.recentError),
    ].map((text) => text.padStart(13)),
  ].join('');
}
