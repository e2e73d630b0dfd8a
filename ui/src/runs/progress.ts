import { GapTrend } from '../../../src/reporting/gap-trend.ts';
import type { RunSeries, RunSummary } from '../../../src/reporting/records/record.ts';
import { defaultEpochs, vectorsOf } from './summary.ts';
import type { Track } from './track.ts';

/** How far a run is, and how long it may still take. */
export interface Progress {
  /** From the first gap to the tolerance, on a log scale; of several vectors, the part that is done. */
  readonly fraction: number;
  /** Of several vectors: how many have reached the tolerance, where that is known. */
  readonly done?: number;
  readonly secondsLeft?: number;
  /** Whether it may take less: the time is that of a limit. */
  readonly atMost?: boolean;
}

type RunCurves = Pick<Track, 'series' | 'reached'>;

/** Points of a curve that a trend is computed from. */
const trendPoints = 400;
/** A guess that reaches further than this many times what has passed is none. */
const farthest = 10;
/** Below it the fall of the gap has grown slower, rather than being uneven. */
const steady = 0.75;
/** Below this a relative gap is rounding noise. */
const smallestGap = 1e-15;

export function progressOf(run: RunSummary, curves: RunCurves | undefined): Progress {
  const vectors = vectorsOf(run);
  if (!curves) return { fraction: 0 };
  // The gap of one vector says nothing about the others: the number of finished ones counts.
  if (vectors > 1) {
    const done = Math.min(curves.reached.size, vectors);
    return { fraction: done / vectors, done };
  }
  const points = pointsOf(curves.series);
  const trend = new GapTrend({ tolerance: run.start.tolerance });
  // The trend looks at these three alone.
  for (const point of points) trend.add(point as never);
  return { fraction: trend.fraction, ...timeLeft(run, points) };
}

interface Point {
  readonly epoch: number;
  readonly seconds: number;
  readonly relativeGap: number;
}

/** The points that have a gap, evenly spread: a curve is closer where it has grown last. */
function pointsOf({ epoch, seconds, relativeGap }: RunSeries): Point[] {
  const step = (epoch.at(-1) ?? 0) / trendPoints;
  const points: Point[] = [];
  for (const [index, gap] of relativeGap.entries()) {
    const isLast = index === relativeGap.length - 1;
    const isDue = isLast || epoch[index] >= (points.at(-1)?.epoch ?? -Infinity) + step;
    if (gap === null || !isDue) continue;
    points.push({ epoch: epoch[index], seconds: seconds[index], relativeGap: gap });
  }
  return points;
}

function timeLeft({ start }: RunSummary, points: readonly Point[]) {
  const last = points.at(-1);
  if (!last || !(last.seconds > 0)) return undefined;
  const guess = untilGoal(points, start.tolerance);
  const pace = last.seconds / last.epoch;
  const limits = [
    (start.time ?? Infinity) - last.seconds,
    pace * ((start.epochs ?? Infinity) - last.epoch),
  ];
  const limit = Math.max(0, Math.min(...limits));
  if (guess !== undefined) return { secondsLeft: Math.min(guess, limit) };
  // The default limit is not a time to expect.
  const isMeant = start.time !== undefined || start.epochs !== defaultEpochs;
  return isMeant && limit < Infinity ? { secondsLeft: limit, atMost: true } : undefined;
}

/**
 * Seconds until the gap g meets the tolerance, by how it fell in the latter half of the time T.
 * Where g falls as fast as in the quarter before, by exp(−t), it continues so; where it has become
 * slower, as a power of t, g ∝ t^(−b) with b = ln(g(T/2) / g(T)) / ln 2. Undefined without a fall,
 * at the goal, and where the guess would be too far off.
 */
function untilGoal(points: readonly Point[], tolerance: number): number | undefined {
  const now = points.at(-1)!.seconds;
  const [quarter, half, latest] = [now / 4, now / 2, now].map((time) => logGapAt(points, time));
  const missing = latest - Math.log(Math.max(tolerance, smallestGap));
  const [before, drop] = [quarter - half, half - latest];
  if (!(drop > 0) || !(missing > 0)) return undefined;
  const isSlowing = drop / 2 < steady * before;
  const left = isSlowing
    ? now * Math.expm1((missing / drop) * Math.LN2)
    : ((missing / drop) * now) / 2;
  return left <= farthest * now ? left : undefined;
}

/** ln of the smallest gap up to a time; of the first one where there is none so early. */
function logGapAt(points: readonly Point[], time: number): number {
  let least = points[0].relativeGap;
  for (const { seconds, relativeGap } of points) {
    if (seconds > time) break;
    least = Math.min(least, relativeGap);
  }
  return Math.log(Math.max(least, smallestGap));
}
