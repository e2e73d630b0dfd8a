import type { RunSeries, SampleLine } from '../../../src/reporting/records/record.ts';
import type { SparkPoint } from './spark.ts';

export type PanelAxis = 'seconds' | 'epoch' | 'passes';

/** A feature among those of the largest weights. */
export interface RankedFeature {
  readonly name: string;
  readonly weight: number;
  /** Places won since the sample that it is compared with; undefined if it was not among them. */
  readonly gained: number | undefined;
  /** Its weight over the samples, null where it was not among the largest. */
  readonly course: readonly SparkPoint[];
}

export interface FeatureRanks {
  readonly features: readonly RankedFeature[];
  /** The largest size of any weight now. */
  readonly largest: number;
  /** The epoch that ranks are compared with, if there is an earlier one. */
  readonly since: number | undefined;
  readonly epoch: number | undefined;
}

export const shownFeatures = 20;

/** Samples of one problem: the one that is asked for, or the one that is being solved now. */
function ofOneVector(samples: readonly SampleLine[], wanted?: number): readonly SampleLine[] {
  const isThere = samples.some((sample) => sample.vector === wanted);
  const vector = isThere ? wanted : samples.at(-1)?.vector;
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

/** Where a sample is on the axis; epochs stand for passes where nobody has counted them. */
function placeOf(sample: SampleLine, axis: PanelAxis, series: RunSeries | undefined): number {
  if (axis === 'seconds') return sample.seconds;
  return axis === 'passes' && series ? passesAt(series, sample.epoch) : sample.epoch;
}

/**
 * The sample that ranks are compared with: the newest one that lies a tenth of the run or more in
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
): FeatureRanks {
  const samples = ofOneVector(all, vector);
  const latest = samples.at(-1);
  const earlier = comparedWith(samples);
  const places = samples.map((sample) => placeOf(sample, axis, series));
  const weights = samples.map(
    ({ features }) => new Map(features.map(({ name, weight }) => [name, weight])),
  );
  const before = new Map((earlier?.features ?? []).map(({ name }, rank) => [name, rank]));
  const shown = (latest?.features ?? []).slice(0, shownFeatures);
  return {
    features: shown.map(({ name, weight }, rank) => ({
      name,
      weight,
      gained: before.has(name) ? before.get(name)! - rank : undefined,
      course: places.map((x, k) => ({ x, y: weights[k].get(name) ?? null })),
    })),
    largest: shown.reduce((most, { weight }) => Math.max(most, Math.abs(weight)), 0),
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
