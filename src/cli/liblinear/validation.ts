/** Scores of held-out rows as LIBLINEAR reports them. */

/** The share of rows whose label is told; `scores` by vector, `labels` in the order of vectors. */
export function accuracyOf(
  scores: readonly Float64Array[],
  labels: readonly number[],
  truth: Float64Array,
): number {
  let right = 0;
  for (let row = 0; row < truth.length; row += 1) {
    if (predicted(scores, labels, row) === truth[row]) right += 1;
  }
  return right / truth.length;
}

/** Of two labels the second is the positive side, as in our models; of more the largest score. */
function predicted(
  scores: readonly Float64Array[],
  labels: readonly number[],
  row: number,
): number {
  if (scores.length === 1) return scores[0][row] > 0 ? labels[1] : labels[0];
  let best = 0;
  for (let vector = 1; vector < scores.length; vector += 1) {
    if (scores[vector][row] > scores[best][row]) best = vector;
  }
  return labels[best];
}

export interface RegressionQuality {
  readonly meanSquaredError: number;
  /** Of predictions and labels; NaN if either is the same in all rows. */
  readonly squaredCorrelation: number;
}

export function regressionQuality(scores: Float64Array, truth: Float64Array): RegressionQuality {
  const rows = truth.length;
  const mean = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0) / rows;
  const [middleScore, middleLabel] = [mean(scores), mean(truth)];
  let [squares, together, ofScores, ofLabels] = [0, 0, 0, 0];
  for (let row = 0; row < rows; row += 1) {
    const [score, label] = [scores[row] - middleScore, truth[row] - middleLabel];
    squares += (scores[row] - truth[row]) ** 2;
    together += score * label;
    ofScores += score * score;
    ofLabels += label * label;
  }
  return {
    meanSquaredError: squares / rows,
    squaredCorrelation: (together * together) / (ofScores * ofLabels),
  };
}
