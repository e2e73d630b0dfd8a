import { xlogx } from '../../math/scalars.ts';
import { CompensatedSum, sum } from '../../math/vectors.ts';
import { lossEntry, traitsOf } from '../../problem/losses/index.ts';
import type { Model } from '../model.ts';
import { meansOf } from '../predict/predict.ts';
import type { RegressionMetrics } from './evaluate.ts';

/**
 * mse = mean (μ − y)², mae = mean |μ − y|, r2 = 1 − mse / mean (y − ȳ)², where μ is what the model
 * predicts: the score u, or e^u with a log link. `name` is that of the data, for messages.
 */
export function measureRegression(
  { loss }: Pick<Model, 'loss'>,
  scores: Float64Array,
  labels: Float64Array,
  name: string,
): RegressionMetrics {
  const rows = labels.length;
  const predictions = meansOf({ loss }, scores, name);
  const residual = (_: number, row: number): number => predictions[row] - labels[row];
  const squares = total(labels, (label, row) => residual(label, row) ** 2);
  const meanLabel = sum(labels) / rows;
  const spread = total(labels, (label) => (label - meanLabel) ** 2);
  const allEqual = labels.every((label) => label === labels[0]);
  return {
    task: 'regression',
    rows,
    mse: squares / rows,
    mae: total(labels, (label, row) => Math.abs(residual(label, row))) / rows,
    r2: allEqual ? null : 1 - squares / spread,
    ...(traitsOf(loss).link === 'log' && { deviance: meanDeviance(scores, predictions, labels) }),
    // A custom loss may have the same name and mean something else by its parameter.
    ...(!loss.module &&
      lossEntry(loss.name)?.estimatesQuantile &&
      measureQuantile(loss.parameter, scores, labels)),
  };
}

function total(values: Float64Array, term: (value: number, row: number) => number): number {
  const terms = new CompensatedSum();
  for (let row = 0; row < values.length; row++) terms.add(term(values[row], row));
  return terms.total;
}

/** (1/m) Σ 2 (y log(y/μ) − y + μ) with μ = e^u and 0 log 0 = 0. */
function meanDeviance(scores: Float64Array, means: Float64Array, labels: Float64Array): number {
  const halves = total(labels, (y, row) => xlogx(y) - y * scores[row] - y + means[row]);
  return (2 * halves) / labels.length;
}

/** Mean of τ (y − u) where y > u and (1 − τ)(u − y) elsewhere; coverage: part with y ≤ u. */
function measureQuantile(
  tau: number,
  scores: Float64Array,
  labels: Float64Array,
): { pinball: number; coverage: number } {
  const rows = labels.length;
  const losses = total(labels, (y, row) =>
    y > scores[row] ? tau * (y - scores[row]) : (1 - tau) * (scores[row] - y),
  );
  const covered = total(labels, (y, row) => (y <= scores[row] ? 1 : 0));
  return { pinball: losses / rows, coverage: covered / rows };
}
