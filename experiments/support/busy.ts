import { Worker } from 'node:worker_threads';

/**
 * A thread that works for `work` milliseconds and then rests for `rest`, over and over: what another
 * program on the machine does to one of the workers.
 */
const program = `
const { workerData } = require('node:worker_threads');
const { work, rest, ended } = workerData;
while (Atomics.load(ended, 0) === 0) {
  const until = performance.now() + work;
  while (performance.now() < until);
  Atomics.wait(ended, 0, 0, rest);
}
`;

/** Keeps a core busy for part of the time until the returned function is called. */
export function keepBusy(work: number, rest: number): () => Promise<void> {
  const ended = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(program, { eval: true, workerData: { work, rest, ended } });
  const exited = new Promise<void>((resolve, reject) => {
    worker.once('exit', () => resolve());
    worker.once('error', reject);
  });
  return () => {
    Atomics.store(ended, 0, 1);
    Atomics.notify(ended, 0);
    return exited;
  };
}
