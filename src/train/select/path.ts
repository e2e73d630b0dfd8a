import type { Dataset } from '../../data/dataset.ts';
import { evaluate, type Metrics } from '../../model/metrics/evaluate.ts';
import type { Model } from '../../model/model.ts';
import { assembleModel, provenanceOf } from '../assemble.ts';
import { type Fit, fitSubproblem, inLanes } from '../fit.ts';
import type { LaidOutTraining } from '../layout.ts';
import type { TrainOptions } from '../options/options.ts';
import { timeBudget } from '../train.ts';
import { type LambdaOptions, openPath, type SingleRun, startOfStep } from './lambdas.ts';
import { type KnownFit, knownFit, solveTogether } from './together.ts';

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
  options: PathOptions = {},
): AsyncGenerator<PathPoint, void, undefined> {
  const { training, path } = await openPath('a path', dataset, options);
  const { settings, layout } = training;
  const vectors = Array.from({ length: training.vectors }, (_, vector) => vector);
  const lanes = Math.min(vectors.length, layout.workspaces.length);
  const budget = timeBudget(settings.time, path.length * vectors.length, lanes);
  try {
    const known: (KnownFit | undefined)[] = [];
    await solveTogether({ training, path }, undefined, (found, place) => {
      known[place] = knownFit(found);
    });
    let before: Fit[] = [];
    for (const [index, lambda] of path.entries()) {
      const fits: Fit[] = [];
      let isOver = false;
      await inLanes(training, vectors, async (vector, lane) => {
        const time = budget();
        isOver ||= options.signal?.aborted === true || !(time > 0);
        if (isOver) return;
        const given = known[index];
        if (given && 'fit' in given) {
          fits[vector] = given.fit;
          return;
        }
        const start = given ?? startOfStep(training, vector, before[vector]);
        fits[vector] = await fitSubproblem(training, { vector, lambda, ...start }, lane, time);
        isOver ||= fits[vector].outcome.stopped === 'interrupted';
      });
      if (isOver) return;
      before = fits;
      yield pointOf(training, path, index, fits);
    }
  } finally {
    layout.close();
  }
}

function pointOf(
  laidOut: LaidOutTraining,
  path: readonly number[],
  index: number,
  fits: readonly Fit[],
): PathPoint {
  const lambda = path[index];
  const training = { ...laidOut, settings: { ...laidOut.settings, lambda } };
  const [{ solver }] = fits;
  const provenance = solver ? provenanceOf(training, []) : provenanceOf(training);
  // Where a model started from is in its last bits.
  const start = index > 0 && { 'path-start': path[0], 'path-place': index + 1 };
  const model = assembleModel(training, fits, {
    provenance: { ...provenance, options: { ...provenance.options, ...start } },
    ...(solver && { solver }),
  });
  const nonzero = model.weights.reduce((count, weight) => count + Number(weight !== 0), 0);
  const test = training.plainTest ?? training.test;
  return {
    place: index,
    count: path.length,
    lambda,
    model,
    nonzero,
    epochs: model.certificate.epochs,
    passes: fits.reduce((sum, { outcome }) => sum + outcome.passes, 0),
    ...(test && { test: evaluate(model, test.dataset) }),
  };
}
