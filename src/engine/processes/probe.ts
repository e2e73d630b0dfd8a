import { availableParallelism, cpus, hostname, totalmem } from 'node:os';
import { DsoError } from '../../errors.ts';
import type { Communicator } from './communicator.ts';
import { sharedBytes, tags } from './requests.ts';

/** What a rank says of itself. */
const rankInfo = (rank: number) => ({
  rank,
  host: hostname(),
  /** Cores that this process may use, and cores of the machine. */
  usable: availableParallelism(),
  cores: cpus().length,
  /** Bytes. */
  memory: totalmem(),
  node: process.version,
});

/** A link of the ring of ranks, as the receiver measured it. */
interface Link {
  readonly from: number;
  readonly to: number;
  /** Microseconds for a message of 8 bytes. */
  readonly latency: number;
  /** Bytes per second for messages of 8 MiB. */
  readonly bandwidth: number;
}

export interface RingProbe {
  readonly library: string;
  readonly ranks: readonly Readonly<ReturnType<typeof rankInfo>>[];
  readonly links: readonly Link[];
}

const smallMessages = 200;
const largeMessages = 8;
const largeBytes = 2 ** 23;

/** Who is there, and how fast blocks would travel round the ring. Called by every rank. */
export function probeRing(communicator: Communicator): RingProbe {
  const { rank, size, library } = communicator;
  const ranks = communicator.gatherValues(rankInfo(rank));
  if (size === 1) return { library, ranks, links: [] };
  return { library, ranks, links: communicator.gatherValues(measureLink(communicator)) };
}

/** All ranks at once send to the rank before them, as blocks of w do. */
function measureLink(communicator: Communicator): Link {
  const { rank, size } = communicator;
  const from = (rank + 1) % size;
  const to = (rank + size - 1) % size;
  const turn = (bytes: number, count: number): number => {
    const incoming = sharedBytes(bytes);
    const outgoing = sharedBytes(bytes).fill(rank + 1);
    const started = performance.now();
    for (let k = 0; k < count; k++) {
      communicator.receive(incoming, from, tags.probe);
      communicator.send(outgoing, to, tags.probe);
      communicator.finish();
    }
    const expected = from + 1;
    if (incoming[0] !== expected || incoming[bytes - 1] !== expected) {
      throw new DsoError(
        'failure',
        `a message of ${communicator.nameOf(from)} arrived with other content`,
      );
    }
    return (performance.now() - started) / 1000 / count;
  };
  turn(8, 10);
  const latency = 1e6 * turn(8, smallMessages);
  const bandwidth = largeBytes / turn(largeBytes, largeMessages);
  return { from, to: rank, latency, bandwidth };
}
