import { leastBound, runSeconds } from '../../../src/reporting/records/labels.ts';
import type { EpochLine, RunSummary } from '../../../src/reporting/records/record.ts';
import {
  formatCount,
  formatError,
  formatNumber,
  formatProof,
  formatSeconds,
} from '../shared/words.ts';
import { defaultEpochs, gapOf, isStream, vectorsOf } from './summary.ts';
import type { Track } from './track.ts';

type Metrics = NonNullable<NonNullable<RunSummary['result']>['test']>;

export interface TileContent {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
  /** Reserves room for a note of two lines, which may come and go. */
  readonly roomy?: boolean;
}

/** The curves of one vector of a run. */
type VectorCurves = Pick<Track, 'vector' | 'series' | 'newest'>;

/** The numbers of a run that matter most; of its result where there is one. */
export function tilesOf(run: RunSummary, curves?: VectorCurves): TileContent[] {
  if (isStream(run)) return streamTiles(run);
  // A result is about the whole run, also where it has no value.
  const result = run.result && 'primal' in run.result ? run.result : undefined;
  const vectors = vectorsOf(run);
  // Vectors are trained in parallel: the newest line may be of any of them.
  const latest = vectors > 1 ? curves?.newest : run.latest;
  const { primal, dual } = result ?? latest ?? {};
  const number = run.status === 'running' ? steadyNumber : formatNumber;
  return [
    ...(vectors > 1 && !result ? [classTile(vectors, curves)] : []),
    {
      name: 'objective',
      value: text(primal, number),
      ...(vectors > 1 && result && { note: `all ${formatCount(vectors)} classes` }),
    },
    { name: 'bound', value: text(dual && Math.max(dual, leastBound(run.start)), number) },
    {
      name: 'relative gap',
      value: text(gapOf(run) ?? (result ? undefined : latest?.relativeGap), formatProof),
      note: `tolerance ${formatNumber(run.start.tolerance)}`,
    },
    ...effortTiles(run, result ?? {}, latest, vectors > 1 && result !== undefined),
    ...testTiles(run, latest, curves),
  ];
}

function text(value: number | null | undefined, format: (value: number) => string): string {
  return typeof value === 'number' && Number.isFinite(value) ? format(value) : '–';
}

function classTile(vectors: number, curves: VectorCurves | undefined): TileContent {
  const value = curves ? `${curves.vector + 1} of ${formatCount(vectors)}` : '–';
  return { name: 'class', value, note: 'against the rest' };
}

function streamTiles({ report, start }: RunSummary): TileContent[] {
  const error = (value: number) => formatError(value, start.task);
  return [
    { name: 'rows', value: text(report?.rows, formatCount) },
    { name: 'loss', value: text(report?.loss, formatNumber), note: 'progressive' },
    { name: 'recent loss', value: text(report?.recentLoss, formatNumber) },
    { name: 'error', value: text(report?.error, error), note: 'progressive' },
    { name: 'recent error', value: text(report?.recentError, error) },
    { name: 'time', value: text(report?.seconds, formatSeconds) },
  ];
}

/** The limits are those of each vector, whereas a result counts all of them together. */
function effortTiles(
  run: RunSummary,
  result: Partial<NonNullable<RunSummary['result']>>,
  latest: EpochLine | undefined,
  isOfAll: boolean,
): TileContent[] {
  const { epochs, time } = run.start;
  const limited = !isOfAll && epochs !== undefined && epochs !== defaultEpochs;
  return [
    {
      name: 'epoch',
      value: text(result.epochs ?? latest?.epoch, formatCount),
      ...(limited && { note: `limit ${formatCount(epochs)}` }),
    },
    { name: 'passes', value: text(result.passes ?? latest?.passes, shortNumber) },
    {
      name: 'time',
      // All classes have one clock, and one limit on it.
      value: text(runSeconds(run), formatSeconds),
      ...(time !== undefined && { note: `limit ${formatSeconds(time)}` }),
    },
  ];
}

/** On the test rows, by the result for the model as a whole; before it for one vector alone. */
function testTiles(
  run: RunSummary,
  latest: EpochLine | undefined,
  curves: VectorCurves | undefined,
): TileContent[] {
  const { result, start } = run;
  const error = (value: number) => formatError(value, start.task);
  const isOfClass = vectorsOf(run) > 1 && !result;
  if (vectorsOf(run) > 1 && result) {
    const { test } = result;
    if (!test) return [];
    const [name, value] =
      test.task === 'multi-label'
        ? ['Hamming loss', error(test.hammingLoss)]
        : ['test error', text(errorOf(test), error)];
    return [{ name, value, note: 'on test rows', roomy: true }];
  }
  const tiles: TileContent[] = [];
  if (latest?.testError !== undefined) {
    const value = errorOf(result?.test) ?? latest.testError;
    const note = isOfClass ? 'of this class' : bestNote(curves, 'testError', value, error);
    const name = start.task === 'regression' ? 'test mse' : 'test error';
    tiles.push({ name, value: error(value), ...(note && { note }), roomy: true });
  }
  if (latest?.testAuprc !== undefined) {
    const value = auprcOf(result?.test) ?? latest.testAuprc;
    const { positive } = (result?.test ?? {}) as { readonly positive?: string | number };
    const whole = positive === undefined ? undefined : `of ${positive}`;
    const note = isOfClass
      ? 'of this class'
      : (bestNote(curves, 'testAuprc', value, precise) ?? whole);
    tiles.push({ name: 'AUPRC', value: precise(value), ...(note && { note }), roomy: true });
  }
  return tiles;
}

function errorOf(test: Metrics | undefined): number | undefined {
  if (!test || test.task === 'multi-label') return undefined;
  return test.task === 'regression' ? test.mse : test.error;
}

function auprcOf(test: Metrics | undefined): number | undefined {
  return (test && 'auprc' in test ? test.auprc : undefined) ?? undefined;
}

/** That it was better before, which suggests stopping earlier. */
function bestNote(
  curves: VectorCurves | undefined,
  name: 'testError' | 'testAuprc',
  value: number,
  format: (value: number) => string,
): string | undefined {
  const sign = name === 'testError' ? 1 : -1;
  const { [name]: values = [], epoch = [] } = curves?.series ?? {};
  let best: number | undefined;
  for (const [index, other] of values.entries()) {
    if (other !== null && sign * other < sign * (values[best ?? -1] ?? value)) best = index;
  }
  const found = values[best ?? -1];
  if (typeof found !== 'number' || format(found) === format(value)) return undefined;
  const word = name === 'testError' ? 'least' : 'best';
  return `${word} ${format(found)} at epoch ${formatCount(epoch[best!])}`;
}

function precise(value: number): string {
  return value.toFixed(4);
}

/** Six digits, with zeros at the end: numbers that change must not dance. */
function steadyNumber(value: number): string {
  const size = Math.abs(value);
  return size >= 1e-3 && size < 1e6 ? value.toPrecision(6) : formatNumber(value);
}

function shortNumber(value: number): string {
  return value < 100 ? value.toPrecision(3) : formatCount(Math.round(value));
}
