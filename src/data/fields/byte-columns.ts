import { grown } from '../dataset.ts';

/** Numbers for pieces of bytes, each in a realm (a field, a namespace), without making strings. */
export class ByteColumns {
  #slots = new Int32Array(1 << 10);
  #hashes = new Int32Array(1 << 9);
  #realms = new Int32Array(1 << 9);
  #starts = new Int32Array((1 << 9) + 1);
  #columns = new Int32Array(1 << 9);
  #bytes = new Uint8Array(1 << 13);
  #count = 0;

  clear(): void {
    this.#slots.fill(0);
    this.#count = 0;
  }

  /** The number of a piece; -1 if it has none yet. */
  find(bytes: Uint8Array, start: number, end: number, realm: number): number {
    const entry = this.#entryAt(bytes, start, end, realm, hashOf(bytes, start, end, realm));
    return entry < 0 ? -1 : this.#columns[entry];
  }

  /** Gives a new piece its number. */
  add(bytes: Uint8Array, start: number, end: number, realm: number, column: number): void {
    if (2 * this.#count >= this.#slots.length) this.#growSlots();
    if (this.#count === this.#columns.length) this.#growEntries();
    const entry = this.#count;
    const from = this.#starts[entry];
    const to = from + end - start;
    if (to > this.#bytes.length) this.#bytes = grown(this.#bytes, 2 * to);
    this.#bytes.set(bytes.subarray(start, end), from);
    const hash = hashOf(bytes, start, end, realm);
    this.#hashes[entry] = hash;
    this.#realms[entry] = realm;
    this.#starts[entry + 1] = to;
    this.#columns[entry] = column;
    this.#count += 1;
    this.#insert(entry);
  }

  #entryAt(bytes: Uint8Array, start: number, end: number, realm: number, hash: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#slots[slot] - 1;
      if (entry < 0) return -1;
      if (this.#hashes[entry] !== hash || this.#realms[entry] !== realm) continue;
      if (this.#holds(entry, bytes, start, end)) return entry;
    }
  }

  #holds(entry: number, bytes: Uint8Array, start: number, end: number): boolean {
    const from = this.#starts[entry];
    if (this.#starts[entry + 1] - from !== end - start) return false;
    const own = this.#bytes;
    for (let position = start, at = from; position < end; position += 1, at += 1) {
      if (own[at] !== bytes[position]) return false;
    }
    return true;
  }

  #insert(entry: number): void {
    const mask = this.#slots.length - 1;
    let slot = this.#hashes[entry] & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = entry + 1;
  }

  #growSlots(): void {
    this.#slots = new Int32Array(2 * this.#slots.length);
    for (let entry = 0; entry < this.#count; entry += 1) this.#insert(entry);
  }

  #growEntries(): void {
    const size = 2 * this.#columns.length;
    this.#hashes = grown(this.#hashes, size);
    this.#realms = grown(this.#realms, size);
    this.#starts = grown(this.#starts, size + 1);
    this.#columns = grown(this.#columns, size);
  }
}

function hashOf(bytes: Uint8Array, start: number, end: number, realm: number): number {
  let hash = Math.imul(realm + 1, 0x9e3779b1);
  for (let position = start; position < end; position += 1) {
    hash = Math.imul(hash ^ bytes[position], 0x01000193);
  }
  return hash ^ (hash >>> 15);
}
