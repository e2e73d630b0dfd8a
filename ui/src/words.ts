import { GapTrend } from '../../src/cli/gap-trend.ts';
import { formatPercent, formatPercentUp, formatSeconds, plural } from '../../src/cli/text.ts';
import { formatCount, formatGap, formatNumber } from '../../src/compare/numbers.ts';
import type { RunSeries, RunSummary } from '../../src/runs/record.ts';
import { gapOf, standingOf } from './summary.ts';

export { formatCount, formatGap, formatNumber, formatPercent, formatSeconds, plural };

/** How far a run is on its way, and how long it may still take. */
export interface Progress {
  /** Of the way from the first gap to the tolerance, on a log scale; of several vectors, so many. */
  readonly fraction: number;
  readonly secondsLeft?: number;
}

export function progressOf(run: RunSummary, series: RunSeries | undefined): Progress {
  const { start, latest, begin } = run;
  // One vector tells little of the others: what counts is how many are behind.
  if (begin && begin.vectors > 1) return { fraction: (latest?.vector ?? 0) / begin.vectors };
  const trend = new GapTrend({
    tolerance: start.tolerance,
    epochs: start.epochs,
    seconds: start.time,
  });
  if (!series || !latest) return { fraction: 0 };
  for (const [index, gap] of series.relativeGap.entries()) {
    if (gap === null) continue;
    // The trend looks at gap, epoch and time alone.
    trend.add({ ...latest, relativeGap: gap, ...pointAt(series, index) } as never);
  }
  const secondsLeft = trend.secondsLeft(series.seconds.at(-1) ?? 0);
  return { fraction: trend.fraction, ...(secondsLeft !== undefined && { secondsLeft }) };
}

function pointAt(series: RunSeries, index: number) {
  return { epoch: series.epoch[index], seconds: series.seconds[index] };
}

/** How a run stands, in a sentence. */
export function headline(run: RunSummary, progress: Progress, stage?: string): string {
  const { failure, latest, report } = run;
  switch (standingOf(run)) {
    case 'running':
      if (report) return `running: ${describeReport(run)}`;
      return latest ? describeRunning(run, progress) : (stage ?? 'starting');
    case 'failed':
      return `failed: ${failure?.message ?? 'without a word'}`;
    case 'lost':
      return latest
        ? `lost: its process went away after ${plural(latest.epoch, 'epoch')}`
        : 'lost: its process went away before it had trained';
    default:
      return report && !latest ? describeReport(run) : describeEnd(run);
  }
}

function describeRunning({ latest, begin }: RunSummary, { secondsLeft }: Progress): string {
  const { epoch, relativeGap, vector } = latest!;
  const parts =
    relativeGap !== null && relativeGap < 1
      ? [`gap ${formatPercentUp(relativeGap)}`]
      : [plural(epoch, 'epoch'), 'no useful bound yet'];
  if (begin && begin.vectors > 1) parts.unshift(`class ${(vector ?? 0) + 1} of ${begin.vectors}`);
  if (secondsLeft !== undefined)
    parts.push(`about ${formatSeconds(Math.max(1, secondsLeft))} left`);
  return `running: ${parts.join(', ')}`;
}

function describeReport({ report, start }: RunSummary): string {
  const { rows, error, seconds } = report!;
  const quality =
    error === null ? 'no error yet' : `progressive error ${formatError(error, start.task)}`;
  return `${quality} after ${plural(rows, 'row')}, ${formatSeconds(seconds)}`;
}

function describeEnd(run: RunSummary): string {
  const { latest, result } = run;
  const epochs = result?.epochs ?? latest?.epoch;
  const seconds = result?.seconds?.train ?? latest?.seconds;
  const ends = [
    epochs === undefined ? '' : plural(epochs, 'epoch'),
    seconds === undefined ? '' : formatSeconds(seconds),
  ].filter((text) => text !== '');
  const after = ends.length > 0 ? ` after ${ends.join(', ')}` : '';
  return `${certificate(gapOf(run))}${after}${reason(run)}`;
}

/** A gap of g relative to P(w) bounds (P(w) − P*) / P* by g / (1 − g). */
function certificate(gap: number | undefined): string {
  if (gap === undefined || !(gap < 1)) return 'ended without a proof of how good it is';
  return gap > 0.5
    ? 'not even within 100 % of the optimum, as far as is proved,'
    : `within ${formatPercentUp(gap / (1 - gap))} of the optimum`;
}

function reason({ result, start }: RunSummary): string {
  switch (result?.stopped) {
    case 'epoch-limit':
      return `; the limit on epochs came before the tolerance ${formatNumber(start.tolerance)}`;
    case 'time-limit':
      return `; the time limit came before the tolerance ${formatNumber(start.tolerance)}`;
    case 'interrupted':
      return '; stopped by hand, the model is kept';
    case 'early-stop':
      return '; the test error had not fallen any more';
    default:
      return '';
  }
}

/** A test error as its task has it: a rate, or a mean squared error. */
export function formatError(value: number, task: 'classification' | 'regression'): string {
  return task === 'regression' ? formatNumber(value) : formatPercent(value);
}

/** How long ago, in the largest unit that counts at least one. */
export function formatAge(started: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(started)) / 1000);
  if (!(seconds >= 60)) return 'now';
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** The command that would train again with the same options. */
export function commandOf({ start }: RunSummary): string {
  const words = ['dso', 'train', start.data];
  for (const [name, value] of Object.entries(start.options)) {
    if (value === false || value === null || value === undefined) continue;
    words.push(`--${name}`);
    if (value !== true) words.push(optionText(value));
  }
  return words.map(quoted).join(' ');
}

function optionText(value: unknown): string {
  if (Array.isArray(value)) return value.map(optionText).join(',');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
