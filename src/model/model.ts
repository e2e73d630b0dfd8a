import type { Recipe } from '../data/dataset.ts';
import type { Label } from '../data/labels.ts';
import type { Task } from '../problem/losses/loss.ts';

/**
 * Why training ended. `precision`: at the limits of double precision; `no-progress`: the gap no longer fell; `early-stop`: the error on the hold-out rows rose; `stream`: the stream ended
 * whose rows were learned from and not stored; `imported`: another program trained, without a proof.
 */
export const stopReasons = [
  'converged',
  'precision',
  'no-progress',
  'epoch-limit',
  'time-limit',
  'interrupted',
  'early-stop',
  'stream',
  'imported',
] as const;

export type StopReason = (typeof stopReasons)[number];

/** How far from the optimum a model provably is, and how it was made. No times, hosts or threads. */
export interface Certificate {
  readonly primal: number;
  readonly dual: number;
  readonly gap: number;
  readonly relativeGap: number;
  readonly epochs: number;
  readonly stopped: StopReason;
  /** Weights that are proved to be 0 in every optimum, where the penalty and the loss allow a proof. */
  readonly provedZeros?: number;
}

export type { Label } from '../data/labels.ts';

/** How a score becomes a probability. */
export type Calibration =
  /** 1 / (1 + exp(slope · score + offset)) */
  | { readonly method: 'platt'; readonly slope: number; readonly offset: number }
  /** Rises in straight lines from point to point, flat beyond the ends; scores ascend. */
  | {
      readonly method: 'isotonic';
      readonly scores: readonly number[];
      readonly probabilities: readonly number[];
    };

/** Where a model comes from; what other fields of the description do not say. */
export interface Provenance {
  /** Version of dso. */
  readonly version: string;
  /** Hash of the rows, columns, values, labels and weights that were trained on. */
  readonly data: string;
  /** Options that decided the result, by the name of the command line, in alphabetical order. */
  readonly options: Readonly<Record<string, string | number | boolean>>;
}

/** Everything about a model but its weights; it is the readable header of a model file. */
export interface ModelDescription {
  readonly task: Task;
  readonly loss: { readonly name: string; readonly parameter: number; readonly module?: string };
  readonly penalty: {
    readonly name: string;
    readonly l1: number;
    readonly l2: number;
    /** Bounds of all weights, if any. */
    readonly low?: number;
    readonly high?: number;
  };
  readonly lambda: number;
  /**
   * Classification only. Two classes, the negative one first, share one vector of weights; three or
   * more have one vector each, against all the others, in ascending order.
   */
  readonly classes?: readonly Label[];
  /** Every class has a vector of its own, and a row may belong to any number of classes. */
  readonly multiLabel?: true;
  readonly columns: number;
  readonly rows: number;
  readonly nonzeros: number;
  readonly solver: string;
  readonly grid: number;
  readonly seed: number;
  /** Of the sum of all objectives, where there are several vectors. */
  readonly certificate: Certificate;
  /** One for each vector, where there are several. */
  readonly certificates?: readonly Certificate[];
  /** How data is read to be scored. */
  readonly recipe?: Recipe;
  /** Rows are divided by their Euclidean length before they are scored. */
  readonly unitRows?: true;
  /** One for each vector. */
  readonly calibration?: readonly Calibration[];
  /**
   * Of two classes: a row is of the positive one if its probability is above this number or, where
   * the model has no probabilities, its score. Absent: if its score is above 0.
   */
  readonly threshold?: number;
  readonly provenance?: Provenance;
}

export interface Model extends ModelDescription {
  /**
   * One weight per column, 0-based, in the input's own column order; several vectors follow one
   * another.
   */
  readonly weights: Float64Array;
  /** One for each vector: the unpenalised intercept, 0 when there is none. */
  readonly intercepts: Float64Array;
  /** Names of the columns. */
  readonly featureNames?: readonly string[];
}

/** Of two classes the one that high scores mean; undefined for other models. */
export function positiveClass(model: Pick<Model, 'classes' | 'multiLabel'>): Label | undefined {
  return vectorCount(model) === 1 && !model.multiLabel ? model.classes?.[1] : undefined;
}

/** Vectors of weights: one per class, but one in all for two classes and in regression. */
export function vectorCount({
  classes,
  multiLabel,
}: Pick<ModelDescription, 'classes'> & { readonly multiLabel?: boolean }): number {
  if (classes === undefined) return 1;
  return classes.length > 2 || multiLabel ? classes.length : 1;
}

/** The weights of one vector, as a view. */
export function weightsOf(
  { weights, columns }: Pick<Model, 'weights' | 'columns'>,
  vector: number,
): Float64Array {
  return weights.subarray(vector * columns, (vector + 1) * columns);
}
