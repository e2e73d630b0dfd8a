/** What a checkpoint has saved of a run, checked before it is taken back. */
import { Stored } from '../engine/checkpoint/header.ts';
import type { SavedConvergence } from './convergence.ts';
import { mostOfSlack } from './evaluation-schedule.ts';

/** What a lower bound may be above the primal value by rounding, relative to it. */
const rounding = 1e-6;
/** Epochs to the next evaluation: far above what any run has. */
const mostEpochsAhead = 1e6;

interface CheckpointedRun {
  readonly epoch: number;
  readonly grid: number;
}

/** Checks types, ranges and lengths, and that no bound is above the primal value. */
export function checkedConvergence(value: unknown, run: CheckpointedRun): SavedConvergence {
  const saved = new Stored(value, 'saved.convergence');
  const primal = saved.get('primal').finite();
  checkBound(saved.get('dual'), primal);
  checkProved(saved.get('proved'), primal);
  saved.get('stalled').whole();
  saved.get('notedGap').number();
  const watch = saved.get('watch');
  watch.get('epoch').whole(0, run.epoch);
  for (const key of ['gap', 'primal']) watch.get(key).number();
  checkBoolean(saved.get('kept'));
  const latest = saved.get('latest');
  if (latest.value !== null) checkGap(latest);
  checkMeasured(saved.get('measured'));
  checkBoolean(saved.get('ends'));
  checkBoolean(saved.get('whole'));
  const visited = saved.get('visited').items();
  if (visited.length > run.epoch) saved.get('visited').reject(`${run.epoch} epochs at most`);
  for (const epoch of visited) checkVisits(epoch, run.grid);
  checkSchedule(saved.get('schedule'), run.epoch);
  const early = saved.get('early');
  if (early.value !== undefined) {
    checkMeasured(early.get('best'));
    early.get('since').whole();
  }
  return value as SavedConvergence;
}

/** A lower bound on the optimum; −∞ if none is known. */
function checkBound(bound: Stored, primal: number): void {
  const highest = primal + rounding * Math.max(1, Math.abs(primal));
  if (bound.number() > highest) bound.reject(`a lower bound, at most ${primal}`);
}

function checkProved(proved: Stored, primal: number): void {
  checkBound(proved.get('dual'), primal);
  for (const key of ['dualAllowance', 'gap', 'allowance']) proved.get(key).number(0);
}

function checkGap(gap: Stored): void {
  checkBound(gap.get('dual'), gap.get('primal').finite());
}

function checkMeasured(measured: Stored): void {
  if (measured.value === null) return;
  measured.get('error').number(0);
  const auprc = measured.get('auprc');
  // Without a row of the class there is no curve.
  if (auprc.value !== undefined && !Number.isNaN(auprc.value)) auprc.number(0);
}

function checkBoolean(stored: Stored): void {
  if (typeof stored.value !== 'boolean') stored.reject('true or false');
}

/** Every rotation visits each of the p · p cells once. */
function checkVisits(epoch: Stored, grid: number): void {
  checkGap(epoch);
  const cells = grid * grid;
  const visits = epoch.get('visits');
  const list = visits.items();
  if (list.length % cells !== 0) visits.reject(`a multiple of ${cells} visits`);
  for (const visit of list) visit.whole(0, cells - 1);
}

function checkSchedule(schedule: Stored, epoch: number): void {
  schedule.get('due').whole(1, epoch + mostEpochsAhead);
  schedule.get('epoch').whole(0, epoch);
  schedule.get('gap').number();
  schedule.get('passes').finite(0);
  schedule.get('ofSlack').number(0, mostOfSlack);
}

/**
 * Checks what a method has saved against what the same method saves before its first epoch: the same
 * keys, with finite numbers where it has numbers. Lists may have any length, which restore() checks.
 */
export function checkSavedMethod(value: unknown, own: object): void {
  const saved = new Stored(value, 'saved.method');
  saved.get('passes').finite(0);
  checkLike(saved, own);
}

function checkLike(saved: Stored, own: unknown): void {
  if (typeof own === 'number') saved.finite();
  else if (typeof own === 'boolean') checkBoolean(saved);
  else if (Array.isArray(own)) for (const item of saved.items()) item.finite();
  else {
    const expected = Object.keys(own as object);
    const other = Object.keys(saved.fields()).find((key) => !expected.includes(key));
    if (other !== undefined) saved.get(other).reject('nothing there');
    for (const key of expected) checkLike(saved.get(key), (own as Record<string, unknown>)[key]);
  }
}
