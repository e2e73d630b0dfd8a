import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { DataError, DsoError } from '../errors.ts';
import { explainAccess, writeAtomically } from '../files.ts';
import { type Header, headerText, parseJson, readHeader } from './header.ts';
import { type Model, vectorCount } from './model.ts';
import { modelVersion, readParts, separator, type WeightLayout } from './predict/decode.ts';
import { decodeWeights, encodeWeights, payloadBytes } from './weights.ts';

/** A single read returns, and the hash takes, at most 2³¹ − 1 bytes at once. */
const bytesAtOnce = 2 ** 30;

/** Reads a model file (`-`: standard input); throws a DataError if it is not a whole one. */
export async function readModel(path: string): Promise<Model> {
  if (path !== '-') return decodeModel(await readModelBytes(path, path), path);
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return decodeModel(Buffer.concat(chunks), 'standard input');
}

/** The bytes of a file; `name` is the file, for messages. */
export async function readModelBytes(path: string, name: string): Promise<Uint8Array> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const { size } = await file.stat();
    // A pipe or a device (`<(…)`, /dev/stdin) has no size; it is read to its end.
    if (size === 0) return await file.readFile();
    const bytes = Buffer.allocUnsafe(size);
    let filled = 0;
    while (filled < size) {
      const length = Math.min(size - filled, bytesAtOnce);
      const { bytesRead } = await file.read(bytes, filled, length, filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  } catch (cause) {
    // A file that is larger than memory.
    if (cause instanceof RangeError) throw new DataError(`${name}: ${cause.message}`, { cause });
    throw explainAccess(cause, name);
  } finally {
    await file?.close();
  }
}

/**
 * Writes a model file (`-`: standard output). The file appears as a whole or not at all; a file
 * that was there before is replaced only when the new one is complete.
 */
export async function writeModel(path: string, model: Model): Promise<void> {
  const parts = encodeModelParts(model);
  const write = async (file: { write(part: Uint8Array): Promise<void> }): Promise<void> => {
    for (const part of parts) await file.write(part);
  };
  if (path === '-') await write({ write: writeStandardOutput });
  else await writeAtomically(path, write);
}

function writeStandardOutput(bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

/** The model as the bytes of its file. Equal models give equal bytes. */
export function encodeModel(model: Model): Uint8Array {
  return Buffer.concat(encodeModelParts(model));
}

/**
 * The model file, version 2 (docs/model-format.md), in parts to be written one after the other,
 * without a copy of the weights:
 *
 *     dso-model 2
 *     header <bytes> sha256 <hex>
 *     { …JSON… }
 *     ---
 *     <weights, little-endian>
 *     <feature names, one JSON string per line>
 *
 * Line 2 guards the JSON, the JSON guards the rest: a changed bit anywhere is noticed. Version 1,
 * which is read too, had one vector of weights, two numbers as classes, and no names.
 */
function encodeModelParts(model: Model): Uint8Array[] {
  checkShape(model);
  const { layout, payload } = encodeWeights(model.weights, vectorCount(model));
  const { encoding, stored } = layout;
  const names = model.featureNames && encodeNames(model.featureNames);
  const weights = { encoding, stored, ...sectionOf([payload]) };
  const header = Buffer.from(headerText(model, weights, names && sectionOf(names)));
  const preamble = `dso-model ${modelVersion}\nheader ${header.byteLength} sha256 ${sha256([header])}\n`;
  return [Buffer.from(preamble), header, Buffer.from(separator), payload, ...(names ?? [])];
}

/** A model that would not be read again is not written. */
function checkShape(model: Model): void {
  const { columns, weights, featureNames } = model;
  const vectors = vectorCount(model);
  const shape = `a model of ${columns} columns${vectors === 1 ? '' : ` and ${vectors} vectors`}`;
  if (weights.length !== columns * vectors) {
    throw new DsoError('failure', `${shape} has ${weights.length} weights`);
  }
  if (featureNames && featureNames.length !== columns) {
    throw new DsoError('failure', `${shape} has ${featureNames.length} feature names`);
  }
  try {
    readHeader(JSON.parse(headerText(model)), modelVersion, 'the model is not written');
  } catch (cause) {
    throw new DsoError('failure', (cause as Error).message, { cause });
  }
}

/** The model in `bytes`; `name` is the file's name for messages. Throws a DataError. */
export function decodeModel(bytes: Uint8Array, name: string): Model {
  if (bytes.length === 0) throw new DataError(`${name}: an empty file; expected a dso model`);
  const [header, payload, lines, counted] = readParts(
    bytes,
    name,
    (text, version) => readHeader(parseJson(text, `${name}: header`), version, name),
    (part) => sha256([part]),
  );
  const { featureNames: _, ...description } = header;
  const weights = decodeWeights(layoutOf(header, counted, name), payload, name);
  const names = lines && decodeNames(lines, header.columns, name);
  return { ...description, weights, ...(names && { featureNames: names }) };
}

function layoutOf(header: Header, counted: boolean, name: string): WeightLayout {
  const { columns, weights } = header;
  const { encoding, stored, bytes } = weights;
  const vectors = vectorCount(header);
  const layout = { columns, vectors, encoding, stored, counted };
  const all = columns * vectors;
  const fits = encoding === 'dense' ? stored === all : stored <= all;
  if (fits && bytes === payloadBytes(layout)) return layout;
  throw new DataError(
    `${name}: header: ${stored} ${encoding} weights in ${bytes} bytes do not fit ` +
      `${columns} columns${vectors === 1 ? '' : ` and ${vectors} vectors`}`,
  );
}

function sectionOf(pieces: readonly Uint8Array[]) {
  const bytes = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
  return { bytes, sha256: sha256(pieces) };
}

/** The SHA-256 of the file that the model makes. */
export function modelHash(model: Model): string {
  return sha256(encodeModelParts(model));
}

export function sha256(pieces: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const bytes of pieces) {
    for (let start = 0; start < bytes.byteLength; start += bytesAtOnce) {
      hash.update(bytes.subarray(start, start + bytesAtOnce));
    }
  }
  return hash.digest('hex');
}

/** Names, or bytes of names, that are converted at once. */
const namesAtOnce = 2 ** 16;
const newline = 0x0a;

/**
 * Feature names as one JSON string per line, in pieces to be written one after the other. JSON has
 * no newline inside a string, so a newline always ends a name.
 */
function encodeNames(names: readonly string[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let start = 0; start < names.length; start += namesAtOnce) {
    const lines = names.slice(start, start + namesAtOnce).map((name) => JSON.stringify(name));
    pieces.push(Buffer.from(`${lines.join('\n')}\n`));
  }
  return pieces;
}

function decodeNames(bytes: Uint8Array, columns: number, file: string): string[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const names: string[] = [];
  let start = 0;
  while (start < buffer.length) {
    const found = buffer.indexOf(newline, start + namesAtOnce);
    const end = found < 0 ? buffer.length : found + 1;
    for (const name of parseLines(buffer.toString('utf8', start, end), names.length, file)) {
      names.push(name);
    }
    start = end;
  }
  if (names.length === columns) return names;
  throw new DataError(
    `${file}: ${names.length} feature names; expected one for each of ${columns} columns`,
  );
}

/** Many lines as one list of JSON, which is several times as fast as line by line. */
function parseLines(lines: string, before: number, file: string): string[] {
  let names: unknown[] = [];
  try {
    if (lines.endsWith('\n')) names = JSON.parse(`[${lines.slice(0, -1).replaceAll('\n', ',')}]`);
  } catch {
    names = [];
  }
  if (names.length > 0 && names.every((name) => typeof name === 'string')) return names;
  throw new DataError(
    `${file}: the feature names from ${before + 1} on are not JSON strings, one per line`,
  );
}
