import { separateArena } from '../arena.ts';
import type { MpiLibrary } from './mpi-library.ts';

/** Notified when an operation is done. */
export interface Owner {
  completed(id: number): void;
}

interface Operation {
  readonly owner: Owner;
  /** Chosen by the owner, to tell its operations apart. */
  readonly id: number;
  /** What the library works on must not be collected meanwhile. */
  readonly bytes: Uint8Array;
}

/** What a message between two ranks is about; within one tag messages keep their order. */
export const tags = { block: 1, exchange: 2, heartbeat: 3, probe: 4 } as const;

/** Only shared memory stays where it is while the library works on it. */
export function sharedBytes(length: number): Uint8Array {
  return separateArena.uint8(length);
}

/** Operations under way. Their handles are adjacent: one call of the library tests all of them. */
export class Requests {
  readonly #mpi: MpiLibrary;
  readonly #operations: Operation[] = [];
  #handles = sharedBytes(0);
  #handleViews: Uint8Array[] = [];
  #indices = separateArena.int32(0);

  constructor(mpi: MpiLibrary) {
    this.#mpi = mpi;
    this.#resize(16);
  }

  get underWay(): number {
    return this.#operations.length;
  }

  send(bytes: Uint8Array, to: number, tag: number, owner: Owner, id: number): void {
    this.#mpi.send(bytes, to, tag, this.#nextHandle());
    this.#operations.push({ owner, id, bytes });
  }

  receive(bytes: Uint8Array, from: number, tag: number, owner: Owner, id: number): void {
    this.#mpi.receive(bytes, from, tag, this.#nextHandle());
    this.#operations.push({ owner, id, bytes });
  }

  /** Every rank's `mine`, one after the other, into everybody's `all`, which the owner keeps. */
  gather(mine: Uint8Array, all: Uint8Array, owner: Owner, id: number): void {
    this.#mpi.gather(mine, all, this.#nextHandle());
    this.#operations.push({ owner, id, bytes: mine });
  }

  /** Notifies the owners of what is done; whether anything was. */
  poll(): boolean {
    if (this.underWay === 0) return false;
    const count = this.#mpi.someDone(this.underWay, this.#handles, this.#indices);
    if (count <= 0) return false;
    // The owners may begin new operations, and find the table in order.
    const removed = this.#remove(new Set(this.#indices.subarray(0, count)));
    for (const { owner, id } of removed) owner.completed(id);
    return true;
  }

  /** Takes operations out of the table. Handles are values: they may be moved. */
  #remove(done: ReadonlySet<number>): Operation[] {
    const width = this.#mpi.requestBytes;
    const removed: Operation[] = [];
    let remaining = 0;
    for (const [k, operation] of this.#operations.entries()) {
      if (done.has(k)) {
        removed.push(operation);
        continue;
      }
      this.#handles.copyWithin(remaining * width, k * width, (k + 1) * width);
      this.#operations[remaining++] = operation;
    }
    this.#operations.length = remaining;
    return removed;
  }

  #nextHandle(): Uint8Array {
    const { underWay } = this;
    if (underWay === this.#handleViews.length) this.#resize(2 * underWay);
    return this.#handleViews[underWay];
  }

  #resize(capacity: number): void {
    const width = this.#mpi.requestBytes;
    const handles = sharedBytes(width * capacity);
    handles.set(this.#handles);
    this.#handles = handles;
    this.#handleViews = Array.from({ length: capacity }, (_, k) =>
      handles.subarray(k * width, (k + 1) * width),
    );
    this.#indices = separateArena.int32(capacity);
  }
}
