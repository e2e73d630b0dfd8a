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
import { dataName, runSeconds, statusText } from '../../../src/reporting/records/labels.ts';
import type { RunSummary } from '../../../src/reporting/records/record.ts';
import type { Progress } from '../runs/progress.ts';
import { gapOf, isStream, vectorsOf } from '../runs/summary.ts';

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

/** The state of a run, in a sentence. */
export function headline(
  run: RunSummary,
  progress: Progress,
  /** What is done before training, and whether a stop was requested. */
  { stage, stopping }: { stage?: string | undefined; stopping?: boolean } = {},
): string {
  const { failure, latest, report, status } = run;
  switch (status) {
    case 'running':
      if (stopping) return describeStopping(run);
      if (report) return `running: ${describeReport(run)}`;
      return latest ? describeRunning(run, progress) : (stage ?? 'starting');
    case 'failed':
      return `failed: ${failure?.message ?? 'no reason recorded'}`;
    case 'lost':
      return latest
        ? `lost: the process died after ${plural(latest.epoch, 'epoch')}`
        : 'lost: the process died before training';
    default:
      return report && !latest ? describeReport(run) : describeEnd(run);
  }
}

function describeStopping(run: RunSummary): string {
  return isStream(run)
    ? 'stopping: writing the model'
    : 'stopping: finishing the epoch, then writing the model';
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
  if (gap === undefined || !(gap < 1)) return 'ended without a certificate';
  if (gap < smallestGap) return 'optimal to machine precision';
  return gap > 0.5
    ? `no useful bound (relative gap ${formatProof(gap)})`
    : `within ${formatProofPercent(gap / (1 - gap))} of the optimum`;
}

/** The words before the location of the model of a run that has ended: why it ended, if not well. */
export function aboutModel(run: RunSummary, progress: Progress): string {
  switch (run.result?.stopped) {
    case 'interrupted':
      return 'stopped on request; model in';
    case 'epoch-limit':
      return `epoch limit reached ${shortfall(run, progress)}; model in`;
    case 'time-limit':
      return `time limit reached ${shortfall(run, progress)}; model in`;
    case 'precision':
      return `limits of double precision reached ${shortfall(run, progress)}; model in`;
    case 'no-progress':
      return `the gap stopped falling ${shortfall(run, progress)}; model in`;
    case 'early-stop':
      return 'the test error stopped falling; model in';
    default:
      return 'model in';
  }
}

/** The gap of all vectors together may be small while some of them are short of the goal. */
function shortfall(run: RunSummary, { done }: Progress): string {
  const tolerance = `the tolerance ${formatNumber(run.start.tolerance)}`;
  const vectors = vectorsOf(run);
  if (vectors === 1) return `before ${tolerance}`;
  const short = done === undefined ? 'some' : `${vectors - done} of ${formatCount(vectors)}`;
  return `with ${short} classes above ${tolerance}`;
}

/** What a tab of the browser says while another is in front. */
export function tabTitle(run: RunSummary, { done }: Progress): string {
  const { start, report, status, latest } = run;
  const gap = latest?.relativeGap ?? Infinity;
  const vectors = vectorsOf(run);
  let state = statusText(run);
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

/** Keeps numbers and their units on one line. */
export function noBreak(text: string): string {
  return text.replaceAll(/(?<=\d) (?=\D)|(?<=[<·]) /g, '\u00a0');
}

/** 0.1234 → "12 %", 0.056 → "5.6 %", 1.12 → "112 %"; no line breaks before the sign. */
export function formatShare(share: number): string {
  const percent = 100 * share;
  const text = percent < 9.95 ? String(Number(percent.toFixed(1))) : percent.toFixed(0);
  return `${text}\u00a0%`;
}

const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];

/** Three significant digits with an SI prefix: 12345678, "B" → "12.3 MB"; 950, "" → "950" */
export function formatSi(value: number, unit: string): string {
  if (!Number.isFinite(value)) return '–';
  let scaled = value;
  let step = 0;
  while (Math.abs(scaled) >= 999.5 && step < prefixes.length - 1) {
    scaled /= 1000;
    step++;
  }
  const decimals = Math.abs(scaled) >= 99.95 || (step === 0 && Number.isInteger(scaled)) ? 0 : 1;
  const text =
    Math.abs(scaled) < 9.995 && decimals > 0 ? scaled.toFixed(2) : scaled.toFixed(decimals);
  return `${text} ${prefixes[step]}${unit}`.trimEnd();
}

/** A weight, with a real minus: −0.0312, +1.25 */
export function formatWeight(weight: number): string {
  const size = Math.abs(weight);
  const isOdd = size > 0 && (size < 1e-3 || size >= 1e4);
  const text = isOdd ? size.toExponential(2).replace('e+', 'e') : size.toPrecision(3);
  return `${weight < 0 ? '−' : '+'}${text.replace('e-', 'e−')}`;
}

/** A long name with its middle left out: names differ at both ends. */
export function cutMiddle(name: string, most: number): string {
  const letters = Array.from(name);
  if (letters.length <= most) return name;
  const shown = Math.max(2, most - 1);
  const tail = Math.floor(shown / 2);
  return `${letters.slice(0, shown - tail).join('')}…${letters.slice(letters.length - tail).join('')}`;
}
