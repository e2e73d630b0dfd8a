/** The thread that owns MPI: it joins the job and answers the requests of the main thread. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { BlockTransfer } from './engine/processes/block-transfer.ts';
import type { CommChannel } from './engine/processes/comm-channel.ts';
import { Communicator } from './engine/processes/communicator.ts';
import type {
  Failure,
  GroupInfo,
  ThreadData,
  ThreadReply,
  ThreadRequest,
} from './engine/processes/mpi-group.ts';
import { probeRing } from './engine/processes/probe.ts';
import { DsoError } from './errors.ts';

/** Milliseconds between heartbeats while there are no requests. */
const idleInterval = 50;

const { launch, options, requested } = workerData as ThreadData;
let communicator: Communicator;
let idle: NodeJS.Timeout | undefined;

const report = (message: ThreadReply): void => parentPort?.postMessage(message, []);

async function join(): Promise<GroupInfo> {
  communicator = await Communicator.join(launch, options, requested, (lost, message) =>
    report({ lost, message }),
  );
  communicator.heartbeat.steps = 1;
  communicator.heartbeat.onRankZeroAhead = () =>
    report({ rankZeroAhead: communicator.heartbeat.steps });
  idle = setInterval(() => {
    communicator.applyRequests();
    communicator.heartbeat.poll(performance.now());
  }, idleInterval);
  const { rank, size, hosts, library } = communicator;
  return { rank, size, hosts, library };
}

function transfer({ channel, port }: { channel: CommChannel; port: MessagePort }): void {
  new BlockTransfer(communicator, channel, port).run();
  port.close();
}

function finalize(): void {
  clearInterval(idle);
  communicator.announceEnd();
  report({ closing: true });
  communicator.finalize();
}

const tasks: Record<string, (payload: never) => unknown> = {
  join,
  exchange: (outgoing: readonly Uint8Array[]) => communicator.exchange(outgoing),
  probe: () => probeRing(communicator),
  transfer,
  finalize,
  applyRequests: () => communicator.applyRequests(),
};

function failureOf(error: unknown): Failure {
  const { message } = error as Error;
  return { kind: error instanceof DsoError ? error.kind : 'failure', message };
}

async function answer({ id, task, payload }: ThreadRequest): Promise<void> {
  if (task !== 'join') communicator.heartbeat.steps = id + 1;
  try {
    report({ id, result: await tasks[task](payload as never) });
  } catch (error) {
    report({ id, failure: failureOf(error) });
  }
}

parentPort?.on('message', (request: ThreadRequest) => void answer(request));
