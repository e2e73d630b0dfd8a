import type { DatasetPart } from '../data/dataset.ts';
import { groupSegments, listSegments, type ShuffleTask } from '../engine/disk/segments.ts';
import { GroupOrderer } from './stream-groups.ts';
import { RowSorter } from './stream-rows.ts';

/**
 * Brings rows from the order of the data into that of a grid on disk, in the memory given. First
 * every row is appended to its group of segments, in the stretch of the file that the group will
 * have; then one group after the other is read, brought into order and written back. On the way the
 * offsets of the cells and the positions of the chunks are filled in.
 */
export async function layOutOnDisk(task: ShuffleTask, rows: Iterable<DatasetPart>): Promise<void> {
  const list = listSegments(task.partition, task.segments);
  const groups = groupSegments(list, Math.floor(task.memory.length / 8) * 4);
  const sorter = new RowSorter(task, list, groups);
  for (const part of rows) {
    sorter.take(part);
    await breathe();
  }
  sorter.finish();
  const orderer = new GroupOrderer(task, list, groups);
  for (const group of groups) {
    orderer.order(group);
    await breathe();
  }
}

/** Lets signals and timers have their turn. */
function breathe(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
