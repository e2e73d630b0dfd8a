/** What a worker thread runs. */
import { parentPort } from 'node:worker_threads';
import { answerRequests } from './engine/thread.ts';
import { threadTasks } from './train/tasks.ts';

answerRequests(threadTasks);
parentPort?.postMessage('started', []);
