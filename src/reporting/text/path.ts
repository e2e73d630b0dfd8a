import { errorOf, type Metrics } from '../../model/metrics/evaluate.ts';
import { type Model, weightsOf } from '../../model/model.ts';
import type { PathPoint } from '../../train/select/path.ts';
import type { Point } from '../charts/quantities.ts';

/** The weight of a feature along the path. */
export interface Trace {
  readonly name: string;
  /** From the smallest λ to the largest. */
  readonly points: readonly Point[];
}

/** What is kept of a model of the path: all but its weights. */
export interface PathRow {
  readonly lambda: number;
  readonly nonzero: number;
  readonly primal: number;
  readonly dual: number;
  readonly gap: number;
  readonly relativeGap: number;
  readonly stopped: string;
  readonly epochs: number;
  readonly passes: number;
  readonly test?: Metrics;
}

/** So many of the largest weights of every model are kept for the figure. */
const keptWeights = 1000;
const drawnFeatures = 10;

interface Largest {
  readonly lambda: number;
  /** Place in the model's weights → weight. */
  readonly weights: ReadonlyMap<number, number>;
  /** Whether all others are 0. */
  readonly complete: boolean;
}

/** Collects a path without keeping its models: only the one with the least error on the test rows. */
export class PathRecord {
  readonly rows: PathRow[] = [];
  best: { readonly row: PathRow; readonly model: Model } | undefined;
  readonly #largest: Largest[] = [];
  #nameOf: (place: number) => string = String;

  add({ lambda, model, nonzero, epochs, passes, test }: PathPoint): PathRow {
    const { primal, dual, gap, relativeGap, stopped } = model.certificate;
    const certificate = { primal, dual, gap, relativeGap, stopped };
    const row = { lambda, nonzero, ...certificate, epochs, passes, ...(test && { test }) };
    this.rows.push(row);
    const { best } = this;
    if (!test || !best?.row.test || errorOf(test) < errorOf(best.row.test)) {
      this.best = { row, model };
    }
    this.#largest.push(largestWeights(lambda, model));
    this.#nameOf = (place) => featureName(model, place);
    return row;
  }

  /** The error on the test rows, from the smallest λ to the largest. */
  get errors(): Point[] {
    return this.rows
      .flatMap(({ lambda, test }): Point[] => (test ? [[lambda, errorOf(test)]] : []))
      .toReversed();
  }

  /** The features whose weight is largest somewhere, the largest first. */
  get traces(): Trace[] {
    const sizes = new Map<number, number>();
    for (const { weights } of this.#largest) {
      for (const [place, weight] of weights) {
        sizes.set(place, Math.max(sizes.get(place) ?? 0, Math.abs(weight)));
      }
    }
    const chosen = [...sizes]
      .sort(([left, a], [right, b]) => b - a || left - right)
      .slice(0, drawnFeatures);
    return chosen.map(([place]) => ({ name: this.#nameOf(place), points: this.#traceOf(place) }));
  }

  #traceOf(place: number): Point[] {
    return this.#largest
      .flatMap(({ lambda, weights, complete }): Point[] => {
        const weight = weights.get(place) ?? (complete ? 0 : undefined);
        return weight === undefined ? [] : [[lambda, weight]];
      })
      .toReversed();
  }
}

function largestWeights(lambda: number, { weights }: Model): Largest {
  const places: number[] = [];
  for (let place = 0; place < weights.length; place += 1) {
    if (weights[place] !== 0) places.push(place);
  }
  const size = (place: number) => Math.abs(weights[place]);
  const complete = places.length <= keptWeights;
  if (!complete) places.sort((left, right) => size(right) - size(left) || left - right);
  const kept = places.slice(0, keptWeights);
  return { lambda, complete, weights: new Map(kept.map((place) => [place, weights[place]])) };
}

/** By its name or number from 1, with the class where there are several vectors. */
function featureName(model: Model, place: number): string {
  const { columns, featureNames, classes } = model;
  const column = place % columns;
  const name = featureNames?.[column] ?? `feature ${column + 1}`;
  const vector = Math.floor(place / columns);
  const several = weightsOf(model, 0).length < model.weights.length;
  return several ? `${classes?.[vector]}: ${name}` : name;
}
