import { once } from 'node:events';
import type { Transform } from 'node:stream';
import { createGzip, createZstdCompress } from 'node:zlib';
import { UsageError } from '../../errors.ts';
import { type OutputFile, writeAtomically } from '../../files.ts';

/**
 * Writes a file as a whole or not at all, compressed if its name ends in `.gz` or `.zst`; for `-`,
 * standard output. A chunk may be used again once `write` has returned.
 */
export async function writeOutput<Result>(
  path: string,
  write: (file: OutputFile) => Promise<Result>,
): Promise<Result> {
  if (path === '-') return write({ write: writeStandardOutput });
  const encoder = encoderFor(path);
  return writeAtomically(path, (file) =>
    encoder ? writeEncoded(encoder, file, write) : write(file),
  );
}

function encoderFor(path: string): Transform | undefined {
  if (path.endsWith('.gz')) return createGzip();
  if (!path.endsWith('.zst')) return undefined;
  if (createZstdCompress === undefined) {
    throw new UsageError(`${path}: zstd needs Node 22.15 or newer, this is ${process.version}`);
  }
  return createZstdCompress();
}

async function writeEncoded<Result>(
  encoder: Transform,
  file: OutputFile,
  write: (file: OutputFile) => Promise<Result>,
): Promise<Result> {
  const drained = (async () => {
    for await (const chunk of encoder as AsyncIterable<Uint8Array>) await file.write(chunk);
  })();
  // Awaited below; until then a full disk must not count as unhandled.
  drained.catch(() => {});
  try {
    const result = await write({
      async write(data) {
        const copy = typeof data === 'string' ? data : data.slice();
        if (!encoder.write(copy)) await Promise.race([once(encoder, 'drain'), drained]);
      },
    });
    encoder.end();
    await drained;
    return result;
  } catch (error) {
    encoder.destroy();
    // What ended the output, if it was that, and not that the encoder is closed.
    await drained.catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw cause;
    });
    throw error;
  }
}

function writeStandardOutput(data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(data, (error) => (error ? reject(error) : resolve()));
  });
}
