import type { Dataset } from '../data/dataset.ts';
import { evaluate } from '../metrics/evaluate.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type Model, weightsOf } from '../model/model.ts';
import { type Fit, fit, inLanes } from '../train/fit.ts';
import { makeModel } from '../train/model-of.ts';
import type { TrainOptions } from '../train/options.ts';
import { type Prepared, prepare } from '../train/prepare.ts';
import { checkLambdas, lambdasBetween, largestLambda } from './lambdas.ts';

/** λ of a path: given, or so many from the largest useful one down to a fraction of it. */
export interface LambdaOptions {
  readonly lambdas?: readonly number[];
  /** Default 30. */
  readonly count?: number;
  /** The smallest λ as a part of the largest; default 1e-3. */
  readonly ratio?: number;
}

export interface PathOptions
  extends Omit<TrainOptions, 'lambda' | 'checkpoint' | 'resume'>,
    LambdaOptions {
  /** Called with each model as soon as it is there, from the largest λ on. */
  readonly onPoint?: (point: PathPoint) => unknown;
}

/** One model of a path, with its own certificate. */
export interface PathPoint {
  readonly lambda: number;
  readonly model: Model;
  /** Weights that are not 0. */
  readonly nonzero: number;
  readonly epochs: number;
  readonly passes: number;
  readonly test?: Metrics;
}

/** Trains one model after the other, each from where the one before it ended. */
export async function trainPath(
  dataset: Dataset,
  { lambdas, count, ratio, onPoint, ...options }: PathOptions,
): Promise<PathPoint[]> {
  const atEnd: (() => void)[] = [];
  try {
    const { consume: _, ...rest } = options;
    const prepared = await prepare(dataset, rest, undefined, atEnd, { starts: true });
    const path = lambdasOf(prepared, { lambdas, count, ratio });
    return await walk(prepared, path, onPoint);
  } finally {
    for (const act of atEnd) act();
  }
}

/** From the largest to the smallest, where a start from the one before helps most. */
export function lambdasOf(
  prepared: Prepared,
  {
    lambdas,
    count = 30,
    ratio = 1e-3,
  }: { [Key in keyof LambdaOptions]: LambdaOptions[Key] | undefined },
): number[] {
  if (lambdas) {
    checkLambdas(lambdas);
    return [...new Set(lambdas)].sort((left, right) => right - left);
  }
  const { site, input } = prepared;
  const { loss, penalty, intercept } = site.settings;
  const { dataset } = input.train;
  const { weights } = site.ground;
  const largest = Array.from({ length: site.vectors }, (_, vector) =>
    largestLambda(
      {
        dataset,
        targets: site.ground.targets.of(vector),
        weights,
        loss,
        intercept,
        factors: site.options.penaltyFactors,
      },
      penalty,
    ),
  );
  const first = Math.max(...largest, Number.MIN_VALUE);
  return lambdasBetween(first, first * ratio, count);
}

async function walk(
  prepared: Prepared,
  path: readonly number[],
  onPoint: PathOptions['onPoint'],
): Promise<PathPoint[]> {
  const { site } = prepared;
  const vectors = Array.from({ length: site.vectors }, (_, vector) => vector);
  let before: (Fit | undefined)[] = [];
  const points: PathPoint[] = [];
  for (const lambda of path) {
    if (site.options.signal?.aborted && points.length > 0) break;
    const fits: Fit[] = [];
    await inLanes(site, vectors, async (vector, lane) => {
      fits[vector] = await fit(site, { vector, lambda, ...startFrom(before[vector]) }, lane);
    });
    before = fits;
    const point = pointOf(prepared, lambda, fits);
    points.push(point);
    await onPoint?.(point);
  }
  return points;
}

/** Where the fit before it ended. */
export function startFrom(before: Fit | undefined) {
  if (!before?.weights) return {};
  const { weights, alpha } = before;
  return { start: { weights, ...(alpha && { alpha }) } };
}

function pointOf(prepared: Prepared, lambda: number, fits: readonly Fit[]): PathPoint {
  const { site, input, grid } = prepared;
  const model = makeModel(fits, input, { ...site.settings, lambda }, site.plan, grid);
  let nonzero = 0;
  for (let vector = 0; vector < site.vectors; vector += 1) {
    for (const weight of weightsOf(model, vector)) if (weight !== 0) nonzero += 1;
  }
  return {
    lambda,
    model,
    nonzero,
    epochs: model.certificate.epochs,
    passes: fits.reduce((sum, { outcome }) => sum + outcome.passes, 0),
    ...(input.test && { test: evaluate(model, input.test.dataset) }),
  };
}
