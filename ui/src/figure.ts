import type { FigureQuery } from '../../src/apps/dashboard/api.ts';
import type { View } from './charts/view.ts';
import type { QuantityKey } from './quantity.ts';

/** The address of a file with what a chart shows; runs that are gone only keep their places. */
export function figureAddress(
  view: View,
  y: QuantityKey,
  format: 'svg' | 'png',
  isThere: (id: string) => boolean,
): string {
  const query: FigureQuery = {
    runs: view.runs.map((id) => (isThere(id) ? id : '')).join(','),
    y,
    x: view.x,
    format,
    scale: view.ylog.includes(y) ? 'log' : 'linear',
    ...(view.xlog && { xscale: 'log' as const }),
    ...(view.vector > 0 && { class: String(view.vector + 1) }),
    ...(view.zoom && { from: String(view.zoom[0]), to: String(view.zoom[1]) }),
  };
  return `api/figure?${new URLSearchParams({ ...query })}`;
}

/** Points to ask for of each run, so that many together stay light. */
export function pointsFor(runs: number): number {
  return Math.min(4000, Math.max(200, Math.floor(120_000 / Math.max(1, runs))));
}
