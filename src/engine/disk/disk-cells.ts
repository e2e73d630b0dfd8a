import { readSync } from 'node:fs';
import { DataError } from '../../errors.ts';
import { garbageCollector } from '../../parallel/collect-garbage.ts';

/** Pieces begin on cache lines. */
const alignment = 64;
/**
 * Reads between two collections of garbage. What is held of pieces outlives the quick ones, and for
 * a few megabytes of it the engine would not start a thorough one.
 */
const readsPerCollection = 8192;

/** What a piece of so many bytes takes of a window. */
export function roomFor(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}

/**
 * Pieces of a file in a ring of memory, where the oldest give way to new ones. Segments are met one
 * after the other, so the oldest piece is the one that has been done with.
 */
export class Window<Held> {
  readonly #memory: Uint8Array;
  readonly #file: number;
  readonly #held = new Map<number, Held>();
  /** Numbers and places of the pieces, from the oldest, which is at #oldest, to the newest. */
  #numbers: number[] = [];
  #places: number[] = [];
  #oldest = 0;
  #head = 0;
  readonly #collect = garbageCollector();
  #reads = 0;

  constructor(memory: Uint8Array, file: number) {
    this.#memory = memory;
    this.#file = file;
  }

  /** What is held of a piece that is here. */
  find(number: number): Held | undefined {
    return this.#held.get(number);
  }

  /** Reads a piece; `hold` makes what is held of it, given where its bytes are in the memory. */
  read(number: number, position: number, bytes: number, hold: (at: number) => Held): Held {
    const at = this.#makeRoom(roomFor(bytes));
    readWhole(this.#file, this.#memory, at, bytes, position);
    const held = hold(at);
    this.#held.set(number, held);
    this.#numbers.push(number);
    this.#places.push(at);
    if (++this.#reads % readsPerCollection === 0) this.#collect();
    return held;
  }

  #makeRoom(room: number): number {
    const size = this.#memory.length;
    if (room > size) throw new RangeError(`a piece of ${room} bytes in a window of ${size}`);
    if (this.#head + room > size) {
      this.#forget(this.#head, size);
      this.#head = 0;
    }
    const at = this.#head;
    this.#head += room;
    this.#forget(at, this.#head);
    return at;
  }

  /** Lets go of the pieces that begin in a stretch of memory, which are the oldest ones. */
  #forget(from: number, to: number): void {
    const places = this.#places;
    while (this.#oldest < places.length) {
      const at = places[this.#oldest];
      if (at < from || at >= to) break;
      this.#held.delete(this.#numbers[this.#oldest++]);
    }
    // Arrays that only grow would be a leak.
    if (2 * this.#oldest > places.length + 64) {
      this.#numbers = this.#numbers.slice(this.#oldest);
      this.#places = places.slice(this.#oldest);
      this.#oldest = 0;
    }
  }
}

/** Fills so many bytes of a piece of memory from a place in a file. */
export function readWhole(
  file: number,
  memory: Uint8Array,
  at: number,
  bytes: number,
  position: number,
): void {
  for (let filled = 0; filled < bytes; ) {
    const count = readSync(file, memory, at + filled, bytes - filled, position + filled);
    if (count === 0) throw new DataError('the scratch file has become shorter');
    filled += count;
  }
}
