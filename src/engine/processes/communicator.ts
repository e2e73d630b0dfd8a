import { hostname } from 'node:os';
import { DsoError, UsageError } from '../../errors.ts';
import { separateArena } from '../arena.ts';
import { disagreement, type Settings } from './agreement.ts';
import { Heartbeat } from './heartbeat.ts';
import type { Launch } from './launch.ts';
import { loadFfi, MpiLibrary } from './mpi-library.ts';
import { type Owner, Requests, sharedBytes, tags } from './requests.ts';

/** Bytes of the longest message: counts have 32 bits. */
const longestMessage = 2 ** 30;

/** Polls without a pause before it sleeps between them, and the milliseconds of sleep. */
const eagerPolls = 1000;
const shortNap = 0.1;

export interface JoinOptions {
  /** Seconds without a heartbeat after which a rank counts as lost. */
  readonly peerTimeout: number;
  /** Seconds in which all ranks must have joined; default: a minute, or `peerTimeout` if longer. */
  readonly joinTimeout?: number;
  readonly library?: string | undefined;
  /** Of this program: all ranks must run the same. */
  readonly version: string;
  /** All ranks must have the same. */
  readonly settings?: Settings;
  /** Why this rank cannot take part: the others are told, and none of them begins. */
  readonly fault?: string;
}

/** Cells in which the main thread requests to end the job, with exit code cell − 1, or the transfer. */
export const requestSlots = { abort: 0, endTransfer: 1, length: 2 } as const;

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

/** The processes of an MPI job, for the one thread that calls the library; see also MpiGroup. */
export class Communicator implements Owner {
  readonly rank: number;
  readonly size: number;
  /** Names of the hosts by rank, known after `meet`. */
  hosts: readonly string[] = [];
  /** Why the ranks do not work together, known after `meet` and the same for all; usually none. */
  refusal: string | undefined;
  readonly library: string;
  readonly requests: Requests;
  readonly heartbeat: Heartbeat;
  readonly #mpi: MpiLibrary;
  readonly #requested: Int32Array;
  readonly #peerTimeout: number;
  #begun = 0;

  private constructor(
    mpi: MpiLibrary,
    { peerTimeout }: JoinOptions,
    requested: Int32Array,
    onLost: (rank: number, message: string) => void,
  ) {
    this.#mpi = mpi;
    this.#requested = requested;
    this.#peerTimeout = peerTimeout;
    this.rank = mpi.query('rank');
    this.size = mpi.query('size');
    this.library = mpi.version;
    this.requests = new Requests(mpi);
    this.heartbeat = new Heartbeat(mpi, this, peerTimeout, (rank) =>
      onLost(rank, this.#lossOf(rank)),
    );
  }

  static async join(
    launch: Launch,
    options: JoinOptions,
    requested: Int32Array,
    onLost: (rank: number, message: string) => void,
  ): Promise<Communicator> {
    const mpi = MpiLibrary.load(await loadFfi(), launch.flavour, options.library);
    mpi.initialize();
    const communicator = new Communicator(mpi, options, requested, onLost);
    try {
      communicator.#compare(launch);
    } catch (error) {
      communicator.announceEnd();
      communicator.finalize();
      throw error;
    }
    communicator.#meet(options);
    return communicator;
  }

  /** With a library of another family each process would be in a job of its own. */
  #compare(launch: Launch): void {
    if (this.size === launch.size && this.rank === launch.rank) return;
    throw new UsageError(
      `rank ${launch.rank} on ${hostname()}: the launcher started ${launch.size} processes, but ${this.library} sees ${this.size}: launcher and library are of different kinds (DSO_MPI_LIBRARY names the library's file)`,
    );
  }

  /** Learns the hosts, and whether all ranks run the same program with the same settings. */
  #meet({ version, settings = {}, fault }: JoinOptions): void {
    const ranks = this.gatherValues({ host: hostname(), version, settings, fault });
    this.hosts = ranks.map(({ host }) => host);
    const named = (rank: number) => this.nameOf(rank);
    const other = ranks.findIndex((rank) => rank.version !== ranks[0].version);
    if (other >= 0) {
      this.refusal = `${named(other)} runs dso ${ranks[other].version}, ${named(0)} dso ${ranks[0].version}: all ranks need the same version`;
      return;
    }
    const faulty = ranks.findIndex((rank) => rank.fault !== undefined);
    // Most faults are those of all ranks.
    if (faulty >= 0)
      this.refusal = `${faulty > 0 ? `${named(faulty)}: ` : ''}${ranks[faulty].fault}`;
    else
      this.refusal = disagreement(
        ranks.map((rank) => rank.settings),
        named,
      );
  }

  gatherValues<Value>(value: Value): Value[] {
    const text = Buffer.from(JSON.stringify(value));
    const bytes = sharedBytes(text.length);
    bytes.set(text);
    const all = this.exchange(new Array<Uint8Array>(this.size).fill(bytes));
    return all.map((theirs) => JSON.parse(Buffer.from(theirs).toString()) as Value);
  }

  /** outgoing[r] goes to rank r; returns what each rank has sent here. */
  exchange(outgoing: readonly Uint8Array[]): Uint8Array[] {
    const { rank, size } = this;
    const lengths = separateArena.float64(size);
    for (let to = 0; to < size; to++) lengths[to] = outgoing[to].length;
    const all = separateArena.float64(size * size);
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
      this.poll(performance.now());
      if (polls < eagerPolls) this.yieldCore();
      else Atomics.wait(this.#requested, requestSlots.abort, 0, shortNap);
    }
  }

  /** To be called often while waiting. Throws if a rank has been lost. */
  poll(now: number): void {
    this.applyRequests();
    this.heartbeat.poll(now);
    const { lost } = this.heartbeat;
    if (lost !== undefined) throw new DsoError('failure', this.#lossOf(lost));
  }

  /** Between two polls; sleep would take far longer than the messages do. */
  yieldCore(): void {
    this.#mpi.yieldCore();
  }

  /** Ends the job if the main thread has requested it. */
  applyRequests(): void {
    const code = Atomics.load(this.#requested, requestSlots.abort);
    if (code !== 0) this.#mpi.abort(code - 1);
  }

  get shouldEndTransfer(): boolean {
    return Atomics.load(this.#requested, requestSlots.endTransfer) !== 0;
  }

  #lossOf(rank: number): string {
    return `${this.nameOf(rank)} has not answered for ${this.#peerTimeout} s`;
  }

  nameOf(rank: number): string {
    return nameOf(rank, this.hosts);
  }

  /** Announces the end to all ranks, and returns when each has announced its own. */
  announceEnd(): void {
    this.heartbeat.announceEnd();
    this.#until(() => this.heartbeat.allEnded);
  }

  finalize(): void {
    this.#mpi.finalize();
  }
}

export function nameOf(rank: number, hosts: readonly string[]): string {
  const host = hosts[rank];
  return host === undefined ? `rank ${rank}` : `rank ${rank} on ${host}`;
}
