/** How well scores put positive rows before negative ones. */
export interface Ranking {
  /** Area under the ROC curve, a tie counting one half (Mann–Whitney). */
  readonly auc: number;
  /**
   * Area under the precision–recall curve as average precision: Σ_k (R_k − R_{k−1}) P_k over the
   * distinct scores from high to low, R and P the recall and precision when every row with at
   * least that score is called positive. Rows with equal scores enter together; nothing is
   * interpolated.
   */
  readonly auprc: number;
}

/** Both areas; null when one class is absent. Sorts its arguments, finite scores, in place. */
export function rank(positives: Float64Array, negatives: Float64Array): Ranking | null {
  if (positives.length === 0 || negatives.length === 0) return null;
  positives.sort();
  negatives.sort();
  let positive = positives.length - 1;
  let negative = negatives.length - 1;
  let auc = 0;
  let auprc = 0;
  while (positive >= 0) {
    const score = positives[positive];
    while (negative >= 0 && negatives[negative] > score) negative--;
    const above = negatives.length - 1 - negative;
    let tied = 0;
    while (positive >= 0 && positives[positive] === score) {
      positive--;
      tied++;
    }
    while (negative >= 0 && negatives[negative] === score) negative--;
    const notBelow = negatives.length - 1 - negative;
    const found = positives.length - 1 - positive;
    auc += tied * (negatives.length - (above + notBelow) / 2);
    auprc += tied * (found / (found + notBelow));
  }
  return {
    auc: auc / positives.length / negatives.length,
    auprc: auprc / positives.length,
  };
}
