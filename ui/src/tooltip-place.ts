import type { CursorPlace } from './cursor-place.ts';

/** The chart that readings belong to, and what is free on both sides of it, in pixels. */
export interface Surroundings {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

const gap = 12;
/** Readings that are wider or higher than these parts of a chart would hide what they are of. */
const most = { width: 0.62, height: 0.4 };

/**
 * Where the readings stand, from the corner of the chart: beside the crosshair as long as they are
 * few, otherwise beside the chart, and where nothing is free there, below it.
 */
export function tooltipPlace(
  { left, offset, width: plotted }: Pick<CursorPlace, 'left' | 'offset' | 'width'>,
  box: Size,
  chart: Surroundings,
): { readonly left: number; readonly top: number } {
  const fits = box.height <= most.height * chart.height && box.width <= most.width * chart.width;
  const top = offset.top + 4;
  if (!fits && box.width + gap <= chart.right) return { left: chart.width + gap, top };
  if (!fits && box.width + gap <= chart.left) return { left: -box.width - gap, top };
  const isNarrow = box.width > (plotted - 2 * gap) / 2;
  if (!fits && isNarrow) return { left: 0, top: chart.height };
  const after = offset.left + left + gap;
  const isBefore = after + box.width > offset.left + plotted;
  return { left: isBefore ? Math.max(0, offset.left + left - gap - box.width) : after, top };
}
