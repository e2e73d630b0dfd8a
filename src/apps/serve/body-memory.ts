import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { RequestError } from './exchange.ts';

/** Bytes of a body that are not counted: almost all requests are smaller, and cost nothing here. */
const uncounted = 2 ** 16;

/** A request whose body is in memory. */
interface Holder {
  /** Bytes that are counted. */
  held: number;
  readonly settled: boolean;
}

/** Limits the bytes that the bodies of all requests have in memory together. */
export class BodyMemory {
  readonly #limit: number;
  readonly #onChange: (bytes: number) => void;
  #bytes = 0;
  /** Whether memory that large bodies took may not have been given back. */
  #used = false;

  constructor(limit: number, onChange: (bytes: number) => void) {
    this.#limit = limit;
    this.#onChange = onChange;
  }

  /** A request has this many bytes in memory now. Throws a RequestError if all have too many. */
  hold(holder: Holder, bytes: number): void {
    if (holder.settled) return;
    const counted = bytes > uncounted ? bytes : 0;
    if (counted > holder.held && this.#bytes - holder.held + counted > this.#limit) {
      throw new RequestError(503, 'too many large bodies at once; try again later');
    }
    this.#set(holder, counted);
  }

  /** Counts an answer that waits for its client: there is no way back, but new bodies must wait. */
  holdAnswer(holder: Holder, bytes: number): void {
    if (bytes > uncounted && bytes > holder.held) this.#set(holder, bytes);
  }

  release(holder: Holder): void {
    this.#set(holder, 0);
  }

  /** To be called from time to time: gives memory back once no large body is left. */
  tidy(): void {
    if (!this.#used || this.#bytes > 0) return;
    this.#used = false;
    collectGarbage();
  }

  #set(holder: Holder, bytes: number): void {
    if (bytes === holder.held) return;
    this.#used = true;
    this.#bytes += bytes - holder.held;
    holder.held = bytes;
    this.#onChange(this.#bytes);
  }
}

/**
 * Node frees memory when it needs more, which a server that has become idle never does: it would
 * keep what the last large bodies took.
 */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
