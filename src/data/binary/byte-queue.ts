import type { ByteChunks } from '../read/byte-blocks.ts';
import { Damage } from './layout.ts';

/** Exact numbers of bytes from a stream that comes in chunks of any size. */
export class ByteQueue {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);
  #position = 0;

  constructor(chunks: ByteChunks) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** How many bytes have been taken. */
  get position(): number {
    return this.#position;
  }

  /** The next bytes, on shared memory of their own. */
  async take(length: number): Promise<Uint8Array<SharedArrayBuffer>> {
    const bytes = new Uint8Array(new SharedArrayBuffer(length));
    for (let filled = 0; filled < length; ) {
      if (!(await this.#more())) {
        throw new Damage(this.#position + filled, 'the data ends here; is it truncated?');
      }
      const count = Math.min(length - filled, this.#rest.length);
      bytes.set(this.#rest.subarray(0, count), filled);
      this.#rest = this.#rest.subarray(count);
      filled += count;
    }
    this.#position += length;
    return bytes;
  }

  async atEnd(): Promise<boolean> {
    return !(await this.#more());
  }

  async #more(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next();
      if (next.done) return false;
      this.#rest = next.value;
    }
    return true;
  }
}
