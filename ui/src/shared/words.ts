import { commandLine, runSeconds } from '../../../src/cli/run-words.ts';
import {
  formatCount,
  formatGap,
  formatNumber,
  powerOfTen,
} from '../../../src/math/format-number.ts';
import {
  formatGapUp,
  formatPercent,
  formatPercentUp,
  formatSeconds,
  plural,
} from '../../../src/reporting/format.ts';
import { dataName } from '../../../src/reporting/records/labels.ts';
import type { RunSummary } from '../../../src/reporting/records/record.ts';
import type { Progress } from '../runs/progress.ts';
import { gapOf, isStream, standingOf, vectorsOf } from '../runs/summary.ts';

export { formatCount, formatGap, formatNumber, formatPercent, formatSeconds, plural };

/** Below this a relative gap is rounding noise. */
const smallestGap = 1e-15;

/** A gap as a certificate may claim it, rounded up: 0.000791 → "8.0e-4" */
export function formatProof(gap: number): string {
  return gap < smallestGap ? '< 1e-15' : formatGapUp(gap);
}

/** The same as a percentage: 0.0321 → "3.3 %", 2.34e-8 → "2.4·10⁻⁶ %" */
export function formatProofPercent(gap: number): string {
  if (gap < smallestGap) return `< ${powerOfTen(-13)} %`;
  const [mantissa, exponent] = formatGapUp(gap).split('e').map(Number);
  return exponent < -5
    ? `${mantissa.toFixed(1)}·${powerOfTen(exponent + 2)} %`
    : formatPercentUp(gap);
}

/** What else a headline is about. */
export interface Circumstances {
  /** What is done before training. */
  readonly stage?: string | undefined;
  /** Whether somebody has asked the run to stop. */
  readonly stopping?: boolean | undefined;
}

/** How a run stands, in a sentence. */
export function headline(
  run: RunSummary,
  progress: Progress,
  { stage, stopping }: Circumstances = {},
): string {
  const { failure, latest, report, status } = run;
  switch (status) {
    case 'running':
      if (stopping) return describeStopping(run);
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

function describeStopping(run: RunSummary): string {
  return isStream(run)
    ? 'stopping: writes the model'
    : 'stopping: finishes the epoch, then writes the model';
}

function describeRunning(run: RunSummary, progress: Progress): string {
  const { epoch, relativeGap } = run.latest!;
  const { done, secondsLeft, atMost } = progress;
  const vectors = vectorsOf(run);
  const parts =
    vectors > 1
      ? [`${done ?? 'some'} of ${formatCount(vectors)} classes within the tolerance`]
      : relativeGap !== null && relativeGap < 1
        ? [`gap ${formatProofPercent(relativeGap)}`]
        : [plural(epoch, 'epoch'), 'no useful bound yet'];
  if (secondsLeft !== undefined) {
    parts.push(`${atMost ? 'at most' : 'about'} ${formatRough(secondsLeft)} left`);
  }
  return `running: ${parts.join(', ')}`;
}

/** As exact as a guess may be: 12.3 → "12 s", 1141 → "19 min", 5300 → "1.5 h" */
export function formatRough(seconds: number): string {
  if (seconds < 59.5) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 3570) return `${Math.round(seconds / 60)} min`;
  return seconds < 36_000
    ? `${Number((seconds / 3600).toFixed(1))} h`
    : `${formatCount(Math.round(seconds / 3600))} h`;
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
  const seconds = runSeconds(run);
  const ends = [
    epochs === undefined ? '' : plural(epochs, 'epoch'),
    seconds === undefined ? '' : formatSeconds(seconds),
  ].filter((text) => text !== '');
  const after = ends.length > 0 ? ` after ${ends.join(', ')}` : '';
  return `${certificate(gapOf(run))}${after}`;
}

/** A gap of g relative to P(w) bounds (P(w) − P*) / P* by g / (1 − g). */
function certificate(gap: number | undefined): string {
  if (gap === undefined || !(gap < 1)) return 'ended without a proof of how good it is';
  if (gap < smallestGap) return 'optimal to the precision of the numbers';
  return gap > 0.5
    ? 'not even within 100 % of the optimum, as far as is proved,'
    : `within ${formatProofPercent(gap / (1 - gap))} of the optimum`;
}

/** What goes before the place of the model of a run that has ended: why it ended, if not well. */
export function aboutModel(run: RunSummary, progress: Progress): string {
  switch (run.result?.stopped) {
    case 'interrupted':
      return 'stopped by hand, the model is kept in';
    case 'epoch-limit':
      return `the limit on epochs ${shortfall(run, progress)}; model in`;
    case 'time-limit':
      return `the time limit ${shortfall(run, progress)}; model in`;
    case 'early-stop':
      return 'the test error had not fallen any more; model in';
    default:
      return 'model in';
  }
}

/** The gap of all vectors together may be small while some of them are short of the goal. */
function shortfall(run: RunSummary, { done }: Progress): string {
  const tolerance = `the tolerance ${formatNumber(run.start.tolerance)}`;
  const vectors = vectorsOf(run);
  if (vectors === 1) return `came before ${tolerance}`;
  const short = done === undefined ? 'some' : `${vectors - done} of ${formatCount(vectors)}`;
  return `left ${short} classes short of ${tolerance}`;
}

/** What a tab of the browser says while another is in front. */
export function tabTitle(run: RunSummary, { done }: Progress): string {
  const { start, report, status, latest } = run;
  const gap = latest?.relativeGap ?? Infinity;
  const vectors = vectorsOf(run);
  let state = standingOf(run);
  if (status === 'running' && report?.error !== undefined && report.error !== null) {
    state = formatError(report.error, start.task);
  } else if (status === 'running' && vectors > 1) state = `${done ?? '–'}/${vectors}`;
  else if (status === 'running' && gap < 1) state = formatProofPercent(gap);
  const data = dataName(run).replace(/(?<=.)\.\w{1,8}(\.(gz|zst|bz2|xz))?$/, '');
  return `${state} · ${start.name ?? data} · dso`;
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

/** The command that would train again in the same way. */
export function commandOf(run: RunSummary): string {
  return commandLine(run, 'dso');
}

/** Keeps numbers and their units on one line. */
export function tied(text: string): string {
  return text.replaceAll(/(?<=\d) (?=\D)|(?<=[<·]) /g, '\u00a0');
}
