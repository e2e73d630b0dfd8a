import type { FigureAxis, FigureQuantity } from '../apps/dashboard/api.ts';

/** A figure that is asked for, apart from the runs in it. */
export interface FigureRequest {
  readonly y: FigureQuantity;
  readonly x: FigureAxis;
  readonly scale?: 'linear' | 'log';
  readonly xscale?: 'linear' | 'log';
  /** The part of the x axis to show. */
  readonly from?: number;
  readonly to?: number;
}

export const figureQuantities: readonly FigureQuantity[] = [
  'objective',
  'gap',
  'testError',
  'testAuprc',
  'progressiveLoss',
  'progressiveError',
  'updates',
  'memory',
];

export const figureAxes: readonly FigureAxis[] = ['seconds', 'epoch', 'passes'];
