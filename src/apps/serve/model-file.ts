import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { DataError } from '../../errors.ts';
import { decodeModel } from '../../model/file.ts';
import type { Model } from '../../model/model.ts';

/** A model as it was found in a file. */
export interface FoundModel {
  readonly model: Model;
  /** The first digits of the file's SHA-256. */
  readonly version: string;
}

/** Digits of a hash that are told. */
const versionDigits = 16;
/** Bytes that are read, and hashed, at once. */
const pieceBytes = 2 ** 26;

/** Reads and checks a model file; messages name it without its folder. */
export async function readModelFile(path: string): Promise<FoundModel> {
  const name = basename(path);
  try {
    const { bytes, hash } = await readHashed(path);
    return { model: decodeModel(bytes, name), version: hash.slice(0, versionDigits) };
  } catch (cause) {
    if (cause instanceof DataError) throw cause;
    throw new DataError(`${name}: ${explain(cause)}`, { cause });
  }
}

async function readHashed(path: string): Promise<{ bytes: Buffer; hash: string }> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const bytes = Buffer.allocUnsafe(size);
    const hash = createHash('sha256');
    let filled = 0;
    while (filled < size) {
      const wanted = Math.min(pieceBytes, size - filled);
      const { bytesRead } = await file.read(bytes, filled, wanted, filled);
      if (bytesRead === 0) break;
      hash.update(bytes.subarray(filled, filled + bytesRead));
      filled += bytesRead;
    }
    return { bytes: bytes.subarray(0, filled), hash: hash.digest('hex') };
  } finally {
    await file.close();
  }
}

function explain(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EISDIR') return 'a directory; expected a model file';
  if (code === 'EACCES') return 'no permission to read it';
  return message;
}

/** What changes when a file is written or another one takes its name. */
export async function fileState(path: string): Promise<string> {
  try {
    return stateOf(await stat(path, { bigint: true }));
  } catch (cause) {
    return explain(cause);
  }
}

function stateOf({ dev, ino, size, mtimeNs }: BigIntStats): string {
  return `${dev} ${ino} ${size} ${mtimeNs}`;
}
