import type { Metrics } from '../../model/metrics/evaluate.ts';
import { leastObjective, lossEntry } from '../../problem/losses/index.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import type { StopReason } from '../../train/events.ts';
import type { TrainReport } from '../../train/options/options.ts';
import {
  type Colours,
  dataSize,
  formatBytes,
  formatCount,
  formatGapUp,
  formatNumber,
  formatPercent,
  formatPercentUp,
  formatSeconds,
  lineText,
  plural,
  visibleText,
} from '../format.ts';

/** What `dso train` says at the end: what was solved, how well, why it ended, where it is. */
export function summarize(
  report: TrainReport,
  { loss: trained, tolerance }: { readonly loss?: Loss | undefined; readonly tolerance: number },
  saved: { readonly path: string; readonly bytes: number },
  { bold, dim, green, yellow }: Colours,
): string {
  const { loss, penalty, lambda, rows, columns, nonzeros, solver, stopped, epochs, test } = report;
  const { read, train } = report.seconds;
  const times = `(read ${formatSeconds(read)}, train ${formatSeconds(train)})`;
  const effort = describeEffort(report);
  const lines = [
    `${bold(`${loss} loss, ${penalty} penalty`)}, lambda ${formatNumber(lambda)}: ` +
      dataSize(rows, columns, nonzeros),
    `${solver} solver on ${describeThreads(report)}, ${describeStop(stopped, tolerance)} ` +
      `after ${plural(epochs, 'epoch')} ${dim(times)}`,
    (stopped === 'converged' ? green : yellow)(
      describeCertificate(report, leastObjective(trained ?? { name: loss })),
    ),
    ...(report.provedZeros === undefined
      ? []
      : [describeZeros(report, columns * (report.vectors ?? 1))]),
    ...(effort ? [dim(effort)] : []),
    ...(report.threshold === undefined
      ? []
      : [`threshold ${formatNumber(report.threshold)}, above which rows are positive`]),
    ...(test ? [`test ${testResult(test)} on ${plural(test.rows, 'row')}`] : []),
    saved.path === '-'
      ? `model in ${bold('standard output')}`
      : `model in ${bold(visibleText(saved.path))}${dim(` (${formatBytes(saved.bytes)})`)}`,
  ];
  return lines.join('\n');
}

/** "2 threads", "4 ranks of 2 threads" */
export function describeThreads({ threads, ranks }: Pick<TrainReport, 'threads' | 'ranks'>) {
  const each = plural(threads, 'thread');
  return ranks === undefined ? each : `${plural(ranks, 'rank')} of ${each}`;
}

function describeStop(stopped: StopReason, tolerance: number): string {
  const limit = formatNumber(tolerance);
  const texts: Readonly<Record<StopReason, string>> = {
    converged: `converged to the tolerance ${limit}`,
    precision: `stopped at the limits of double precision, above the tolerance ${limit},`,
    'no-progress': `stopped for lack of progress, above the tolerance ${limit},`,
    'early-stop': 'stopped early, since the test error stopped falling,',
    'epoch-limit': `stopped by the epoch limit, above the tolerance ${limit},`,
    'time-limit': `stopped by the time limit, above the tolerance ${limit},`,
    stream: 'stopped by the end of the stream',
    imported: 'trained by another program',
    interrupted: 'interrupted',
  };
  return texts[stopped];
}

/** What a certificate is told from; a run that goes on has no reason to have stopped. */
type Proof = Pick<TrainReport, 'relativeGap'> &
  Partial<Pick<TrainReport, 'primal' | 'dual' | 'stopped'>>;

/**
 * A gap of g relative to P(w) bounds (P(w) − P*) / P* by g / (1 − g). `least`: what no objective is
 * below; a proved bound may be, by rounding errors.
 */
export function describeCertificate(
  { relativeGap, primal, dual = -Infinity, stopped }: Proof,
  least = -Infinity,
): string {
  if (stopped === 'precision' && primal !== undefined && !(relativeGap <= 0.5)) {
    if (dual === -Infinity) return `objective ${formatNumber(primal)}, no lower bound`;
    return `objective ${formatNumber(primal)}, optimum at least ${formatNumber(Math.max(dual, least) + 0)}`;
  }
  if (!(relativeGap < 1)) return 'no certificate yet: no useful lower bound found';
  const gap = `relative duality gap ${formatGapUp(relativeGap)}`;
  if (relativeGap > 0.5) return `no useful bound yet (${gap})`;
  const distance = formatPercentUp(relativeGap / (1 - relativeGap));
  return `within ${distance} of the optimum (certified: ${gap})`;
}

/** Which part of all weights is proved to be 0. */
export function describeZeros(
  { provedZeros = 0 }: Pick<TrainReport, 'provedZeros'>,
  weights: number,
): string {
  const verb = provedZeros === 1 ? 'is' : 'are';
  return `${formatCount(provedZeros)} of ${plural(weights, 'weight')} ${verb} proved to be 0 in every optimum`;
}

function testResult(test: Metrics): string {
  switch (test.task) {
    case 'regression':
      return `mean squared error ${formatNumber(test.mse)}`;
    case 'multi-label':
      return `Hamming loss ${formatPercent(test.hammingLoss)}, micro F1 ${formatNumber(test.microF1)}`;
    case 'multi-class':
      return `error ${formatPercent(test.error)}, macro F1 ${formatNumber(test.macroF1)}`;
    case 'classification': {
      const auprc =
        test.auprc === null
          ? ''
          : `, AUPRC of ${lineText(test.positive)} ${formatNumber(test.auprc)}`;
      return `error ${formatPercent(test.error)}${auprc}`;
    }
  }
}

/** What the threads did with their time; undefined for one thread, which never waits. */
export function describeEffort(report: TrainReport): string | undefined {
  const { effort, threads, ranks = 1 } = report;
  const all = effort.computing + effort.waiting;
  if (threads * ranks === 1 || !(all > 0)) return undefined;
  const share = (part: number) => `${Math.round((100 * part) / all)} %`;
  const line = `threads computed ${share(effort.computing)} and waited ${share(effort.waiting)} of the time`;
  return ranks === 1 ? line : `${line}; ${formatBytes(effort.bytes)} sent between ranks`;
}

/** An objective this much smaller than without weights is that of rows that are fitted exactly. */
const nearlyFitted = 1e-3;
/** Columns whose scales differ by this much slow most solvers down. */
const unlike = 1e3;

/** Why the tolerance was not met, as far as that was measured, and the option that would help. */
export function adviseOnProgress(report: TrainReport): string | undefined {
  const { hindrance, lambda, epochs } = report;
  if (!hindrance) return undefined;
  const { since, objectiveShare, scaleRatio, mayScale = true, alternative } = hindrance;
  const measured = `the gap has not fallen noticeably since epoch ${since} of ${epochs}`;
  const found = since > epochs / 2 ? 'the gap falls too slowly' : measured;
  const second = alternative ? ` or --solver ${alternative}` : '';
  if (mayScale && scaleRatio >= unlike) {
    const ratio = formatNumber(Number(scaleRatio.toPrecision(2)));
    return `${found}: the values of some columns are ${ratio} times as large as those of others; --scale std${second} would help`;
  }
  if (Math.abs(objectiveShare) <= nearlyFitted) {
    const share = formatNumber(Number(objectiveShare.toPrecision(2)));
    return `${found}: the objective is ${share} of that without weights, so the data is fitted almost exactly and lambda ${formatNumber(lambda)} hardly limits the weights; a larger --lambda${second} would help`;
  }
  const help = alternative ? `--solver ${alternative}` : 'a larger --lambda';
  return `${found}; ${help} would help`;
}

/** From this share of the time on, waiting calls for advice. */
const much = 0.5;

/** What would be faster where ranks mostly wait for blocks; `fewRotations` is the most to propose. */
export function adviseOnRanks(report: TrainReport, fewRotations: number): string | undefined {
  const { effort, ranks = 1, rotations, solver, loss, penalty, grid, threads } = report;
  const waiting = effort.waiting / Math.max(Number.MIN_VALUE, effort.computing + effort.waiting);
  if (ranks === 1 || !(waiting > much)) return undefined;
  if (grid < ranks * threads) {
    return `the grid has ${plural(grid, 'worker')} for ${plural(ranks * threads, 'thread')}: --grid ${ranks * threads} would give all of them work (and change the model)`;
  }
  const smooth = lossEntry(loss)?.smooth ?? true;
  if (smooth && penalty === 'l2' && solver !== 'lbfgs') {
    return 'waiting for blocks took most of the time: --solver lbfgs moves the weights twice an epoch';
  }
  if (!solver.startsWith('ring') || rotations === undefined) return undefined;
  // As many hand-offs as take no longer than the work between them.
  const affordable = Math.floor(rotations * (effort.computing / effort.waiting));
  const fewer = Math.max(1, Math.min(fewRotations, affordable));
  if (fewer > rotations / 2) return undefined;
  return `waiting for blocks took most of the time: --rotations ${fewer} instead of ${rotations} would exchange them less often, for more epochs (and change the model)`;
}
