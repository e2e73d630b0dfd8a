import type { GridLayout } from './grid-layout.ts';

/** How loads become shades of grey. */
export interface LoadScale {
  /** Non-zeros of a cell that has its share. */
  readonly fair: number;
  /** What the darkest shade stands for: twice the fair load, or the fullest cell if that is more. */
  readonly darkest: number;
}

export function loadScaleOf(cells: readonly number[]): LoadScale {
  const total = cells.reduce((sum, load) => sum + load, 0);
  const fair = total / cells.length;
  return { fair, darkest: cells.reduce((most, load) => Math.max(most, load), 2 * fair) };
}

/** Shades that an eye tells apart. */
const shades = 24;

/** How strongly a cell is shaded: from 0.03 when empty to 0.45, in steps. */
export function shadeOf(load: number, { darkest }: LoadScale): number {
  const step = darkest > 0 ? Math.round((shades * load) / darkest) : 0;
  return Math.round(1000 * (0.03 + (0.42 * step) / shades)) / 1000;
}

/** Cells of one shade. */
export interface ShadedCells {
  readonly shade: number;
  readonly path: string;
}

/** All cells as a few paths, since thousands of elements would make the page slow. */
export function shadedCells(layout: GridLayout, cells: readonly number[]): ShadedCells[] {
  const { size, left, top, cell } = layout;
  const scale = loadScaleOf(cells);
  const seam = cell >= 6 ? 1 : 0;
  const side = cell - seam;
  const paths = new Map<number, string>();
  cells.forEach((load, at) => {
    const shade = shadeOf(load, scale);
    const x = left + (at % size) * cell + seam / 2;
    const y = top + Math.floor(at / size) * cell + seam / 2;
    const square = `M${round(x)} ${round(y)}h${round(side)}v${round(side)}h${round(-side)}z`;
    paths.set(shade, (paths.get(shade) ?? '') + square);
  });
  return [...paths].map(([shade, path]) => ({ shade, path }));
}

const round = (value: number) => Math.round(100 * value) / 100;
