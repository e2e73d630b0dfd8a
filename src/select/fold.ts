import type { Targets } from '../data/labels.ts';
import type { Loss } from '../problem/losses/loss.ts';
import type { Fit } from '../train/fit.ts';
import { type MeasureName, measure } from '../train/select/measure.ts';

/** What was found out about one λ on one fold. */
interface Step {
  readonly value: number;
  readonly relativeGap: number;
  readonly epochs: number;
  readonly passes: number;
}

/** Scores and effort of one λ, until all vectors have come to it. */
interface Gathering {
  readonly scores: Float64Array[];
  missing: number;
  relativeGap: number;
  epochs: number;
  passes: number;
}

/** One fold: measures each λ as soon as all vectors have been fitted, and forgets the scores. */
export class Fold {
  /** By place of the λ, as far as they are measured. */
  readonly steps: Step[] = [];
  readonly #gatherings = new Map<number, Gathering>();
  readonly #targets: Targets;
  /** Of the rows held out, by vector. */
  readonly #wanted: Float64Array[] = [];
  readonly #isHeldOut: (_: number, row: number) => boolean;
  readonly #weights: Float64Array;
  readonly #vectors: number;
  /** Whether a row has one class of several. */
  readonly #several: boolean;

  constructor(
    fold: Int32Array,
    which: number,
    targets: Targets,
    rowWeights: Float64Array,
    { vectors, several }: { readonly vectors: number; readonly several: boolean },
  ) {
    this.#targets = targets;
    this.#isHeldOut = (_, row) => fold[row] === which;
    this.#weights = rowWeights.filter(this.#isHeldOut);
    this.#vectors = vectors;
    this.#several = several;
  }

  add(
    step: number,
    vector: number,
    scores: Float64Array,
    outcome: Fit['outcome'] | undefined,
    name: MeasureName,
    loss: Loss,
  ): void {
    const found = this.#gatherings.get(step) ?? {
      scores: [],
      missing: this.#vectors,
      relativeGap: 0,
      epochs: 0,
      passes: 0,
    };
    this.#gatherings.set(step, found);
    found.scores[vector] = scores;
    found.missing -= 1;
    found.relativeGap = Math.max(found.relativeGap, outcome?.relativeGap ?? 0);
    found.epochs += outcome?.epochs ?? 0;
    found.passes += outcome?.passes ?? 0;
    if (found.missing > 0) return;
    this.#gatherings.delete(step);
    const { relativeGap, epochs, passes } = found;
    const targets = found.scores.map((_, own) => this.#wantedOf(own));
    const heldOut = { scores: found.scores, targets, weights: this.#weights };
    const value = measure(name, heldOut, loss, this.#several);
    this.steps[step] = { value, relativeGap, epochs, passes };
  }

  #wantedOf(vector: number): Float64Array {
    this.#wanted[vector] ??= this.#targets.of(vector).filter(this.#isHeldOut);
    return this.#wanted[vector];
  }
}
