import { UsageError } from '../../errors.ts';
import { rank } from '../../math/ranking.ts';
import { CompensatedSum } from '../../math/vectors.ts';
import { lossEntry } from '../../problem/losses/index.ts';
import { type Loss, meanOfScore } from '../../problem/losses/loss.ts';

/** What models are chosen by, measured on rows that were held out. */
export const measureNames = ['error', 'loss', 'mse', 'mae', 'auc'] as const;

export type MeasureName = (typeof measureNames)[number];

/** Scores and targets of the rows that were held out, by vector. */
export interface HeldOut {
  readonly scores: readonly Float64Array[];
  readonly targets: readonly Float64Array[];
  readonly weights: Float64Array;
}

/** The error of a classification; in regression what the loss itself measures. */
export function defaultMeasure({ task, name }: Pick<Loss, 'task' | 'name'>): MeasureName {
  if (task === 'classification') return 'error';
  return lossEntry(name)?.defaultMetric ?? 'loss';
}

export function checkMeasure(given: MeasureName, { task, name }: Loss): void {
  const fits = (one: MeasureName) =>
    one === 'loss' || (one === 'error' || one === 'auc') === (task === 'classification');
  if (fits(given)) return;
  throw new UsageError(
    `the ${name} loss is for ${task}, which is not measured by ${given}: choose ${measureNames.filter(fits).join(', ')}`,
  );
}

const measures: Readonly<
  Record<MeasureName, (heldOut: HeldOut, loss: Loss, several: boolean) => number>
> = {
  error: (heldOut, _loss, several) => mean(heldOut, several ? isWrongOfMany : shareOfWrong),
  loss: (heldOut, loss) => mean(heldOut, (one, row) => totalLoss(one, loss, row)),
  mse: (heldOut, loss) => mean(heldOut, (one, row) => residual(one, loss, row) ** 2),
  mae: (heldOut, loss) => mean(heldOut, (one, row) => Math.abs(residual(one, loss, row))),
  auc: meanAuc,
};

/** Whether one value of a measure is better than another: errors are small, an area is large. */
export function isBetter(name: MeasureName, one: number, other: number): boolean {
  return name === 'auc' ? one > other : one < other;
}

/** The weighted mean over the rows; AUC, the mean of all vectors, for `auc`. */
export function measure(name: MeasureName, heldOut: HeldOut, loss: Loss, several: boolean): number {
  return measures[name](heldOut, loss, several);
}

function mean(heldOut: HeldOut, of: (heldOut: HeldOut, row: number) => number): number {
  const { weights } = heldOut;
  const total = new CompensatedSum();
  const totalWeight = new CompensatedSum();
  for (let row = 0; row < weights.length; row += 1) {
    total.add(weights[row] * of(heldOut, row));
    totalWeight.add(weights[row]);
  }
  return totalWeight.total > 0 ? total.total / totalWeight.total : 0;
}

function residual({ scores, targets }: HeldOut, { link }: Loss, row: number): number {
  return meanOfScore(link, scores[0][row]) - targets[0][row];
}

/** Of the vectors; a score above 0 predicts the label. */
function shareOfWrong({ scores, targets }: HeldOut, row: number): number {
  const wrong = scores.filter((all, vector) => all[row] > 0 !== targets[vector][row] > 0);
  return wrong.length / scores.length;
}

/** One class of several: the one with the largest score, of equal ones the first. */
function isWrongOfMany({ scores, targets }: HeldOut, row: number): number {
  let best = 0;
  for (let vector = 1; vector < scores.length; vector += 1) {
    if (scores[vector][row] > scores[best][row]) best = vector;
  }
  return targets[best][row] > 0 ? 0 : 1;
}

function totalLoss({ scores, targets }: HeldOut, loss: Loss, row: number): number {
  let total = 0;
  for (const [vector, all] of scores.entries()) {
    total += loss.value(all[row], targets[vector][row], loss.parameter);
  }
  return total;
}

/** Rows count equally, except those without weight; vectors that lack one side are left out. */
function meanAuc({ scores, targets, weights }: HeldOut): number {
  const found = scores.flatMap((all, vector) => {
    const side = (positive: boolean) =>
      all.filter((_, row) => weights[row] > 0 && targets[vector][row] > 0 === positive);
    const ranking = rank(side(true), side(false));
    return ranking ? [ranking.auc] : [];
  });
  return found.length === 0 ? 0.5 : found.reduce((sum, auc) => sum + auc, 0) / found.length;
}
