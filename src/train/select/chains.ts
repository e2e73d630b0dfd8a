import { entryOf } from '../../solvers/registry.ts';
import type { Fit } from '../fit.ts';
import type { Training } from '../prepare.ts';

/** λs from which on a path is cut in two, and the share of the first part: small λs take longer. */
const longPath = 50;
const firstShare = 0.68;

/**
 * Where the chains of a path begin, in each of which a model starts from the one before it. Two of them
 * can be trained at the same time; so that this changes no model, threads do not decide about it.
 */
export function chainStarts(
  count: number,
  { plan, grid, vectors }: Pick<Training, 'plan' | 'grid' | 'vectors'>,
): number[] {
  const isCut = entryOf(plan).followsPath && grid === 1 && vectors === 1 && count >= longPath;
  return isCut ? [0, Math.round(firstShare * count)] : [0];
}

/** A point of a path, and the weights there. */
interface Passed {
  readonly lambda: number;
  readonly weights: Float64Array;
}

/**
 * Weights at λ on the straight lines through the last two points: with the square loss a path is made
 * of such pieces. None changes its sign, and 0 stays 0, as does the number of the intercept.
 */
export function predicted(
  lambda: number,
  last: Passed,
  before: Passed,
  intercept: boolean,
): Float64Array {
  const share = (last.lambda - lambda) / (before.lambda - last.lambda);
  const weights = last.weights.slice();
  const columns = weights.length - (intercept ? 1 : 0);
  for (let j = 0; j < columns; j += 1) {
    const now = weights[j];
    if (now === 0) continue;
    const next = now + share * (now - before.weights[j]);
    weights[j] = next * now > 0 ? next : 0;
  }
  return weights;
}

/** A fit that waits for its turn with nothing but the weights that are not 0, and without its α. */
export function stored({ weights, alpha: _, ...rest }: Fit): () => Fit {
  if (!weights) return () => ({ ...rest, weights });
  const columns: number[] = [];
  for (let j = 0; j < weights.length; j += 1) if (weights[j] !== 0) columns.push(j);
  const values = Float64Array.from(columns, (j) => weights[j]);
  const { length } = weights;
  return () => {
    const restored = new Float64Array(length);
    for (const [k, j] of columns.entries()) restored[j] = values[k];
    return { ...rest, weights: restored };
  };
}
