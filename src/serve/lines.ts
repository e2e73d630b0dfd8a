import { Refusal } from './refusal.ts';

const newline = 0x0a;

/** Cuts chunks of bytes into lines; keeps no more than the beginning of one line. */
export class LineCutter {
  /** The lines that were given out. */
  count = 0;
  readonly #limit: number;
  #rest: Buffer[] = [];
  #restBytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The lines that end in this chunk, without their ends. */
  *cut(chunk: Buffer): Generator<Buffer> {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const piece = chunk.subarray(start, end);
      start = end + 1;
      yield this.#restBytes === 0 ? this.#counted(piece) : this.#complete(piece);
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** The last line, where it has no end. */
  *finish(): Generator<Buffer> {
    if (this.#restBytes > 0) yield this.#complete(Buffer.alloc(0));
  }

  #complete(piece: Buffer): Buffer {
    this.#keep(piece);
    const line = Buffer.concat(this.#rest, this.#restBytes);
    this.#rest = [];
    this.#restBytes = 0;
    return this.#counted(line);
  }

  #keep(piece: Buffer): void {
    this.#restBytes += piece.length;
    this.#check(this.#restBytes);
    this.#rest.push(piece);
  }

  #counted(line: Buffer): Buffer {
    this.#check(line.length);
    this.count++;
    return line;
  }

  #check(length: number): void {
    if (length <= this.#limit) return;
    throw new Refusal(413, `line ${this.count + 1}: longer than ${this.#limit} bytes`);
  }
}
