import { readFile } from 'node:fs/promises';
import { compressionOf, decompress } from '../data/read/byte-blocks.ts';
import { DataError } from '../errors.ts';

/** The lines of a text file, plain, .gz or .zst, without their line ends. */
export async function readLines(path: string): Promise<string[]> {
  const bytes = await readBytes(path);
  const chunks: Uint8Array[] = [];
  for await (const chunk of decompress(once(bytes), compressionOf(bytes, path), path)) {
    chunks.push(chunk);
  }
  const lines = Buffer.concat(chunks).toString('utf8').split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

async function readBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new DataError(`${path}: ${code === 'ENOENT' ? 'no such file' : message}`, { cause });
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
