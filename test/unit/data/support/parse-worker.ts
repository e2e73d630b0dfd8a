import { parentPort } from 'node:worker_threads';
import { parseTasks } from '../../../../src/data/read/tasks.ts';

parentPort!.on('message', ({ id, task, payload }) => {
  parentPort!.postMessage({ id, result: parseTasks[task](payload) }, []);
});
