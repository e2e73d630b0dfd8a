import type { Dataset } from '../../data/dataset.ts';
import { evaluate } from '../../metrics/evaluate.ts';
import type { Metrics } from '../../model/metrics/evaluate.ts';
import type { Model } from '../../model/model.ts';
import { refuseSingleRun, type SingleRun } from '../../select/refusal.ts';
import { Allowance } from '../allowance.ts';
import { makeModel } from '../assemble.ts';
import { type Fit, fitProblem, inLanes } from '../fit.ts';
import type { TrainOptions } from '../options/options.ts';
import { type Prepared, prepare } from '../prepare.ts';
import { provenanceOf } from '../provenance.ts';
import { checkLambdas, type LambdaOptions, lambdasOf, startAtZero } from './lambdas.ts';

/** `time` is for the whole path; a signal ends it after the last model that is done. */
export interface PathOptions extends Omit<TrainOptions, SingleRun | 'consume'>, LambdaOptions {}

/** One model of a path, with its own certificate. */
export interface PathPoint {
  /** From 0, of how many. */
  readonly place: number;
  readonly count: number;
  readonly lambda: number;
  readonly model: Model;
  /** Weights that are not 0. */
  readonly nonzero: number;
  readonly epochs: number;
  readonly passes: number;
  readonly test?: Metrics;
}

/** Trains one model after the other, from the largest λ on, each from where the last one ended. */
export async function trainPath(dataset: Dataset, options: PathOptions = {}): Promise<PathPoint[]> {
  const points: PathPoint[] = [];
  for await (const point of walkPath(dataset, options)) points.push(point);
  return points;
}

/** The same model by model: only what the caller keeps takes memory. */
export async function* walkPath(
  dataset: Dataset,
  { lambdas, count, ratio, ...options }: PathOptions = {},
): AsyncGenerator<PathPoint, void, undefined> {
  refuseSingleRun('a path', options);
  checkLambdas({ lambdas, count, ratio });
  const atEnd: (() => void)[] = [];
  try {
    // The test rows may be a part of the data, and other paths may be walked on it.
    const kept = { ...options, consume: false };
    const prepared = await prepare(dataset, kept, undefined, atEnd, { starts: true });
    yield* walk(prepared, lambdasOf(prepared, { lambdas, count, ratio }));
  } finally {
    for (const act of atEnd) act();
  }
}

async function* walk(
  prepared: Prepared,
  path: readonly number[],
): AsyncGenerator<PathPoint, void, undefined> {
  const { site } = prepared;
  const { settings, ground, options } = site;
  const vectors = Array.from({ length: site.vectors }, (_, vector) => vector);
  const allowance = new Allowance(
    settings.time,
    path.length * site.vectors,
    Math.min(site.vectors, ground.rooms.length),
  );
  let before: Fit[] = [];
  for (const [place, lambda] of path.entries()) {
    const fits: Fit[] = [];
    let isOver = false;
    await inLanes(site, vectors, async (vector, lane) => {
      const time = allowance.next();
      isOver ||= options.signal?.aborted === true || !(time > 0);
      if (isOver) return;
      const start = startFrom(before[vector]) ?? startAtZero(prepared, vector);
      fits[vector] = await fitProblem(site, { vector, lambda, ...start }, lane, time);
      isOver ||= fits[vector].outcome.stopped === 'interrupted';
    });
    if (isOver) return;
    before = fits;
    yield pointOf(prepared, path, place, fits);
  }
}

/** Where the fit before it ended. */
export function startFrom(before: Fit | undefined) {
  if (!before?.weights) return undefined;
  const { weights, alpha } = before;
  return { start: { weights, ...(alpha && { alpha }) } };
}

function pointOf(
  { site, input, hash, grid }: Prepared,
  path: readonly number[],
  place: number,
  fits: readonly Fit[],
): PathPoint {
  const { options, plan } = site;
  const lambda = path[place];
  const settings = { ...site.settings, lambda };
  const provenance = provenanceOf(hash, options, settings, plan);
  // Where a model started from is in its last bits.
  const start = place > 0 && { 'path-start': path[0], 'path-place': place + 1 };
  const model = makeModel(fits, input, settings, plan, grid, {
    ...(options.scale === 'unit-rows' && { unitRows: true as const }),
    provenance: { ...provenance, options: { ...provenance.options, ...start } },
  });
  let nonzero = 0;
  for (const weight of model.weights) if (weight !== 0) nonzero += 1;
  const test = input.plainTest ?? input.test;
  return {
    place,
    count: path.length,
    lambda,
    model,
    nonzero,
    epochs: model.certificate.epochs,
    passes: fits.reduce((sum, { outcome }) => sum + outcome.passes, 0),
    ...(test && { test: evaluate(model, test.dataset) }),
  };
}

/** What the rows to test on say of a model, smaller being better. */
export function testErrorOf(test: Metrics): number {
  switch (test.task) {
    case 'regression':
      return test.mse;
    case 'multi-label':
      return test.hammingLoss;
    default:
      return test.error;
  }
}
