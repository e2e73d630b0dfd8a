/** What the thread runs that owns MPI: it joins the job and does what the main thread orders. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { Carrier } from './engine/processes/block-transfer.ts';
import { Communicator } from './engine/processes/communicator.ts';
import type { Failure, Order, Report, ThreadData } from './engine/processes/mpi-group.ts';
import { surveyRing } from './engine/processes/probe.ts';
import { DsoError } from './errors.ts';
import type { Introduction } from './mpi/peers.ts';
import type { Traffic } from './parallel/traffic.ts';

/** Milliseconds between signs of life while there are no orders. */
const idleLook = 50;

const { launch, options, wished } = workerData as ThreadData;
let communicator: Communicator;
let idle: NodeJS.Timeout | undefined;

const report = (message: Report): void => parentPort?.postMessage(message, []);

async function join(): Promise<Introduction> {
  communicator = await Communicator.join(launch, options, wished, (lost, message) =>
    report({ lost, message }),
  );
  communicator.pulse.steps = 1;
  communicator.pulse.onOvertaken = () => report({ overtaken: communicator.pulse.steps });
  idle = setInterval(() => {
    communicator.obey();
    communicator.pulse.tend(performance.now());
  }, idleLook);
  const { rank, size, hosts, library } = communicator;
  return { rank, size, hosts, library };
}

function carry({ traffic, port }: { traffic: Traffic; port: MessagePort }): void {
  new Carrier(communicator, traffic, port).run();
  port.close();
}

function leave(): void {
  clearInterval(idle);
  communicator.part();
  report({ closing: true });
  communicator.finalize();
}

const tasks: Record<string, (payload: never) => unknown> = {
  join,
  exchange: (outgoing: readonly Uint8Array[]) => communicator.exchange(outgoing),
  survey: () => surveyRing(communicator),
  carry,
  leave,
  obey: () => communicator.obey(),
};

function failureOf(error: unknown): Failure {
  const { message } = error as Error;
  return { kind: error instanceof DsoError ? error.kind : 'failure', message };
}

async function follow({ id, task, payload }: Order): Promise<void> {
  if (task !== 'join') communicator.pulse.steps = id + 1;
  try {
    report({ id, result: await tasks[task](payload as never) });
  } catch (error) {
    report({ id, failure: failureOf(error) });
  }
}

parentPort?.on('message', (order: Order) => void follow(order));
