import { plural } from '../../../src/reporting/format.ts';
import type { BeginLine, SampleLine, ThreadEffort } from '../../../src/reporting/records/record.ts';
import { formatShare } from '../shared/words.ts';
import { rankName, rankOf } from './grid-layout.ts';

/** What a thread did with its time, as parts of computing and waiting together. */
export interface ThreadShares {
  /** "worker 3", "workers 4–7" */
  readonly workers: string;
  /** "rank 1 · node7", where there are ranks. */
  readonly rank?: string;
  readonly computing: number;
  readonly waiting: number;
  /** Of messages, in parallel to the rest: counted by the first thread of a process only. */
  readonly communicating: number;
  readonly bytes: number;
  /** Seconds that the shares are of. */
  readonly seconds: number;
}

export type Period = 'all' | 'now';

const nothing = { computing: 0, waiting: 0, communicating: 0, bytes: 0 };

/** What was done between two samples; all of the later one where the books were opened anew. */
function between(later: ThreadEffort, earlier: ThreadEffort | undefined): ThreadEffort {
  const before = earlier ?? nothing;
  const isNew = later.computing < before.computing || later.waiting < before.waiting;
  if (isNew) return later;
  return {
    first: later.first,
    computing: later.computing - before.computing,
    waiting: later.waiting - before.waiting,
    communicating: Math.max(0, later.communicating - before.communicating),
    bytes: Math.max(0, later.bytes - before.bytes),
  };
}

/** The efforts of a period by first worker; those of the last two samples for "now". */
function effortsOf(samples: readonly SampleLine[], period: Period): ThreadEffort[] {
  const latest = samples.at(-1);
  if (!latest) return [];
  const earlier = period === 'now' ? samples.at(-2) : undefined;
  const before = earlier?.vector === latest.vector ? earlier : undefined;
  return latest.threads
    .map((thread) =>
      between(
        thread,
        before?.threads.find(({ first }) => first === thread.first),
      ),
    )
    .sort((left, right) => left.first - right.first);
}

function workersFrom(first: number, end: number): string {
  return end - first > 1 ? `workers ${first}–${end - 1}` : `worker ${first}`;
}

/** All threads in the order of their workers. */
export function sharesOf(
  begin: BeginLine,
  samples: readonly SampleLine[],
  period: Period,
): ThreadShares[] {
  const efforts = effortsOf(samples, period);
  return efforts.map(({ first, computing, waiting, communicating, bytes }, k) => {
    const seconds = computing + waiting;
    const share = (part: number) => (seconds > 0 ? part / seconds : 0);
    return {
      workers: workersFrom(first, efforts[k + 1]?.first ?? begin.grid),
      ...((begin.ranks ?? 1) > 1 && { rank: rankName(begin, rankOf(begin, first)) }),
      computing: share(computing),
      waiting: share(waiting),
      communicating: share(communicating),
      bytes,
      seconds,
    };
  });
}

/** Waiting, of the time of all threads. */
export function waitingOf(threads: readonly ThreadShares[]): number {
  const total = threads.reduce((sum, thread) => sum + thread.seconds, 0);
  const waited = threads.reduce((sum, { waiting, seconds }) => sum + waiting * seconds, 0);
  return total > 0 ? waited / total : 0;
}

/** From this share on, waiting is worth a word. */
const much = 0.3;

function remedy(begin: BeginLine): string {
  const { grid, threads, ranks = 1, solver } = begin;
  if (grid < threads) {
    return `The grid has ${plural(grid, 'worker')} for ${plural(threads, 'thread')}: --grid ${threads} would give all of them work (and change the model); fewer --threads would do as well`;
  }
  if (ranks > 1 && solver.startsWith('ring')) {
    return 'If the network is slow, --rotations 1 exchanges blocks less often, for more epochs (and changes the model)';
  }
  if (ranks > 1) return 'If the network is slow, fewer processes may do as well';
  const evens = `a larger --grid, with several workers per thread, balances the work (and changes the model)`;
  return grid < 2 * threads
    ? `Fewer --threads may do as well; ${evens}`
    : 'Fewer --threads may do as well';
}

/** What could be faster, when it is plain that something could. */
export function adviseOnWaiting(
  begin: BeginLine,
  threads: readonly ThreadShares[],
): string | undefined {
  const waiting = waitingOf(threads);
  if (threads.length < 2 || !(waiting > much)) return undefined;
  const longest = threads.reduce((most, thread) => (thread.waiting > most.waiting ? thread : most));
  const who =
    longest.rank === undefined ? longest.workers : `${longest.workers} on ${longest.rank}`;
  return (
    `Threads wait ${formatShare(waiting)} of their time, ` +
    `most of all ${who} (${formatShare(longest.waiting)}). ${remedy(begin)}.`
  );
}
