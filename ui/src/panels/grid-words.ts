import { formatCount, plural } from '../../../src/reporting/format.ts';
import type { BeginLine } from '../../../src/reporting/records/record.ts';
import type { Holding, Whereabouts } from './grid-holdings.ts';
import { rankName, rankOf } from './grid-layout.ts';
import { formatShare } from './units.ts';

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
  if (holding.worker === -1) return 'Nobody holds the block.';
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

/** How evenly the data has been dealt. */
export function describeImbalance({ grid, imbalance }: BeginLine): string {
  if (grid === 1) return '';
  return (
    `Non-zeros: ${excess('cell', imbalance.nonzeros)}. ` +
    `Rows: ${excess('worker', imbalance.rows)}. ` +
    `Columns: ${excess('block', imbalance.columns)}.`
  );
}

/** Above so many blocks a list of them helps nobody. */
const listed = 16;

/** A grid of one, of which there is nothing to draw. */
export function describeSingle({ rows, columns, nonzeros }: BeginLine): string {
  return (
    `One worker has all ${plural(rows, 'row')}, all ${plural(columns, 'column')} ` +
    `and all ${plural(nonzeros, 'non-zero')}: nothing is handed on.`
  );
}

/** Where the blocks are, as far as the page knows. */
export function describeWhereabouts(whereabouts: Whereabouts, epoch: number | undefined): string {
  if (whereabouts === 'seen') return `Now in epoch ${epoch}.`;
  return whereabouts === 'home'
    ? 'All blocks are at home.'
    : 'Where the blocks are now is seen on the page of the run itself (dso train --ui).';
}

/** The figure for people who do not see it. */
export function describeGrid(
  begin: BeginLine,
  holdings: readonly Holding[],
  whereabouts: Whereabouts,
): string {
  const { grid, ranks = 1 } = begin;
  const processes = ranks > 1 ? ` in ${formatCount(ranks)} processes` : '';
  const scene =
    `Grid of ${plural(grid, 'worker')}${processes} by ${plural(grid, 'block')} of weights. ` +
    'Each worker owns its rows of the data and of α; blocks of w go from worker to worker.';
  if (whereabouts === 'unknown') return `${scene} ${describeWhereabouts(whereabouts, undefined)}`;
  if (whereabouts === 'home') return `${scene} All blocks are at home: worker q holds block q.`;
  if (grid > listed) return scene;
  const places = holdings.map(({ block, worker, isExpected }) => {
    if (worker === -1) return `block ${block} is with nobody`;
    return `block ${block} is ${isExpected ? 'expected ' : ''}with worker ${worker}`;
  });
  return `${scene} Now ${places.join(', ')}.`;
}
