/** What a worker thread runs. */
import { parseTasks } from './data/read/tasks.ts';
import { collectGarbage } from './engine/arena.ts';
import { answerRequests, type Task } from './engine/thread.ts';
import { type NormalPayload, runNormal } from './solvers/normal/run.ts';
import { type RunPayload, runThread } from './solvers/run.ts';
import { type FillPayload, fill, type HashPayload, hash } from './train/tasks.ts';

let last: Promise<unknown> = Promise.resolve();

/**
 * Threads of a run wait for one another. When several runs train at the same time, every thread
 * must take them in the order they were given out, however long one takes to load its loss.
 */
function inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
  const result = last.then(run);
  last = result.catch(() => {});
  return result;
}

answerRequests({
  ...(parseTasks as Record<string, Task>),
  fill: (payload: FillPayload) => fill(payload),
  hash: (payload: HashPayload) => hash(payload),
  'collect-garbage': () => collectGarbage(),
  normal: (payload: NormalPayload) => inTurn(async () => runNormal(payload)),
  solve: (payload: RunPayload, emit) => inTurn(() => runThread(payload, emit)),
});
