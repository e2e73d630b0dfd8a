import type { ClassMetrics } from '../model/metrics/evaluate.ts';
import type { Label } from '../model/model.ts';

/** For each class: rows that have it, rows that were put into it, and rows where both are so. */
export class ClassCounts {
  readonly support: Float64Array;
  readonly predicted: Float64Array;
  readonly right: Float64Array;

  constructor(classes: number) {
    this.support = new Float64Array(classes);
    this.predicted = new Float64Array(classes);
    this.right = new Float64Array(classes);
  }

  metricsOf(classes: readonly Label[]): ClassMetrics[] {
    return classes.map((label, place) => {
      const support = this.support[place];
      const predicted = this.predicted[place];
      const right = this.right[place];
      return {
        class: label,
        support,
        predicted,
        precision: quotient(right, predicted),
        recall: quotient(right, support),
        f1: quotient(2 * right, support + predicted),
      };
    });
  }
}

/** 0 where there is nothing to divide by. */
export function quotient(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

/** NaN of nothing. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
