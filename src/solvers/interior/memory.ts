import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import { allColumns } from '../whole.ts';
import { allocateColumns } from './columns.ts';
import { allocateGrowingSet, type GrowingSetMemory } from './growing-set.ts';
import { mostColumns } from './plan.ts';
import { allocateRows } from './rows.ts';
import { allocateSetSystem, type SetSystemMemory } from './set-system.ts';
import { allocateShort, type ShortMemory } from './short-system.ts';
import { allocateTall, type TallMemory } from './tall-system.ts';

export interface InteriorSettings {
  /** The linear system: columns × columns, rows × rows, or columns of a growing set. */
  readonly side: 'columns' | 'rows' | 'set';
  /** Pieces of the loss: 2 where it has a zone that costs nothing. */
  readonly pieces: 1 | 2;
  readonly l1: boolean;
  readonly bounded: boolean;
  /** Columns without a penalty. */
  readonly free: number;
  /** Columns that join a growing set at a time; asks for such a set where it is given. */
  readonly joining?: number;
  /** Another method takes over where that set would become too large. */
  readonly yields?: boolean;
}

export type InteriorMemory = ReturnType<typeof allocateInterior>;

export function allocateInterior(arena: Arena, partition: Partition, settings: InteriorSettings) {
  const { pieces, l1, bounded } = settings;
  const grows = settings.side === 'set';
  const rows = partition.rowOrder.length;
  return {
    /** The point that is offered, and its margins; the iterate's are `iterate`. */
    weights: arena.float64(partition.bufferLength),
    margins: arena.float64(rows),
    iterate: arena.float64(rows),
    trial: arena.float64(partition.bufferLength),
    trialMargins: arena.float64(rows),
    rows: allocateRows(arena, rows, pieces),
    columns: allocateColumns(arena, partition, { l1, bounded, grows }),
    system: allocateSystem(arena, partition, settings),
  };
}

interface SystemMemory {
  readonly columns?: TallMemory;
  readonly rows?: ShortMemory;
  readonly set?: { readonly system: SetSystemMemory; readonly growing: GrowingSetMemory };
}

function allocateSystem(
  arena: Arena,
  partition: Partition,
  settings: InteriorSettings,
): SystemMemory {
  const { side, l1, bounded, free } = settings;
  if (side === 'columns') return { columns: allocateTall(arena, partition) };
  if (side === 'rows') {
    return { rows: allocateShort(arena, partition, { constantColumns: !l1 && !bounded, free }) };
  }
  const most = Math.min(mostColumns, allColumns(partition));
  const growing = allocateGrowingSet(arena, partition, most);
  return { set: { system: allocateSetSystem(arena, partition, most), growing } };
}
