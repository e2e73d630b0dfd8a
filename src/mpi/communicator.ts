import { hostname } from 'node:os';
import { DsoError, UsageError } from '../errors.ts';
import { loadForeign } from './foreign.ts';
import type { Launch } from './launcher.ts';
import { MpiLibrary } from './library.ts';

/** One message holds at most so many bytes: counts are 32 bits wide. */
const longestMessage = 2 ** 30;

/** Polls that follow one another at once, before the processor is given away in between. */
const eagerPolls = 50;

/** Bytes of a text that ranks tell each other. */
const noteBytes = 512;

/** An operation under way; its arrays must stay as they are until it is done. */
export interface Operation {
  isDone(): boolean;
}

export interface CommunicatorOptions {
  /** Seconds without any progress after which a peer counts as lost. */
  readonly peerTimeout: number;
  /** A library file that the user insists on. */
  readonly library?: string | undefined;
}

/** Only shared memory stays where it is while the library works on it. */
function sharedBytes(length: number): Uint8Array {
  return new Uint8Array(new SharedArrayBuffer(length));
}

function bytesOf(array: Float64Array | Uint8Array): Uint8Array {
  if (!(array.buffer instanceof SharedArrayBuffer)) {
    throw new TypeError('messages live in shared memory: other arrays may be moved meanwhile');
  }
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** The processes of an MPI job, as one of them sees them. */
export class Communicator {
  readonly rank: number;
  readonly size: number;
  /** Names of the hosts by rank, known after `meet`. */
  hosts: readonly string[] = [];
  readonly library: string;
  readonly #mpi: MpiLibrary;
  readonly #peerTimeout: number;

  private constructor(mpi: MpiLibrary, { peerTimeout }: CommunicatorOptions) {
    this.#mpi = mpi;
    this.#peerTimeout = peerTimeout;
    this.rank = mpi.rank();
    this.size = mpi.size();
    this.library = mpi.version;
  }

  /**
   * Joins the job. With the library of another family each process would find itself in a job of
   * its own: hence the comparison with what the launcher said.
   */
  static async join(launch: Launch, options: CommunicatorOptions): Promise<Communicator> {
    const mpi = MpiLibrary.load(await loadForeign(), launch.flavour, options.library);
    mpi.initialize();
    const communicator = new Communicator(mpi, options);
    const { rank, size, library } = communicator;
    if (size === launch.size && rank === launch.rank) return communicator;
    throw new UsageError(
      `rank ${launch.rank} on ${hostname()}: the launcher started ${launch.size} processes, but ${library} sees ${size}: launcher and library are of different kinds (DSO_MPI_LIBRARY names the library's file)`,
    );
  }

  /** All ranks tell each other a text, such as their version; the texts come back by rank. */
  async exchange(text: string): Promise<string[]> {
    const mine = sharedBytes(noteBytes);
    mine.set(Buffer.from(text).subarray(0, noteBytes));
    const all = sharedBytes(noteBytes * this.size);
    await this.finish(
      this.#start((request) => this.#mpi.gather(mine, all, request)),
      'all ranks',
    );
    return Array.from({ length: this.size }, (_, rank) =>
      Buffer.from(all.slice(rank * noteBytes, (rank + 1) * noteBytes))
        .toString()
        .replace(/\0+$/, ''),
    );
  }

  /** Learns the hosts, and makes sure that all ranks run the same program. */
  async meet(version: string): Promise<void> {
    const notes = await this.exchange(JSON.stringify([hostname(), version, process.version]));
    const cards = notes.map((note) => JSON.parse(note) as [string, string, string]);
    this.hosts = cards.map(([host]) => host);
    const other = cards.findIndex(([, theirs]) => theirs !== cards[0][1]);
    if (other > 0) {
      throw new UsageError(
        `rank ${other} on ${cards[other][0]} runs dso ${cards[other][1]}, rank 0 on ${cards[0][0]} dso ${cards[0][1]}: all ranks need the same version`,
      );
    }
  }

  send(array: Float64Array | Uint8Array, to: number, tag: number): Operation {
    return this.#inPieces(array, (piece, request) => this.#mpi.send(piece, to, tag, request));
  }

  receive(array: Float64Array | Uint8Array, from: number, tag: number): Operation {
    return this.#inPieces(array, (piece, request) => this.#mpi.receive(piece, from, tag, request));
  }

  /** Every rank's `mine`, one after the other, into everybody's `all`. */
  gather(mine: Float64Array, all: Float64Array): Operation {
    if (all.length !== mine.length * this.size) throw new RangeError('gather: lengths do not fit');
    return this.#start((request) => this.#mpi.gather(bytesOf(mine), bytesOf(all), request));
  }

  #inPieces(
    array: Float64Array | Uint8Array,
    begin: (piece: Uint8Array, request: Uint8Array) => void,
  ): Operation {
    const bytes = bytesOf(array);
    const pieces: Operation[] = [];
    // At least one message, so that an empty array is heard of too.
    for (let at = 0; at === 0 || at < bytes.length; at += longestMessage) {
      const piece = bytes.subarray(at, at + longestMessage);
      pieces.push(this.#start((request) => begin(piece, request)));
    }
    return { isDone: () => pieces.every((piece) => piece.isDone()) };
  }

  #start(begin: (request: Uint8Array) => void): Operation {
    const request = sharedBytes(this.#mpi.requestBytes);
    begin(request);
    let done = false;
    return {
      isDone: () => {
        done ||= this.#mpi.isDone(request);
        return done;
      },
    };
  }

  /**
   * Resolves when the operation is done. A cut cable raises no error anywhere: only the lack of
   * progress tells.
   */
  async finish(operation: Operation, peer: string): Promise<void> {
    const limit = performance.now() + 1000 * this.#peerTimeout;
    for (let polls = 0; !operation.isDone(); polls++) {
      if (polls < eagerPolls) continue;
      if (performance.now() > limit) {
        throw new DsoError(
          'failure',
          `rank ${this.rank} on ${hostname()}: no answer from ${peer} for ${this.#peerTimeout} seconds`,
        );
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** How to name a rank in a message. */
  nameOf(rank: number): string {
    const host = this.hosts[rank];
    return host === undefined ? `rank ${rank}` : `rank ${rank} on ${host}`;
  }

  leave(): void {
    this.#mpi.finalize();
  }

  /** Ends the whole job: after an error of one rank the others would wait for it. */
  abort(code: number): void {
    this.#mpi.abort(code);
  }
}
