import type { BeginLine } from '../../../src/reporting/records/record.ts';
import { hatchedWorkers } from './grid-colors.ts';

/** Workers up to which every cell is drawn. */
const drawnCells = 64;

/** A process, the rows that it owns, and its name at the edge. */
interface RankBand {
  readonly rank: number;
  readonly first: number;
  readonly end: number;
  readonly name: string;
  /** What fits next to the band; the empty text if nothing does. */
  readonly label: string;
}

export type GridLayout = ReturnType<typeof layOutGrid>;

/** Thickness of the strips of α and w, and their distance from the matrix. */
const strip = 14;
const gap = 5;
const digit = 7;
const line = 13;
const edge = 18;
const lineOfLegend = 28;
/** Of the legend. */
const leastWidth = 290;

/** A small grid needs less than all of the room. */
const mostOf = (size: number) => Math.min(480, 120 + 40 * size);

/** The smallest power of two of cells in which a label finds room. */
function stepFor(cell: number, room: number): number {
  let step = 1;
  while (step * cell < room) step *= 2;
  return step;
}

/** The process that plays a worker; 0 where there is only one. */
export function rankOf(begin: Pick<BeginLine, 'firsts'>, worker: number): number {
  return Math.max(
    0,
    (begin.firsts ?? [0]).findLastIndex((first) => first <= worker),
  );
}

/** "rank 1 · node7" */
export function rankName(begin: Pick<BeginLine, 'hosts'>, rank: number): string {
  const host = begin.hosts?.[rank];
  return host === undefined ? `rank ${rank}` : `rank ${rank} · ${host}`;
}

function bandsOf(begin: BeginLine, cell: number): RankBand[] {
  const { firsts = [], grid } = begin;
  if (firsts.length < 2) return [];
  const bands = firsts.map((first, rank) => {
    const end = firsts[rank + 1] ?? grid;
    const room = (end - first) * cell;
    const name = rankName(begin, rank);
    const fits = [name, `rank ${rank}`, String(rank)].find((text) => text.length * 6.5 <= room);
    return { rank, first, end, name, label: fits ?? '' };
  });
  // With more processes than workers some have nothing to do.
  return bands.filter(({ first, end }) => end > first);
}

/** Where everything is, in pixels. Cell (q, r) begins at left + r·cell, top + q·cell. */
export function layOutGrid(begin: BeginLine, room: number) {
  const size = begin.grid;
  const hasRanks = (begin.firsts?.length ?? 0) > 1;
  const label = String(size - 1).length * digit + 4;
  const left = (hasRanks ? line + 6 : 0) + label + strip + gap;
  const top = line + 4 + strip + gap;
  const hasCells = size <= drawnCells;
  const legendLines = hasCells && size > 1 && begin.loads.cells ? 2 : 1;
  const available = Math.max(size, Math.min(mostOf(size), room - left - edge));
  // Whole pixels have sharp edges; where a cell has only a few, all of the room counts for more.
  const cell = available / size >= 6 ? Math.floor(available / size) : available / size;
  return {
    size,
    left,
    top,
    cell,
    strip,
    gap,
    width: Math.max(left + size * cell + edge, Math.min(room, leastWidth)),
    height: top + size * cell + edge + legendLines * lineOfLegend,
    /** Where the legend begins. */
    legend: top + size * cell + edge,
    hasCells,
    hasNumbers: cell >= 20,
    hasHatches: size <= hatchedWorkers,
    /** Every how many rows and columns have a label. */
    rowStep: stepFor(cell, line),
    columnStep: stepFor(cell, label),
    ranks: bandsOf(begin, cell),
  };
}

/** The cell under a point of the figure, as worker and block. */
export function cellAt(
  layout: GridLayout,
  x: number,
  y: number,
): { worker: number; block: number } | undefined {
  const block = Math.floor((x - layout.left) / layout.cell);
  const worker = Math.floor((y - layout.top) / layout.cell);
  const isInside = (index: number) => index >= 0 && index < layout.size;
  return isInside(block) && isInside(worker) ? { worker, block } : undefined;
}

/** Steps down and to the right. */
const steps: Readonly<Record<string, readonly [down: number, right: number]>> = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
};

/** One step with an arrow key, Home or End; the same cell at an edge and for other keys. */
export function cellAfter(
  key: string,
  { worker, block }: { worker: number; block: number },
  size: number,
): { worker: number; block: number } {
  const within = (index: number) => Math.max(0, Math.min(size - 1, index));
  const [down, right] = steps[key] ?? [0, 0];
  return { worker: within(worker + down), block: within(block + right) };
}
