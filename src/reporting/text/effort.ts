import { lossEntry } from '../../problem/losses/index.ts';
import type { TrainReport } from '../../train/options/options.ts';
import { formatBytes, plural } from '../format.ts';

/** From this share of the time on, waiting calls for advice. */
const much = 0.5;

/** What the threads did with their time; undefined for one thread, which never waits. */
export function describeEffort(report: TrainReport): string | undefined {
  const { effort, threads, ranks = 1 } = report;
  const all = effort.computing + effort.waiting;
  if (threads * ranks === 1 || !(all > 0)) return undefined;
  const share = (part: number) => `${Math.round((100 * part) / all)} %`;
  const line = `threads computed ${share(effort.computing)} and waited ${share(effort.waiting)} of the time`;
  if (ranks === 1) return line;
  return `${line}; ${formatBytes(effort.bytes)} sent between ranks`;
}

/** What would be faster where ranks mostly wait for blocks; `fewRotations` is the most to propose. */
export function adviseOnRanks(report: TrainReport, fewRotations: number): string | undefined {
  const { effort, ranks = 1, rotations, solver, loss, penalty, grid, threads } = report;
  const waiting = effort.waiting / Math.max(Number.MIN_VALUE, effort.computing + effort.waiting);
  if (ranks === 1 || !(waiting > much)) return undefined;
  if (grid < ranks * threads) {
    return `the grid has ${plural(grid, 'worker')} for ${plural(ranks * threads, 'thread')}: --grid ${ranks * threads} would give all of them work (and change the model)`;
  }
  const smooth = lossEntry(loss)?.smooth ?? true;
  if (smooth && penalty === 'l2' && solver !== 'lbfgs') {
    return 'waiting for blocks took most of the time: --solver lbfgs moves the weights twice an epoch';
  }
  if (!solver.startsWith('ring') || rotations === undefined) return undefined;
  // As many hand-offs as cost no more than the work between them.
  const affordable = Math.floor(rotations * (effort.computing / effort.waiting));
  const fewer = Math.max(1, Math.min(fewRotations, affordable));
  if (fewer > rotations / 2) return undefined;
  return `waiting for blocks took most of the time: --rotations ${fewer} instead of ${rotations} would exchange them less often, for more epochs (and change the model)`;
}
