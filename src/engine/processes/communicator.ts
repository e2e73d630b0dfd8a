import { hostname } from 'node:os';
import { DsoError, UsageError } from '../../errors.ts';
import { loadForeign } from '../../mpi/foreign.ts';
import type { Launch } from '../../mpi/launcher.ts';
import { tags } from '../../mpi/tags.ts';
import { Pulse } from './heartbeat.ts';
import { MpiLibrary } from './mpi-library.ts';
import { type Owner, Requests, sharedBytes } from './requests.ts';

/** One message holds at most so many bytes: counts are 32 bits wide. */
const longestMessage = 2 ** 30;

/** Polls that follow one another at once, before the processor is given away in between. */
const eagerPolls = 1000;
/** Milliseconds. */
const shortNap = 0.1;

export interface JoinOptions {
  /** Seconds without a sign of life after which a rank counts as lost. */
  readonly peerTimeout: number;
  /** Seconds in which all ranks must have come up; default: a minute, or as long as `peerTimeout`. */
  readonly joinTimeout?: number;
  /** A library file that the user insists on. */
  readonly library?: string | undefined;
  /** Of this program: all ranks must run the same. */
  readonly version: string;
}

/**
 * Cells in which the main thread says what it wants of the thread that owns the communicator: that
 * the job be ended with exit code cell - 1; that carrying come to an end.
 */
export const wishes = { abort: 0, endCarrying: 1, length: 2 } as const;

/** An array as the library takes it. */
export function bytesOf(array: ArrayBufferView): Uint8Array {
  if (!(array.buffer instanceof SharedArrayBuffer)) {
    throw new TypeError('messages live in shared memory: other arrays may be moved meanwhile');
  }
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** An array in messages of allowed length; none if it is empty. */
export function messagesOf(array: ArrayBufferView): Uint8Array[] {
  const bytes = bytesOf(array);
  return Array.from({ length: Math.ceil(bytes.length / longestMessage) }, (_, k) =>
    bytes.subarray(k * longestMessage, (k + 1) * longestMessage),
  );
}

/**
 * The processes of an MPI job, as one of them sees them. Lives in the one thread that calls the
 * library, and waits without giving it away: see Peers for the other threads.
 */
export class Communicator implements Owner {
  readonly rank: number;
  readonly size: number;
  /** Names of the hosts by rank, known after `meet`. */
  hosts: readonly string[] = [];
  readonly library: string;
  readonly requests: Requests;
  readonly pulse: Pulse;
  readonly #mpi: MpiLibrary;
  readonly #wishes: Int32Array;
  readonly #peerTimeout: number;
  #begun = 0;

  private constructor(
    mpi: MpiLibrary,
    { peerTimeout }: JoinOptions,
    wished: Int32Array,
    onLost: (rank: number, message: string) => void,
  ) {
    this.#mpi = mpi;
    this.#wishes = wished;
    this.#peerTimeout = peerTimeout;
    this.rank = mpi.rank();
    this.size = mpi.size();
    this.library = mpi.version;
    this.requests = new Requests(mpi);
    this.pulse = new Pulse(mpi, this, peerTimeout, (rank) => onLost(rank, this.#lossOf(rank)));
  }

  /** Joins the job; returns when all of its processes have. */
  static async join(
    launch: Launch,
    options: JoinOptions,
    wished: Int32Array,
    onLost: (rank: number, message: string) => void,
  ): Promise<Communicator> {
    const mpi = MpiLibrary.load(await loadForeign(), launch.flavour, options.library);
    mpi.initialize();
    const communicator = new Communicator(mpi, options, wished, onLost);
    try {
      communicator.#compare(launch);
      communicator.#meet(options.version);
      return communicator;
    } catch (error) {
      // All ranks see what is wrong, and take leave so that all can say so.
      communicator.part();
      communicator.finalize();
      throw error;
    }
  }

  /**
   * With the library of another family each process would find itself in a job of its own: hence
   * the comparison with what the launcher said.
   */
  #compare(launch: Launch): void {
    if (this.size === launch.size && this.rank === launch.rank) return;
    throw new UsageError(
      `rank ${launch.rank} on ${hostname()}: the launcher started ${launch.size} processes, but ${this.library} sees ${this.size}: launcher and library are of different kinds (DSO_MPI_LIBRARY names the library's file)`,
    );
  }

  /** Learns the hosts, and makes sure that all ranks run the same program. */
  #meet(version: string): void {
    const cards = this.tellAll([hostname(), version]);
    this.hosts = cards.map(([host]) => host);
    const other = cards.findIndex(([, theirs]) => theirs !== cards[0][1]);
    if (other > 0) {
      throw new UsageError(
        `${this.nameOf(other)} runs dso ${cards[other][1]}, ${this.nameOf(0)} dso ${cards[0][1]}: all ranks need the same version`,
      );
    }
  }

  /** What every rank has to say, by rank. */
  tellAll<Value>(value: Value): Value[] {
    const text = Buffer.from(JSON.stringify(value));
    const bytes = sharedBytes(text.length);
    bytes.set(text);
    const all = this.exchange(new Array<Uint8Array>(this.size).fill(bytes));
    return all.map((theirs) => JSON.parse(Buffer.from(theirs).toString()) as Value);
  }

  /** outgoing[r] goes to rank r; returns what each rank has sent here. */
  exchange(outgoing: readonly Uint8Array[]): Uint8Array[] {
    const { rank, size } = this;
    const numbers = (length: number) => new Float64Array(new SharedArrayBuffer(8 * length));
    const lengths = numbers(size);
    for (let to = 0; to < size; to++) lengths[to] = outgoing[to].length;
    const all = numbers(size * size);
    this.#begun++;
    this.requests.gather(bytesOf(lengths), bytesOf(all), this, 0);
    this.finish();
    const incoming = outgoing.map((own, from) =>
      from === rank ? own : sharedBytes(all[from * size + rank]),
    );
    for (let other = 0; other < size; other++) {
      if (other === rank) continue;
      this.receive(incoming[other], other, tags.exchange);
      this.send(outgoing[other], other, tags.exchange);
    }
    this.finish();
    return incoming;
  }

  send(array: Uint8Array, to: number, tag: number): void {
    for (const message of messagesOf(array)) {
      this.#begun++;
      this.requests.send(message, to, tag, this, 0);
    }
  }

  receive(array: Uint8Array, from: number, tag: number): void {
    for (const message of messagesOf(array)) {
      this.#begun++;
      this.requests.receive(message, from, tag, this, 0);
    }
  }

  completed(): void {
    this.#begun--;
  }

  /** Returns when what has been begun here is done. */
  finish(): void {
    this.#until(() => this.#begun === 0);
  }

  #until(reached: () => boolean): void {
    for (let polls = 0; !reached(); polls++) {
      if (this.requests.poll()) polls = 0;
      this.tend(performance.now());
      if (polls < eagerPolls) this.yieldCore();
      else Atomics.wait(this.#wishes, wishes.abort, 0, shortNap);
    }
  }

  /** What has to be done now and then while waiting. Throws if waiting is in vain. */
  tend(now: number): void {
    this.obey();
    this.pulse.tend(now);
    const { lost } = this.pulse;
    if (lost !== undefined) throw new DsoError('failure', this.#lossOf(lost));
  }

  /** Between two looks at the messages; sleep would cost far more than the messages do. */
  yieldCore(): void {
    this.#mpi.yieldCore();
  }

  /** Ends the job if the main thread wants it to. */
  obey(): void {
    const wish = Atomics.load(this.#wishes, wishes.abort);
    if (wish !== 0) this.#mpi.abort(wish - 1);
  }

  get shouldEndCarrying(): boolean {
    return Atomics.load(this.#wishes, wishes.endCarrying) !== 0;
  }

  #lossOf(rank: number): string {
    return `${this.nameOf(rank)} has not answered for ${this.#peerTimeout} s`;
  }

  /** How to name a rank in a message. */
  nameOf(rank: number): string {
    return nameOf(rank, this.hosts);
  }

  /** Says goodbye, and returns when everybody has. */
  part(): void {
    this.pulse.leave();
    this.#until(() => this.pulse.parted);
  }

  finalize(): void {
    this.#mpi.finalize();
  }
}

export function nameOf(rank: number, hosts: readonly string[]): string {
  const host = hosts[rank];
  return host === undefined ? `rank ${rank}` : `rank ${rank} on ${host}`;
}
