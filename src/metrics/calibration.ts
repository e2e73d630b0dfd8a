import { sigmoid } from '../math/scalars.ts';
import type { Calibration } from '../model/model.ts';

/** The probability that a score stands for. */
export function calibrated(calibration: Calibration, score: number): number {
  if (calibration.method === 'platt') {
    return sigmoid(-(calibration.slope * score + calibration.offset));
  }
  const { scores, probabilities } = calibration;
  const last = scores.length - 1;
  if (score <= scores[0]) return probabilities[0];
  if (score >= scores[last]) return probabilities[last];
  // The last point at or below the score, by halving.
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (scores[middle] <= score) low = middle;
    else high = middle;
  }
  const part = (score - scores[low]) / (scores[high] - scores[low]);
  return probabilities[low] + part * (probabilities[high] - probabilities[low]);
}
