import { createHash } from 'node:crypto';
import { DataError, DsoError } from '../errors.ts';
import type { Header } from './header.ts';
import { headerText, parseHeader } from './header.ts';
import type { Model } from './model.ts';
import { decodeWeights, encodeWeights, payloadBytes } from './weights.ts';

/**
 * The model file, version 1 (docs/model-format.md):
 *
 *     dso-model 1
 *     header <bytes> sha256 <hex>
 *     { …JSON… }
 *     ---
 *     <weights, little-endian>
 *
 * Line 2 guards the JSON, the JSON guards the weights: a changed bit anywhere is noticed.
 */
const magic = 'dso-model';
const version = 1;
const separator = '---\n';
/** No valid first two lines are longer than this; keeps a foreign file from being searched. */
const preambleLimit = 256;
const newline = 0x0a;
/** The hash takes at most 2³¹ − 1 bytes at once. */
const hashBytes = 2 ** 30;

/** The model as the bytes of its file. Equal models give equal bytes. */
export function encodeModel(model: Model): Uint8Array {
  return Buffer.concat(encodeModelParts(model));
}

/** The same bytes in pieces to be written one after the other, without a copy of the weights. */
export function encodeModelParts(model: Model): Uint8Array[] {
  checkShape(model);
  const { encoding, stored, payload } = encodeWeights(model.weights);
  const bytes = payload.byteLength;
  const header = Buffer.from(
    headerText(model, { encoding, stored, bytes, sha256: sha256(payload) }),
  );
  const preamble = `${magic} ${version}\nheader ${header.byteLength} sha256 ${sha256(header)}\n`;
  return [Buffer.from(preamble), header, Buffer.from(separator), payload];
}

/** The model in `bytes`; `name` is the file's name for messages. Throws a DataError. */
export function decodeModel(bytes: Uint8Array, name: string): Model {
  const { header, payload } = openModel(bytes, name);
  const { encoding, stored, sha256: expected } = header.weights;
  if (sha256(payload) !== expected) {
    throw new DataError(`${name}: damaged model: the checksum of the weights does not match`);
  }
  const weights = decodeWeights(encoding, stored, header.columns, payload, name);
  return { ...header, weights };
}

function openModel(bytes: Uint8Array, name: string): { header: Header; payload: Uint8Array } {
  const first = line(bytes, 0);
  checkMagic(first.text, bytes, name);
  const second = line(bytes, first.end);
  const guard = /^header (0|[1-9][0-9]{0,8}) sha256 ([0-9a-f]{64})$/.exec(second.text ?? '');
  if (guard === null) {
    throw new DataError(
      `${name}: damaged model: line 2 is ${excerpt(second.text ?? '')}; ` +
        'wanted "header <bytes> sha256 <checksum>"',
    );
  }
  const headerEnd = second.end + Number(guard[1]);
  const start = headerEnd + separator.length;
  checkLength(bytes.byteLength, start, 'header', name);
  const headerBytes = bytes.subarray(second.end, headerEnd);
  if (sha256(headerBytes) !== guard[2]) {
    throw new DataError(`${name}: damaged model: the checksum of the header does not match`);
  }
  if (decodeText(bytes.subarray(headerEnd, start)) !== separator) {
    throw new DataError(`${name}: damaged model: no line "---" after the header`);
  }
  const header = parseHeader(decodeText(headerBytes), name);
  checkPayload(header, bytes.byteLength - start, name);
  return { header, payload: bytes.subarray(start) };
}

function checkMagic(first: string | undefined, bytes: Uint8Array, name: string): void {
  if (first === `${magic} ${version}`) return;
  const other = /^dso-model ([1-9][0-9]{0,8})$/.exec(first ?? '');
  if (other !== null) {
    throw new DataError(
      `${name}: model format ${other[1]}; this version of dso reads format ${version}`,
    );
  }
  if (bytes.byteLength === 0) throw new DataError(`${name}: an empty file; wanted a dso model`);
  throw new DataError(
    `${name}: not a dso model: it begins with ${excerpt(decodeText(bytes.subarray(0, 24)))}; ` +
      `wanted a first line "${magic} ${version}"`,
  );
}

function checkPayload(header: Header, found: number, name: string): void {
  const { encoding, stored, bytes } = header.weights;
  const fits = encoding === 'dense' ? stored === header.columns : stored <= header.columns;
  if (!fits || bytes !== payloadBytes(encoding, stored)) {
    throw new DataError(
      `${name}: header: ${stored} ${encoding} weights in ${bytes} bytes ` +
        `do not fit ${header.columns} columns`,
    );
  }
  checkLength(found, bytes, 'weights', name);
  if (found > bytes) {
    throw new DataError(`${name}: damaged model: ${found - bytes} bytes follow the weights`);
  }
}

function checkLength(found: number, wanted: number, part: string, name: string): void {
  if (found < wanted) {
    throw new DataError(
      `${name}: truncated model: the ${part} end after ${found} of ${wanted} bytes`,
    );
  }
}

function checkShape(model: Model): void {
  if (model.weights.length !== model.columns) {
    throw new DsoError(
      'failure',
      `a model of ${model.columns} columns has ${model.weights.length} weights`,
    );
  }
  if ((model.task === 'classification') !== (model.classes !== undefined)) {
    throw new DsoError('failure', 'a model has two classes if it classifies, otherwise none');
  }
  if (!Number.isFinite(model.intercept)) {
    throw new DsoError('failure', `the intercept is ${model.intercept}; wanted a finite number`);
  }
}

/** The line that starts at `start`, undefined when no newline ends it soon. */
function line(bytes: Uint8Array, start: number): { text: string | undefined; end: number } {
  const window = bytes.subarray(start, start + preambleLimit);
  const length = window.indexOf(newline);
  if (length < 0) return { text: undefined, end: start };
  return { text: decodeText(window.subarray(0, length)), end: start + length + 1 };
}

function excerpt(text: string): string {
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return JSON.stringify(shown);
}

function decodeText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

function sha256(bytes: Uint8Array): string {
  const hash = createHash('sha256');
  for (let start = 0; start < bytes.byteLength; start += hashBytes) {
    hash.update(bytes.subarray(start, start + hashBytes));
  }
  return hash.digest('hex');
}
