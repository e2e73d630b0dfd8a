import type {
  EpochLine,
  ReportLine,
  RunDetail,
  RunSeries,
  RunSummary,
  SampleLine,
} from '../reporting/records/record.ts';

/** Lines of a kind, each of which may have to be read first; undefined where one is damaged. */
export interface Lines<Line> {
  readonly length: number;
  at(index: number): Line | undefined;
}

export interface RunContents {
  readonly summary: RunSummary;
  readonly vector: number;
  readonly epochs: Lines<EpochLine>;
  /** The newest line of each vector, called only where there are several. */
  readonly newest: () => readonly EpochLine[];
  readonly samples: Lines<SampleLine>;
  readonly reports: Lines<ReportLine>;
  readonly notices: readonly string[];
}

/** What to show of a run. */
export interface DetailOptions {
  /** The most points of a curve; default: all there are. */
  readonly points?: number | undefined;
  /** The vector of weights; default: the first, 0. */
  readonly vector?: number | undefined;
}

const mostSamples = 100;

export function detailOf(contents: RunContents, points = Infinity): RunDetail {
  const { summary, vector, epochs, newest, samples, reports, notices } = contents;
  const isOfSeveral = (summary.begin?.vectors ?? 1) > 1;
  return {
    summary,
    vector,
    epochs: epochs.length,
    series: seriesOf(spread(epochs, points)),
    ...(isOfSeveral && { reached: reachedOf(newest(), summary.start.tolerance) }),
    samples: spread(samples, mostSamples),
    reports: spread(reports, points),
    notices,
  };
}

/** Every so many of the lines, and the last one: no more than wanted. */
function spread<Line>(lines: Lines<Line>, most: number): Line[] {
  return places(lines.length, most).flatMap((place) => lines.at(place) ?? []);
}

/** Every k-th place from 0, with the smallest k that leaves room for the last place. */
export function places(count: number, most: number): number[] {
  if (count === 0) return [];
  const last = count - 1;
  if (!(most >= 2)) return [last];
  const step = Math.max(1, Math.ceil(last / (Math.floor(most) - 1)));
  return [...Array.from({ length: Math.ceil(last / step) }, (_, index) => index * step), last];
}

/** The vectors that are done, in their order. */
function reachedOf(newest: readonly EpochLine[], tolerance: number): number[] {
  return newest
    .filter((line) => hasReached(line, tolerance))
    .map(({ vector = 0 }) => vector)
    .sort((a, b) => a - b);
}

/** Whether the gap is within the tolerance. */
export function hasReached({ relativeGap }: EpochLine, tolerance: number): boolean {
  return relativeGap !== null && relativeGap <= tolerance;
}

function seriesOf(epochs: readonly EpochLine[]): RunSeries {
  const { testError, testAuprc } = {
    testError: epochs.some((line) => line.testError !== undefined),
    testAuprc: epochs.some((line) => line.testAuprc !== undefined),
  };
  return {
    epoch: epochs.map((line) => line.epoch),
    seconds: epochs.map((line) => line.seconds),
    passes: epochs.map((line) => line.passes),
    primal: epochs.map((line) => line.primal),
    dual: epochs.map((line) => line.dual),
    relativeGap: epochs.map((line) => line.relativeGap),
    ...(testError && { testError: epochs.map((line) => line.testError ?? null) }),
    ...(testAuprc && { testAuprc: epochs.map((line) => line.testAuprc ?? null) }),
    ...(epochs.some((line) => line.bytes !== undefined) && { bytes: sentBytes(epochs) }),
  };
}

/** An epoch that says nothing of it has sent nothing. */
function sentBytes(epochs: readonly EpochLine[]): number[] {
  let sent = 0;
  return epochs.map((line) => (sent = line.bytes ?? sent));
}
