import { pipeline, Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { DataError } from '../../errors.ts';

export type Compression = 'none' | 'gzip' | 'zstd';
export type ByteChunks = AsyncIterable<Uint8Array>;

const outputSize = 1 << 18;
const gzipMagic = [0x1f, 0x8b];
const zstdMagic = [0x28, 0xb5, 0x2f, 0xfd];
/** The first four bytes of a zstd frame that holds no data (0x184d2a50 … 5f). */
const skippableMagic = [0x2a, 0x4d, 0x18];

export const magicLength = 4;

/** The content decides, not the name: `-` has none. But a name may not promise what is not there. */
export function compressionOf(head: Uint8Array, name: string): Compression {
  const startsWith = (magic: number[], from = 0) =>
    magic.every((byte, place) => head[from + place] === byte);
  if (startsWith(gzipMagic)) return 'gzip';
  if (startsWith(zstdMagic)) return 'zstd';
  if (startsWith(skippableMagic, 1) && (head[0] & 0xf0) === 0x50) return 'zstd';
  for (const [ending, format] of [
    ['.gz', 'gzip'],
    ['.zst', 'zstd'],
  ]) {
    if (name.endsWith(ending)) throw new DataError(`${name}: not ${format} data, as the name says`);
  }
  return 'none';
}

export function decompress(chunks: ByteChunks, compression: Compression, name: string): ByteChunks {
  if (compression === 'none') return chunks;
  const plain = compression === 'gzip' ? gunzip(chunks) : unzstd(chunks, name);
  return explainDamage(plain, compression, name);
}

function gunzip(chunks: ByteChunks): ByteChunks {
  const decoder = createGunzip({ chunkSize: outputSize });
  // The callback is empty because an error reaches whoever iterates over the decoder.
  pipeline(Readable.from(chunks), decoder, () => {});
  return decoder;
}

/**
 * Node's decoder ends without a word where a frame ends inside a chunk, even if another frame
 * follows (parallel compressors write many). So each write is awaited, and what the decoder left
 * over opens the next frame.
 */
async function* unzstd(chunks: ByteChunks, name: string): AsyncGenerator<Uint8Array> {
  if (createZstdDecompress === undefined) {
    throw new DataError(
      `${name}: zstd needs Node 22.15 or newer, this is ${process.version}; decompress it first`,
    );
  }
  let frame = new ZstdFrames();
  for await (const chunk of chunks) {
    for (let rest = chunk; rest.length > 0; ) {
      const left = await frame.write(rest);
      yield* frame.take();
      rest = rest.subarray(rest.length - left);
      if (left === 0) continue;
      yield* await frame.end();
      frame = new ZstdFrames();
    }
  }
  yield* await frame.end();
}

/** One decoder and the output it has ready. */
class ZstdFrames {
  readonly #decoder = createZstdDecompress({ chunkSize: outputSize });
  readonly #ended: Promise<void>;
  #ready: Uint8Array[] = [];
  #written = 0;

  constructor() {
    this.#decoder.on('data', (data: Uint8Array) => this.#ready.push(data));
    this.#ended = new Promise((resolve, reject) => {
      this.#decoder.on('end', resolve).on('error', reject);
    });
    // An error is reported by the next call that awaits it.
    this.#ended.catch(() => {});
  }

  /** How many bytes of the chunk lie behind the end of the last frame. */
  async write(chunk: Uint8Array): Promise<number> {
    this.#written += chunk.length;
    const written = new Promise<void>((resolve) => this.#decoder.write(chunk, () => resolve()));
    await Promise.race([written, this.#ended]);
    return this.#written - this.#decoder.bytesWritten;
  }

  take(): Uint8Array[] {
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }

  async end(): Promise<Uint8Array[]> {
    this.#decoder.end();
    await this.#ended;
    return this.take();
  }
}

async function* explainDamage(
  chunks: ByteChunks,
  compression: Compression,
  name: string,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code === 'Z_BUF_ERROR') {
      const message = `${name}: the ${compression} data ends too early; is it truncated?`;
      throw new DataError(message, { cause: error });
    }
    if (/^(Z_|ZSTD_)/.test(code)) {
      const reason = (error as Error).message;
      throw new DataError(`${name}: damaged ${compression} data (${reason})`, { cause: error });
    }
    throw error;
  }
}
