import type { GridLayout } from './grid-layout.ts';

/** How loads become shades of grey. */
interface LoadScale {
  /** Non-zeros of a cell that has its share. */
  readonly fair: number;
  /** What the darkest shade means: twice the fair load, or the fullest cell if that is more. */
  readonly darkest: number;
}

export function loadScaleOf(cells: readonly number[]): LoadScale {
  const total = cells.reduce((sum, load) => sum + load, 0);
  const fair = total / cells.length;
  return { fair, darkest: cells.reduce((most, load) => Math.max(most, load), 2 * fair) };
}

/** Shades that an eye can distinguish. */
const shades = 24;

/** How strongly a cell is shaded: from 0.03 when empty to 0.45, in steps. */
export function shadeOf(load: number, { darkest }: LoadScale): number {
  const step = darkest > 0 ? Math.round((shades * load) / darkest) : 0;
  return Math.round(1000 * (0.03 + (0.42 * step) / shades)) / 1000;
}

/** All cells as a few paths, since thousands of elements would make the page slow. */
export function shadedCells(layout: GridLayout, cells: readonly number[]) {
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

/** Okabe and Ito's colours, as the page names them: --s0 … --s6. */
const colors = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#8C8C8C'];

/** Up to this number, workers also differ by a hatch. */
export const hatchedWorkers = 8;

/**
 * The colour of a worker, as CSS. Beyond seven they come again, paler and then deeper than at first;
 * beyond 21 only the numbers of the workers differ.
 */
export function workerColor(worker: number): string {
  const index = worker % colors.length;
  const color = `var(--s${index}, ${colors[index]})`;
  const step = Math.floor(worker / colors.length) % 3;
  if (step === 0) return color;
  const other = step === 1 ? 'var(--card, #ffffff)' : 'var(--text, #1f2328)';
  return `color-mix(in srgb, ${color} 60%, ${other})`;
}

const dot = (x: number, y: number) => `M${x - 1.4} ${y}a1.4 1.4 0 1 0 2.8 0a1.4 1.4 0 1 0 -2.8 0z`;

/**
 * A hatch for each of the first eight workers: lines or dots (filled: `solid`) on a tile of 8 × 8, as
 * the path of an SVG pattern. The first is plain.
 */
export const hatches = [
  { path: '', solid: false },
  { path: 'M-2 2L2 -2M0 8L8 0M6 10L10 6', solid: false },
  { path: 'M-2 6L2 10M0 0L8 8M6 -2L10 2', solid: false },
  { path: `${dot(2, 2)}${dot(6, 6)}`, solid: true },
  { path: 'M0 4H8', solid: false },
  { path: 'M4 0V8', solid: false },
  { path: 'M0 4H8M4 0V8', solid: false },
  { path: 'M0 8L8 0M0 0L8 8', solid: false },
];
