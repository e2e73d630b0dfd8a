import type { Arena } from '../../engine/arena.ts';
import { reserve } from '../block-state.ts';

/**
 * Pairs of positive numbers x and z, of rows or of columns, whose products the method drives to 0:
 * their directions dx and dz, a correction ex and ez of these, and the change of the product that a
 * correction is to bring. A row or column without the pair has x = 0.
 */
export type Pairs = Record<(typeof names)[number], Float64Array>;

const names = ['x', 'z', 'dx', 'dz', 'ex', 'ez', 'change'] as const;

export function allocatePairs(arena: Arena, length: number): Pairs {
  return reserve(arena, 'float64', length, names);
}

/** The numbers of pairs, which are what a checkpoint saves of them. */
export function named(name: string, { x, z }: Pairs): Record<string, Float64Array> {
  return { [`${name}X`]: x, [`${name}Z`]: z };
}

/** Sums over pairs whose products count `share` times, or once. */
export interface PairSum {
  readonly pairs: Pairs;
  readonly shares?: Float64Array;
}

/** Adds the sum of the products after steps of these lengths, and how many pairs there are. */
export function addProducts(
  { pairs: { x, z, dx, dz }, shares }: PairSum,
  [primal, dual]: readonly [number, number],
  values: Float64Array,
): void {
  for (let k = 0; k < x.length; k++) {
    if (!(x[k] > 0)) continue;
    const share = shares ? shares[k] : 1;
    values[0] += share * (x[k] + primal * dx[k]) * (z[k] + dual * dz[k]);
    values[1]++;
  }
}

/**
 * Raises values[2k] to the largest −dx/x and values[2k + 1] to the largest −dz/z, along the direction and
 * factors[k] times its correction: 1 over the longest steps.
 */
export function limitSteps(pairs: Pairs, factors: readonly number[], values: Float64Array): void {
  const { x, z, dx, dz, ex, ez } = pairs;
  for (let k = 0; k < x.length; k++) {
    if (!(x[k] > 0)) continue;
    const perX = -1 / x[k];
    const perZ = -1 / z[k];
    for (let f = 0; f < factors.length; f++) {
      const byX = perX * (dx[k] + factors[f] * ex[k]);
      const byZ = perZ * (dz[k] + factors[f] * ez[k]);
      if (byX > values[2 * f]) values[2 * f] = byX;
      if (byZ > values[2 * f + 1]) values[2 * f + 1] = byZ;
    }
  }
}

/** Mehrotra's corrector: the products shall be `target`, whatever dx dz would add. */
export function aimAt({ pairs, shares }: PairSum, target: number): void {
  const { x, dx, dz, change } = pairs;
  for (let k = 0; k < x.length; k++) {
    if (x[k] > 0) change[k] = target / (shares ? shares[k] : 1) - dx[k] * dz[k];
  }
}

/** Gondzio's corrector: brings the products after longer steps between a tenth and ten times the target. */
export function bringTowards(
  { pairs, shares }: PairSum,
  target: number,
  [primal, dual]: readonly [number, number],
): void {
  const { x, z, dx, dz, change } = pairs;
  for (let k = 0; k < x.length; k++) {
    if (!(x[k] > 0)) continue;
    const share = shares ? shares[k] : 1;
    const product = share * (x[k] + primal * dx[k]) * (z[k] + dual * dz[k]);
    let wanted = 0;
    if (product < 0.1 * target) wanted = 0.1 * target - product;
    else if (product > 10 * target) wanted = Math.max(10 * target - product, -10 * target);
    change[k] = wanted / share;
  }
}

/** Adds the correction, `factor` times, to the direction. */
export function addCorrection({ dx, dz, ex, ez }: Pairs, factor: number): void {
  for (let k = 0; k < dx.length; k++) {
    dx[k] += factor * ex[k];
    dz[k] += factor * ez[k];
  }
}

export function movePairs({ x, z, dx, dz }: Pairs, primal: number, dual: number): void {
  for (let k = 0; k < x.length; k++) {
    if (!(x[k] > 0)) continue;
    x[k] += primal * dx[k];
    z[k] += dual * dz[k];
  }
}

/**
 * The other half of a pair, one half's direction being `known`: first · d second + second · d first is
 * −first · second for the affine direction, else the wanted change.
 */
export function otherHalf(
  first: number,
  second: number,
  known: number,
  change: number,
  affine: boolean,
): number {
  return affine ? -first - (first / second) * known : (change - first * known) / second;
}
