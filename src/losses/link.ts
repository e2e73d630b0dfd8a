import { exp } from '../math/elementary.ts';

/** Whether a model with this loss fits the logarithm of what it predicts. */
export function hasLogLink(lossName: string): boolean {
  return lossName === 'poisson';
}

/** What a regression model predicts where its score is u: e^u with a log link, else u itself. */
export function meanOfScore(lossName: string, score: number): number {
  return hasLogLink(lossName) ? exp(score) : score;
}
