import type { MessagePort } from 'node:worker_threads';
import { type JoinOptions, nameOf } from '../engine/processes/communicator.ts';
import { Thread } from '../engine/processes/mpi-group.ts';
import type { Survey } from '../engine/processes/probe.ts';
import { sharedBytes } from '../engine/processes/requests.ts';
import { ringBell, type Traffic } from '../parallel/traffic.ts';
import type { Launch } from './launcher.ts';

/** What a process learns when it joins. */
export interface Introduction {
  readonly rank: number;
  readonly size: number;
  readonly hosts: readonly string[];
  /** Such as "Open MPI v4.1.4". */
  readonly library: string;
}

const nothing = sharedBytes(0);

/** Shared memory as it is, anything else as a copy. */
function inSharedMemory(bytes: Uint8Array): Uint8Array {
  if (bytes.buffer instanceof SharedArrayBuffer) return bytes;
  const copy = sharedBytes(bytes.length);
  copy.set(bytes);
  return copy;
}

/**
 * The other processes of the job, as the main thread sees them. A thread of its own talks to them
 * and shows them that this process is alive, whatever the main thread does. All ranks call the
 * same methods in the same order; what comes back lies in shared memory.
 */
export class Peers implements Introduction {
  readonly rank: number;
  readonly size: number;
  readonly hosts: readonly string[];
  readonly library: string;
  readonly #thread: Thread;
  #traffic: Traffic | undefined;

  private constructor(thread: Thread, { rank, size, hosts, library }: Introduction) {
    this.#thread = thread;
    this.rank = rank;
    this.size = size;
    this.hosts = hosts;
    this.library = library;
  }

  /** Joins the job that the launcher has started this process for. */
  static async join(launch: Launch, options: JoinOptions): Promise<Peers> {
    const thread = await Thread.start(launch, options);
    return new Peers(thread, await thread.join<Introduction>(launch, options));
  }

  /** How to name a rank in a message. */
  nameOf(rank: number): string {
    return nameOf(rank, this.hosts);
  }

  /** What to do when a rank has fallen silent. What is being waited for fails anyway. */
  onLost(handler: (message: string, rank: number) => void): void {
    this.#thread.onLost = handler;
  }

  /**
   * Resolves when rank 0 has gone on to something that this rank has not begun: what has stopped
   * this rank did not stop rank 0.
   */
  overtaken(): Promise<void> {
    return this.#thread.overtaken();
  }

  /** Resolves when the launcher has fetched what this process has said. */
  fetched(): Promise<void> {
    return this.#thread.fetched();
  }

  /** outgoing[r] goes to rank r; returns what each rank has sent here. */
  exchange(outgoing: readonly Uint8Array[]): Promise<Uint8Array[]> {
    return this.#thread.ask('exchange', outgoing.map(inSharedMemory));
  }

  /** Everybody's bytes, by rank. */
  gather(bytes: Uint8Array): Promise<Uint8Array[]> {
    return this.exchange(new Array<Uint8Array>(this.size).fill(inSharedMemory(bytes)));
  }

  /** Everybody's bytes for rank 0, by rank; nothing for the others. */
  async collect(bytes: Uint8Array): Promise<Uint8Array[]> {
    const all = await this.exchange(this.#toEach((to) => (to === 0 ? bytes : nothing)));
    return this.rank === 0 ? all : [];
  }

  /** What rank 0 has to say, for everybody; the others' argument does not matter. */
  async broadcast(bytes?: Uint8Array): Promise<Uint8Array> {
    const said = this.rank === 0 && bytes ? inSharedMemory(bytes) : nothing;
    return (await this.exchange(this.#toEach(() => said)))[0];
  }

  #toEach(bytesFor: (rank: number) => Uint8Array): Uint8Array[] {
    return Array.from({ length: this.size }, (_, rank) => bytesFor(rank));
  }

  /** Who is there, and how fast blocks would travel. */
  survey(): Promise<Survey> {
    return this.#thread.ask('survey');
  }

  /**
   * Carries blocks and sums of a training run; `port` is the other end of the ring's. Resolves when
   * `endCarrying` has been called and all has been carried.
   */
  async carry(traffic: Traffic, port: MessagePort): Promise<void> {
    this.#traffic = traffic;
    this.#thread.beginCarrying();
    await this.#thread.ask('carry', { traffic, port }, [port]);
  }

  endCarrying(): void {
    this.#thread.endCarrying(this.#ringBell);
  }

  /** Takes leave of the others, and returns when all have called it. */
  leave(): Promise<void> {
    return this.#thread.leave();
  }

  /** Ends the whole job: after an error of one rank the others would wait for it. */
  abort(code: number): void {
    this.#thread.abort(code, this.#ringBell);
  }

  readonly #ringBell = (): void => {
    if (this.#traffic) ringBell(this.#traffic);
  };
}
