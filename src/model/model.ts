import type { Task } from '../losses/loss.ts';
import type { StopReason } from '../train/events.ts';

/** How far from the optimum a model provably is, and how it was made. No times, hosts or threads. */
export interface Certificate {
  readonly primal: number;
  readonly dual: number;
  readonly gap: number;
  readonly relativeGap: number;
  readonly epochs: number;
  readonly stopped: StopReason;
}

/** Everything about a model but its weights; it is the readable header of a model file. */
export interface ModelDescription {
  readonly task: Task;
  readonly loss: { readonly name: string; readonly parameter: number; readonly module?: string };
  /** `low` and `high`, where weights are bounded: the ends of their box. */
  readonly penalty: {
    readonly name: string;
    readonly l1: number;
    readonly l2: number;
    readonly low?: number;
    readonly high?: number;
  };
  readonly lambda: number;
  /** Original labels of the negative and the positive class (classification only). */
  readonly classes?: readonly [number, number];
  readonly columns: number;
  readonly rows: number;
  readonly nonzeros: number;
  readonly solver: string;
  readonly grid: number;
  readonly seed: number;
  readonly certificate: Certificate;
}

export interface Model extends ModelDescription {
  /** One weight per column, 0-based, in the input's own column order. */
  readonly weights: Float64Array;
  /** The unpenalised intercept; 0 when there is none. */
  readonly intercept: number;
}
