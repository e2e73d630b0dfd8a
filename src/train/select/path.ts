import type { Dataset } from '../../data/dataset.ts';
import { evaluate, type Metrics } from '../../model/metrics/evaluate.ts';
import type { Model } from '../../model/model.ts';
import { entryOf } from '../../solvers/registry.ts';
import { assembleModel, provenanceOf } from '../assemble.ts';
import { type Fit, fitSubproblem, inLanes } from '../fit.ts';
import type { LaidOutTraining, Subproblem } from '../layout.ts';
import type { TrainOptions } from '../options/options.ts';
import { type TimeBudget, timeBudget } from '../train.ts';
import { chainStarts, predicted, stored } from './chains.ts';
import {
  type LambdaOptions,
  openPath,
  pathLength,
  type SingleRun,
  startOfStep,
} from './lambdas.ts';
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
  const count = pathLength(options);
  const { training, path } = await openPath(
    'a path',
    dataset,
    options,
    (vectors, plan, grid) => vectors * chainStarts(count, { plan, grid, vectors }).length,
  );
  const { halt } = training.layout;
  let coming: Coming | undefined;
  try {
    const known: (KnownFit | undefined)[] = [];
    await solveTogether({ training, path }, undefined, (found, place) => {
      known[place] = knownFit(found);
    });
    const walk = new Walk(training, path, known);
    coming = walk.runAhead();
    for (const index of path.keys()) {
      const ahead = coming.fits.get(index);
      const fits = await (ahead ? ahead() : walk.solve(index));
      coming.rethrow();
      if (!fits) return;
      yield pointOf(training, path, { index, begin: walk.beginOf(index) }, fits);
    }
  } finally {
    halt.abort();
    await coming?.ended;
    training.layout.close();
  }
}

/** What a second chain trains while the points before it are yielded. */
interface Coming {
  readonly fits: ReadonlyMap<number, () => Promise<Fit[] | undefined>>;
  /** Once nothing runs any more. */
  readonly ended: Promise<void>;
  rethrow(): void;
}

/** The models of a path, in one chain or two: a model starts from where those before it in its chain lead. */
class Walk {
  readonly #training: LaidOutTraining;
  readonly #path: readonly number[];
  readonly #known: readonly (KnownFit | undefined)[];
  readonly #starts: readonly number[];
  readonly #budget: TimeBudget;
  readonly #lanes: number;
  /** The last fits of each chain, and those before them. */
  readonly #last = new Map<number, readonly [Fit[], Fit[]]>();
  #isOver = false;

  constructor(
    training: LaidOutTraining,
    path: readonly number[],
    known: readonly (KnownFit | undefined)[],
  ) {
    const { settings, layout, vectors } = training;
    this.#training = training;
    this.#path = path;
    this.#known = known;
    this.#starts = known.length > 0 ? [0] : chainStarts(path.length, training);
    this.#lanes = Math.min(vectors * this.#starts.length, layout.workspaces.length);
    this.#budget = timeBudget(settings.time, path.length * vectors, this.#lanes);
  }

  /** Where the chain begins that a place is in. */
  beginOf(index: number): number {
    return this.#starts.findLast((start) => start <= index) ?? 0;
  }

  /** Begins with the second chain, where there is one and a lane for it. */
  runAhead(): Coming {
    const { halt } = this.#training.layout;
    const fits = new Map<number, () => Promise<Fit[] | undefined>>();
    let failure: { readonly error: unknown } | undefined;
    let last: Promise<unknown> = Promise.resolve();
    const begin = this.#starts.length > 1 && this.#lanes > 1 ? this.#starts[1] : Infinity;
    for (let index = begin; index < this.#path.length; index += 1) {
      const found = last.then(async () => (await this.solve(index, 1))?.map(stored));
      last = found.catch((error) => {
        failure ??= { error };
        halt.abort();
      });
      fits.set(index, async () => {
        fits.delete(index);
        return (await found)?.map((restore) => restore());
      });
    }
    const rethrow = () => {
      if (failure) throw failure.error;
    };
    return { fits, ended: last.then(() => {}), rethrow };
  }

  /** The models of a place, after those before it in its chain; undefined: the time is over. */
  async solve(index: number, lane?: number): Promise<Fit[] | undefined> {
    const fits: Fit[] = [];
    const solveVector = async (vector: number, inLane: number) => {
      const fit = await this.#solveVector(index, vector, inLane);
      if (fit) fits[vector] = fit;
    };
    const vectors = Array.from({ length: this.#training.vectors }, (_, vector) => vector);
    if (lane === undefined) await inLanes(this.#training, vectors, solveVector);
    else for (const vector of vectors) await solveVector(vector, lane);
    if (this.#isOver) return undefined;
    const begin = this.beginOf(index);
    this.#last.set(begin, [fits, this.#last.get(begin)?.[0] ?? []]);
    return fits;
  }

  async #solveVector(index: number, vector: number, lane: number): Promise<Fit | undefined> {
    const training = this.#training;
    const { halt } = training.layout;
    const time = this.#budget();
    const signals = [halt.signal, ...(training.options.signal ? [training.options.signal] : [])];
    this.#isOver ||= signals.some(({ aborted }) => aborted) || !(time > 0);
    if (this.#isOver) return undefined;
    const given = this.#known[index];
    if (given && 'fit' in given) return given.fit;
    const lambda = this.#path[index];
    const start = given ?? this.#startOf(index, vector);
    const fit = await fitSubproblem(training, { vector, lambda, ...start }, lane, time);
    this.#isOver ||= fit.outcome.stopped === 'interrupted';
    return fit;
  }

  #startOf(index: number, vector: number): Pick<Subproblem, 'start'> {
    const training = this.#training;
    const begin = this.beginOf(index);
    const [last, before] = (this.#last.get(begin) ?? [[], []]).map((fits) => fits[vector]);
    // Far below the largest λ a cold start is left to the solver.
    if (!last && index > 0) return {};
    if (!last?.weights || !entryOf(training.plan).followsPath) {
      return startOfStep(training, vector, last);
    }
    // Without α: at another λ it is a worse dual point than the one that the weights lead to.
    if (!before?.weights) return { start: { weights: last.weights } };
    const passed = (place: number, { weights }: Fit) => ({
      lambda: this.#path[place],
      weights: weights!,
    });
    const [one, two] = [passed(index - 1, last), passed(index - 2, before)];
    const weights = predicted(this.#path[index], one, two, training.settings.intercept);
    return { start: { weights } };
  }
}

function pointOf(
  laidOut: LaidOutTraining,
  path: readonly number[],
  { index, begin }: { readonly index: number; readonly begin: number },
  fits: readonly Fit[],
): PathPoint {
  const lambda = path[index];
  const training = { ...laidOut, settings: { ...laidOut.settings, lambda } };
  const [{ solver }] = fits;
  const provenance = solver ? provenanceOf(training, []) : provenanceOf(training);
  // Where a model started from is in its last bits.
  const place = index - begin;
  const start = place > 0 && { 'path-start': path[begin], 'path-place': place + 1 };
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
