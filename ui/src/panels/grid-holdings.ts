import type { Look } from '../../../src/apps/dashboard/api.ts';
import type { BeginLine } from '../../../src/reporting/records/record.ts';

/** Where a block of w is. */
export interface Holding {
  readonly block: number;
  /** −1: nobody has it. */
  readonly worker: number;
  /** It is with another process, and the worker is the one that the schedule expects. */
  readonly isExpected: boolean;
}

/** seen: while a run goes on; home: when it does not; unknown: it goes on, and nobody tells. */
export type Whereabouts = 'seen' | 'home' | 'unknown';

export function whereaboutsOf(
  { grid }: Pick<BeginLine, 'grid'>,
  look: Look | undefined,
  running: boolean,
): Whereabouts {
  if (!running) return 'home';
  return look?.holders.length === grid ? 'seen' : 'unknown';
}

/** Before and after a run worker q has block q. */
function atHome(size: number): Holding[] {
  return Array.from({ length: size }, (_, k) => ({ block: k, worker: k, isExpected: false }));
}

/** Where all blocks are: as they were last seen while the run goes on, at home otherwise. */
export function holdingsOf(
  begin: Pick<BeginLine, 'grid'>,
  look: Look | undefined,
  running: boolean,
): Holding[] {
  const { grid } = begin;
  if (!look || whereaboutsOf(begin, look, running) !== 'seen') return atHome(grid);
  const expected = new Set(look.elsewhere);
  return look.holders.map((holder, block) => ({
    block,
    worker: holder >= 0 && holder < grid ? holder : -1,
    isExpected: expected.has(block),
  }));
}
