import type { BlockHolders } from '../../../src/apps/dashboard/api.ts';
import { formatCount, plural } from '../../../src/reporting/format.ts';
import type { BeginLine } from '../../../src/reporting/records/record.ts';
import { formatShare } from '../shared/words.ts';
import { rankName, rankOf } from './grid-layout.ts';

/** A cell in a sentence; without its non-zeros where they were not recorded. */
export function describeCell(begin: BeginLine, worker: number, block: number): string {
  const { grid, loads, nonzeros } = begin;
  const rank = (begin.ranks ?? 1) > 1 ? ` (${rankName(begin, rankOf(begin, worker))})` : '';
  const shape = `${formatCount(loads.rows[worker])} rows × ${formatCount(loads.columns[block])} columns`;
  const text = `Worker ${worker}${rank}, block ${block}: ${shape}`;
  const load = loads.cells?.[worker * grid + block];
  if (load === undefined) return text;
  const share =
    nonzeros > 0 ? `, ${formatShare((load * grid * grid) / nonzeros)} of the fair load` : '';
  return `${text}, ${plural(load, 'non-zero')}${share}`;
}

/** Who has the block of a cell, as far as it matters to the cell. */
export function describeHolder(holding: Holding, worker: number): string {
  if (holding.worker === -1) return 'No worker holds the block.';
  if (holding.worker === worker) {
    return holding.isExpected ? 'Held now, by the schedule.' : 'Held now.';
  }
  const tense = holding.isExpected ? 'should be' : 'is';
  return `The block ${tense} with worker ${holding.worker}.`;
}

function excess(part: string, beyond: number): string {
  if (beyond < 0.01) return `each ${part} has its fair share, to 1\u00a0%`;
  return `the fullest ${part} has ${formatShare(beyond)} more than its fair share`;
}

/** How evenly the data is distributed. */
export function describeImbalance({ grid, imbalance }: BeginLine): string {
  if (grid === 1) return '';
  return (
    `Non-zeros: ${excess('cell', imbalance.nonzeros)}. ` +
    `Rows: ${excess('worker', imbalance.rows)}. ` +
    `Columns: ${excess('block', imbalance.columns)}.`
  );
}

/** Above this number of blocks a list of them is too long. */
const listed = 16;

/** A grid of one, of which there is nothing to draw. */
export function describeSingle({ rows, columns, nonzeros }: BeginLine): string {
  return (
    `One worker has all ${plural(rows, 'row')}, all ${plural(columns, 'column')} ` +
    `and all ${plural(nonzeros, 'non-zero')}: nothing is handed on.`
  );
}

/** Where the blocks are, as far as the page knows. */
export function describePositions(positions: PositionKnowledge, epoch: number | undefined): string {
  if (positions === 'seen') return `Now in epoch ${epoch}.`;
  return positions === 'home'
    ? 'All blocks are at home.'
    : 'Only the page of the run itself (dso train --ui) shows where the blocks are now.';
}

/** The figure for people who do not see it. */
export function describeGrid(
  begin: BeginLine,
  holdings: readonly Holding[],
  positions: PositionKnowledge,
): string {
  const { grid, ranks = 1 } = begin;
  const processes = ranks > 1 ? ` in ${formatCount(ranks)} processes` : '';
  const scene =
    `Grid of ${plural(grid, 'worker')}${processes} by ${plural(grid, 'block')} of weights. ` +
    'Each worker owns its rows of the data and of α; blocks of w go from worker to worker.';
  if (positions === 'unknown') return `${scene} ${describePositions(positions, undefined)}`;
  if (positions === 'home') return `${scene} All blocks are at home: worker q holds block q.`;
  if (grid > listed) return scene;
  const blocks = holdings.map(({ block, worker, isExpected }) => {
    if (worker === -1) return `block ${block} is with no worker`;
    return `block ${block} is ${isExpected ? 'expected ' : ''}with worker ${worker}`;
  });
  return `${scene} Now ${blocks.join(', ')}.`;
}

/** Where a block of w is. */
export interface Holding {
  readonly block: number;
  /** −1: no worker has it. */
  readonly worker: number;
  /** It is with another process, and the worker is the one that the schedule expects. */
  readonly isExpected: boolean;
}

/** seen: the run is running and reports them; home: it is not running; unknown: it does not report. */
export type PositionKnowledge = 'seen' | 'home' | 'unknown';

export function positionsKnown(
  { grid }: Pick<BeginLine, 'grid'>,
  look: BlockHolders | undefined,
  running: boolean,
): PositionKnowledge {
  if (!running) return 'home';
  return look?.holders.length === grid ? 'seen' : 'unknown';
}

/** Before and after a run worker q has block q. */
function atHome(size: number): Holding[] {
  return Array.from({ length: size }, (_, k) => ({ block: k, worker: k, isExpected: false }));
}

/** Where all blocks are: as they were last seen while the run is running, at home otherwise. */
export function holdingsOf(
  begin: Pick<BeginLine, 'grid'>,
  look: BlockHolders | undefined,
  running: boolean,
): Holding[] {
  const { grid } = begin;
  if (!look || positionsKnown(begin, look, running) !== 'seen') return atHome(grid);
  const expected = new Set(look.elsewhere);
  return look.holders.map((holder, block) => ({
    block,
    worker: holder >= 0 && holder < grid ? holder : -1,
    isExpected: expected.has(block),
  }));
}
