/**
 * Tells which items came before with the same 64-bit hash, in 4 to 8 bytes an item besides the
 * hashes: a table of places that is searched linearly from the place that the hash names.
 */
export class HashTable {
  readonly #first: Int32Array;
  readonly #second: Int32Array;
  /** Item + 1, or 0. */
  readonly #places: Int32Array;

  /** Both halves of the hashes, by item. */
  constructor(first: Int32Array, second: Int32Array) {
    let size = 16;
    while (size < 1.5 * first.length) size *= 2;
    this.#first = first;
    this.#second = second;
    this.#places = new Int32Array(size);
  }

  /** The earlier item with the hash of this one; -1 if there is none, and then this one is kept. */
  earlier(item: number): number {
    const places = this.#places;
    const mask = places.length - 1;
    const first = this.#first[item];
    const second = this.#second[item];
    let place = (first ^ (first >>> 15)) & mask;
    for (; places[place] !== 0; place = (place + 1) & mask) {
      const other = places[place] - 1;
      if (this.#first[other] === first && this.#second[other] === second) return other;
    }
    places[place] = item + 1;
    return -1;
  }
}
