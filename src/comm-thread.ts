/** The thread that owns MPI: it joins the job and answers the requests of the main thread. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { BlockTransfer } from './engine/processes/block-transfer.ts';
import type { CommChannel } from './engine/processes/comm-channel.ts';
import { Communicator } from './engine/processes/communicator.ts';
import type { CommReport, CommThreadData, GroupInfo } from './engine/processes/mpi-group.ts';
import { probeRing } from './engine/processes/probe.ts';
import { answerRequests } from './engine/thread.ts';

/** Milliseconds between heartbeats while there are no requests. */
const idleInterval = 50;

const { launch, options, requested } = workerData as CommThreadData;
let communicator: Communicator;
let idle: NodeJS.Timeout | undefined;

const report = (message: CommReport): void => parentPort?.postMessage(message, []);

async function join(): Promise<GroupInfo> {
  communicator = await Communicator.join(launch, options, requested, (lost, message) =>
    report({ lost, message }),
  );
  const { rank, size, hosts, library, heartbeat, refusal } = communicator;
  heartbeat.steps = 1;
  heartbeat.onRankZeroAhead = () => report({ rankZeroAhead: heartbeat.steps });
  idle = setInterval(() => {
    communicator.applyRequests();
    heartbeat.poll(performance.now());
  }, idleInterval);
  return { rank, size, hosts, library, ...(refusal !== undefined && { refusal }) };
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

answerRequests(
  {
    join,
    exchange: (outgoing: readonly Uint8Array[]) => communicator.exchange(outgoing),
    probe: () => probeRing(communicator),
    transfer,
    finalize,
    applyRequests: () => communicator.applyRequests(),
  },
  ({ id, task }) => {
    if (task !== 'join') communicator.heartbeat.steps = id + 1;
  },
);
