import type { RunSeries, SampleLine } from '../../../src/reporting/records/record.ts';
import type { SparkPoint } from './spark.ts';

/** Width of a letter in the widest of the common fonts. */
const letter = 7.3;
const least = 280;
/** Bars and lines of long names make room for them down to this width together. */
const leastDrawn = 132;

/**
 * Where the columns of the figure are, in pixels from the left. Bars go to one side only where all
 * weights have one sign.
 */
export function layOutFeatures(room: number, names: readonly string[], weights: readonly number[]) {
  const width = Math.max(least, Math.min(room, 900));
  const longest = names.reduce((most, name) => Math.max(most, Array.from(name).length), 4);
  const [change, numbers] = width < 480 ? [32, 54] : [38, 64];
  const all = width - change - numbers - 16;
  const name = Math.min(longest * letter + 14, Math.max(width * 0.3, all - leastDrawn));
  const rest = all - name;
  const sparkWidth = Math.max(40, Math.min(200, rest * 0.4));
  const barLeft = name + change;
  const barRight = barLeft + rest - sparkWidth;
  const hasNegative = weights.some((weight) => weight < 0);
  const hasPositive = weights.some((weight) => weight > 0);
  const middle = (barLeft + barRight) / 2;
  return {
    width,
    /** Letters of a name that fit. */
    letters: Math.max(4, Math.floor((name - 14) / letter)),
    change: name + change - 10,
    barLeft,
    barRight,
    /** The line between negative and positive bars. */
    zero: hasNegative ? (hasPositive ? middle : barRight) : barLeft,
    /** Right end of the numbers. */
    weight: barRight + numbers,
    sparkLeft: barRight + numbers + 12,
    sparkWidth,
    rowHeight: 24,
    head: 22,
  };
}

export type PanelAxis = 'seconds' | 'epoch' | 'passes';

/** A feature among those of the largest weights. */
interface RankedFeature {
  readonly name: string;
  readonly weight: number;
  /** Ranks gained since the sample that it is compared with; undefined if it was not among them. */
  readonly gained: number | undefined;
  /** Its weight over the samples, null where it was not among the largest. */
  readonly points: readonly SparkPoint[];
}

const shownFeatures = 20;

/** Samples of one vector: the one given, or the one that is trained now. */
function ofOneVector(samples: readonly SampleLine[], requested?: number): readonly SampleLine[] {
  const isThere = samples.some((sample) => sample.vector === requested);
  const vector = isThere ? requested : samples.at(-1)?.vector;
  return samples.every((sample) => sample.vector === vector)
    ? samples
    : samples.filter((sample) => sample.vector === vector);
}

/** Passes at an epoch, between those of the epochs that the series has. */
function passesAt(series: RunSeries, epoch: number): number {
  const { epoch: epochs, passes } = series;
  const after = epochs.findIndex((known) => known >= epoch);
  if (after === -1) return passes.at(-1) ?? epoch;
  if (after === 0 || epochs[after] === epoch) return passes[after];
  const part = (epoch - epochs[after - 1]) / (epochs[after] - epochs[after - 1]);
  return passes[after - 1] + part * (passes[after] - passes[after - 1]);
}

/** Where a sample is on the axis; epochs stand for passes that are unknown. */
function positionOf(sample: SampleLine, axis: PanelAxis, series: RunSeries | undefined): number {
  if (axis === 'seconds') return sample.seconds;
  return axis === 'passes' && series ? passesAt(series, sample.epoch) : sample.epoch;
}

/**
 * The sample that ranks are compared with: the newest one that is a tenth of the run or more in
 * the past, so that arrows do not come and go with every sample.
 */
function comparedWith(samples: readonly SampleLine[]): SampleLine | undefined {
  const limit = 0.9 * (samples.at(-1)?.seconds ?? 0);
  return samples.slice(0, -1).findLast(({ seconds }) => seconds <= limit);
}

/** The features of the largest weights now, largest first, and how they got there. */
export function rankFeatures(
  all: readonly SampleLine[],
  axis: PanelAxis,
  series?: RunSeries,
  vector?: number,
) {
  const samples = ofOneVector(all, vector);
  const latest = samples.at(-1);
  const earlier = comparedWith(samples);
  const positions = samples.map((sample) => positionOf(sample, axis, series));
  const weights = samples.map(
    ({ features }) => new Map(features.map(({ name, weight }) => [name, weight])),
  );
  const before = new Map((earlier?.features ?? []).map(({ name }, rank) => [name, rank]));
  const shown = (latest?.features ?? []).slice(0, shownFeatures);
  return {
    features: shown.map(
      ({ name, weight }, rank): RankedFeature => ({
        name,
        weight,
        gained: before.has(name) ? before.get(name)! - rank : undefined,
        points: positions.map((x, k) => ({ x, y: weights[k].get(name) ?? null })),
      }),
    ),
    /** The largest absolute weight. */
    largest: shown.reduce((most, { weight }) => Math.max(most, Math.abs(weight)), 0),
    /** The epoch that ranks are compared with, if there is an earlier one. */
    since: earlier?.epoch,
    epoch: latest?.epoch,
  };
}

/** "▲ 3", "▼ 1", "new"; nothing for a feature that stayed, or when there is nothing to compare. */
export function changeOf(feature: RankedFeature, since: number | undefined): string {
  if (since === undefined || feature.gained === 0) return '';
  if (feature.gained === undefined) return 'new';
  return feature.gained > 0 ? `▲ ${feature.gained}` : `▼ ${-feature.gained}`;
}
