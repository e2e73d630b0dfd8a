import { type FileHandle, open } from 'node:fs/promises';
import { DataError } from '../errors.ts';
import { writeAtomically } from '../files.ts';
import { decodeModel, encodeModelParts } from './encoding.ts';
import type { Model } from './model.ts';

export { decodeModel, encodeModel } from './encoding.ts';

/** A single read returns at most 2³¹ − 1 bytes. */
const readBytes = 2 ** 30;

/** Reads a model file (`-`: standard input); throws a DataError if it is not a whole one. */
export async function readModel(path: string): Promise<Model> {
  if (path === '-') return decodeModel(await readStandardInput(), 'standard input');
  return decodeModel(await readBytesOf(path), path);
}

/**
 * Writes a model file (`-`: standard output). The file appears as a whole or not at all; a file
 * that was there before is replaced only when the new one is complete.
 */
export async function writeModel(path: string, model: Model): Promise<void> {
  const parts = encodeModelParts(model);
  if (path === '-') {
    for (const part of parts) await writeStandardOutput(part);
    return;
  }
  await writeAtomically(path, async (file) => {
    for (const part of parts) await file.write(part);
  });
}

async function readBytesOf(path: string): Promise<Uint8Array> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const { size } = await file.stat();
    // A pipe or a device (`<(…)`, /dev/stdin) has no size; it is read to its end.
    return size === 0 ? await file.readFile() : await readWhole(file, size);
  } catch (cause) {
    throw new DataError(`${path}: ${explain(cause)}`, { cause });
  } finally {
    await file?.close();
  }
}

async function readWhole(file: FileHandle, size: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(size);
  let filled = 0;
  while (filled < size) {
    const length = Math.min(size - filled, readBytes);
    const { bytesRead } = await file.read(bytes, filled, length, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

function explain(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EISDIR') return 'a directory; expected a model file';
  if (code === 'EACCES') return 'no permission to read it';
  return message;
}

async function readStandardInput(): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function writeStandardOutput(bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}
