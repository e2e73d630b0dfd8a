import type { MpiLibrary } from './mpi-library.ts';

/** Notified when an operation is done. */
export interface Owner {
  completed(ticket: number): void;
}

/** Only shared memory stays where it is while the library works on it. */
export function sharedBytes(length: number): Uint8Array {
  return new Uint8Array(new SharedArrayBuffer(length));
}

/**
 * Operations under way. Their handles lie side by side, so that one call of the library tells
 * which are done and drives all of them on.
 */
export class Requests {
  readonly #mpi: MpiLibrary;
  #count = 0;
  #handles = sharedBytes(0);
  #handleViews: Uint8Array[] = [];
  #indices = new Int32Array(new SharedArrayBuffer(0));
  #done = new Uint8Array(0);
  readonly #owners: Owner[] = [];
  readonly #tickets: number[] = [];
  /** What the library works on must not be collected meanwhile. */
  readonly #arrays: Uint8Array[] = [];
  readonly #completed: { owner: Owner; ticket: number }[] = [];

  constructor(mpi: MpiLibrary) {
    this.#mpi = mpi;
    this.#resize(16);
  }

  get underWay(): number {
    return this.#count;
  }

  send(bytes: Uint8Array, to: number, tag: number, owner: Owner, ticket: number): void {
    this.#mpi.send(bytes, to, tag, this.#nextHandle());
    this.#note(bytes, owner, ticket);
  }

  receive(bytes: Uint8Array, from: number, tag: number, owner: Owner, ticket: number): void {
    this.#mpi.receive(bytes, from, tag, this.#nextHandle());
    this.#note(bytes, owner, ticket);
  }

  /** Every rank's `mine`, one after the other, into everybody's `all`, which the owner keeps. */
  gather(mine: Uint8Array, all: Uint8Array, owner: Owner, ticket: number): void {
    this.#mpi.gather(mine, all, this.#nextHandle());
    this.#note(mine, owner, ticket);
  }

  /** Tells the owners of what is done; whether anything was. */
  poll(): boolean {
    if (this.#count === 0) return false;
    const finished = this.#mpi.someDone(this.#count, this.#handles, this.#indices);
    if (finished <= 0) return false;
    for (let k = 0; k < finished; k++) this.#done[this.#indices[k]] = 1;
    const told = this.#removeDone();
    // They may begin new operations, and find the table in order.
    for (let k = 0; k < told; k++) this.#completed[k].owner.completed(this.#completed[k].ticket);
    return true;
  }

  /** Takes out what is done. Handles are values: they may be moved. Returns how many have gone. */
  #removeDone(): number {
    const width = this.#mpi.requestBytes;
    let kept = 0;
    let told = 0;
    for (let k = 0; k < this.#count; k++) {
      if (this.#done[k] === 1) {
        this.#done[k] = 0;
        this.#completed[told] ??= { owner: this.#owners[k], ticket: 0 };
        this.#completed[told].owner = this.#owners[k];
        this.#completed[told++].ticket = this.#tickets[k];
        continue;
      }
      if (kept < k) {
        this.#handles.copyWithin(kept * width, k * width, (k + 1) * width);
        this.#owners[kept] = this.#owners[k];
        this.#tickets[kept] = this.#tickets[k];
        this.#arrays[kept] = this.#arrays[k];
      }
      kept++;
    }
    this.#count = kept;
    return told;
  }

  #nextHandle(): Uint8Array {
    if (this.#count === this.#handleViews.length) this.#resize(2 * this.#count);
    return this.#handleViews[this.#count];
  }

  #note(bytes: Uint8Array, owner: Owner, ticket: number): void {
    this.#owners[this.#count] = owner;
    this.#tickets[this.#count] = ticket;
    this.#arrays[this.#count++] = bytes;
  }

  #resize(capacity: number): void {
    const width = this.#mpi.requestBytes;
    const handles = sharedBytes(width * capacity);
    handles.set(this.#handles);
    this.#handles = handles;
    this.#handleViews = Array.from({ length: capacity }, (_, k) =>
      handles.subarray(k * width, (k + 1) * width),
    );
    this.#indices = new Int32Array(new SharedArrayBuffer(4 * capacity));
    this.#done = new Uint8Array(capacity);
  }
}

/** What a message between two ranks is about; within one tag messages keep their order. */
export const tags = { block: 1, exchange: 2, heartbeat: 3, probe: 4 } as const;
