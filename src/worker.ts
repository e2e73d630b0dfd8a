/** What a worker thread runs: it waits for requests and answers them by name. */
import { parentPort } from 'node:worker_threads';
import { parseTasks } from './data/read/tasks.ts';
import { collectGarbage } from './engine/arena.ts';
import type { Reply, Request } from './engine/thread-pool.ts';
import { type RunPayload, runThread } from './solvers/run.ts';
import { type FillPayload, fill, type HashPayload, hash } from './train/fit.ts';

type Task = (payload: never, emit: (event: unknown) => void) => unknown;

const tasks: Record<string, Task> = {
  ...(parseTasks as Record<string, Task>),
  fill: (payload: FillPayload) => fill(payload),
  hash: (payload: HashPayload) => hash(payload),
  'collect-garbage': () => collectGarbage(),
  solve: (payload: RunPayload, emit) => inTurn(() => runThread(payload, emit)),
};

let last: Promise<unknown> = Promise.resolve();

/**
 * Threads of a run wait for one another. Where several runs go on at the same time, every thread
 * must take them in the order they were given out, however long one takes to load its loss.
 */
function inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
  const result = last.then(run);
  last = result.catch(() => {});
  return result;
}

async function answer({ id, task, payload }: Request): Promise<void> {
  const send = (reply: Reply) => parentPort?.postMessage(reply, []);
  try {
    send({ id, result: await tasks[task](payload as never, (event) => send({ id, event })) });
  } catch (error) {
    send({ id, error: error instanceof Error ? error : new Error(String(error)) });
  }
}

parentPort?.on('message', (request: Request) => void answer(request));
