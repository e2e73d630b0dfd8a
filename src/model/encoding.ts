import { createHash } from 'node:crypto';
import { DataError, DsoError } from '../errors.ts';
import { type Header, headerText, parseHeader, type Section } from './header.ts';
import { type Model, vectorCount } from './model.ts';
import { decodeWeights, encodeWeights, payloadBytes, type WeightLayout } from './weights.ts';

/**
 * Names of features as they lie in a model file: one JSON string per line. JSON has no newline
 * inside a string, so a newline always ends a name.
 */
const newline = 0x0a;

/** Names are turned into bytes so many at a time, and bytes into names. */
const namesTogether = 2 ** 16;
const bytesTogether = 2 ** 16;

/** The lines, in pieces to be written one after the other. */
export function encodeNames(names: readonly string[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let start = 0; start < names.length; start += namesTogether) {
    let text = '';
    const end = Math.min(start + namesTogether, names.length);
    for (let index = start; index < end; index++) text += `${JSON.stringify(names[index])}\n`;
    pieces.push(Buffer.from(text));
  }
  return pieces;
}

/** The names in the lines; `columns` are wanted. `file` is for messages. */
export function decodeNames(bytes: Uint8Array, columns: number, file: string): string[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const names: string[] = [];
  let start = 0;
  while (start < buffer.length) {
    const end = endOfLine(buffer, start + bytesTogether);
    for (const name of parseLines(buffer.toString('utf8', start, end), names.length, file)) {
      names.push(name);
    }
    start = end;
  }
  if (names.length !== columns) {
    throw new DataError(
      `${file}: ${names.length} names of features; wanted one for each of ${columns} columns`,
    );
  }
  return names;
}

/** Behind the first newline at or after `from`, or the end. */
function endOfLine(buffer: Buffer, from: number): number {
  if (from >= buffer.length) return buffer.length;
  const found = buffer.indexOf(newline, from);
  return found < 0 ? buffer.length : found + 1;
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
    `${file}: the names of features from ${before + 1} on are not JSON strings, one per line`,
  );
}

/**
 * The model file, version 2 (docs/model-format.md):
 *
 *     dso-model 2
 *     header <bytes> sha256 <hex>
 *     { …JSON… }
 *     ---
 *     <weights, little-endian>
 *     <names of features, one JSON string per line>
 *
 * Line 2 guards the JSON, the JSON guards the rest: a changed bit anywhere is noticed. Version 1,
 * which is read too, had one vector of weights, two numbers as classes, and no names.
 */
const magic = 'dso-model';
const version = 2;
const separator = '---\n';
/** No valid first two lines are longer than this; keeps a foreign file from being searched. */
const preambleLimit = 256;
/** The hash takes at most 2³¹ − 1 bytes at once. */
const hashBytes = 2 ** 30;

/** The model as the bytes of its file. Equal models give equal bytes. */
export function encodeModel(model: Model): Uint8Array {
  return Buffer.concat(encodeModelParts(model));
}

/** The same bytes in pieces to be written one after the other, without a copy of the weights. */
export function encodeModelParts(model: Model): Uint8Array[] {
  checkShape(model);
  const { layout, payload } = encodeWeights(model.weights, vectorCount(model));
  const { encoding, stored } = layout;
  const names = model.featureNames && encodeNames(model.featureNames);
  const weights = { encoding, stored, ...sectionOf([payload]) };
  const header = Buffer.from(headerText(model, weights, names && sectionOf(names)));
  const preamble = `${magic} ${version}\nheader ${header.byteLength} sha256 ${sha256([header])}\n`;
  return [Buffer.from(preamble), header, Buffer.from(separator), payload, ...(names ?? [])];
}

/** The model in `bytes`; `name` is the file's name for messages. Throws a DataError. */
export function decodeModel(bytes: Uint8Array, name: string): Model {
  const { header, layout, rest } = openModel(bytes, name);
  const { description, intercepts, weights: section, featureNames } = header;
  const payload = rest.subarray(0, section.bytes);
  checkSum(payload, section, 'weights', name);
  const weights = decodeWeights(layout, payload, name);
  if (!featureNames) return { ...description, weights, intercepts };
  const lines = rest.subarray(section.bytes);
  checkSum(lines, featureNames, 'names of features', name);
  const names = decodeNames(lines, description.columns, name);
  return { ...description, weights, intercepts, featureNames: names };
}

interface OpenedModel {
  readonly header: Header;
  readonly layout: WeightLayout;
  /** What follows the header. */
  readonly rest: Uint8Array;
}

function openModel(bytes: Uint8Array, name: string): OpenedModel {
  const first = line(bytes, 0);
  const found = versionOf(first.text, bytes, name);
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
  checkSum(headerBytes, { sha256: guard[2] }, 'header', name);
  if (decodeText(bytes.subarray(headerEnd, start)) !== separator) {
    throw new DataError(`${name}: damaged model: no line "---" after the header`);
  }
  const header = parseHeader(decodeText(headerBytes), found, name);
  const rest = bytes.subarray(start);
  const layout = layoutOf(header, found, name);
  checkRest(header, rest.byteLength, name);
  return { header, layout, rest };
}

function versionOf(first: string | undefined, bytes: Uint8Array, name: string): number {
  const found = /^dso-model ([1-9][0-9]{0,8})$/.exec(first ?? '');
  if (found !== null) {
    if (Number(found[1]) <= version) return Number(found[1]);
    throw new DataError(
      `${name}: model format ${found[1]}; this version of dso reads format ${version} and older`,
    );
  }
  if (bytes.byteLength === 0) throw new DataError(`${name}: an empty file; wanted a dso model`);
  throw new DataError(
    `${name}: not a dso model: it begins with ${excerpt(decodeText(bytes.subarray(0, 24)))}; ` +
      `wanted a first line "${magic} ${version}"`,
  );
}

function layoutOf({ description, weights }: Header, found: number, name: string): WeightLayout {
  const { columns } = description;
  const vectors = vectorCount(description);
  const { encoding, stored, bytes } = weights;
  const layout = { columns, vectors, encoding, stored, counted: found > 1 };
  const all = columns * vectors;
  const fits = encoding === 'dense' ? stored === all : stored <= all;
  if (fits && bytes === payloadBytes(layout)) return layout;
  throw new DataError(
    `${name}: header: ${stored} ${encoding} weights in ${bytes} bytes do not fit ` +
      `${columns} columns${vectors === 1 ? '' : ` and ${vectors} vectors`}`,
  );
}

function checkRest({ weights, featureNames }: Header, found: number, name: string): void {
  checkLength(found, weights.bytes, 'weights', name);
  const names = featureNames?.bytes ?? 0;
  checkLength(found - weights.bytes, names, 'names of features', name);
  const more = found - weights.bytes - names;
  if (more > 0) {
    const last = featureNames ? 'names of features' : 'weights';
    throw new DataError(`${name}: damaged model: ${more} bytes follow the ${last}`);
  }
}

function checkLength(found: number, wanted: number, part: string, name: string): void {
  if (found < wanted) {
    throw new DataError(
      `${name}: truncated model: the ${part} end after ${found} of ${wanted} bytes`,
    );
  }
}

function checkSum(
  bytes: Uint8Array,
  wanted: Pick<Section, 'sha256'>,
  part: string,
  name: string,
): void {
  if (sha256([bytes]) === wanted.sha256) return;
  throw new DataError(`${name}: damaged model: the checksum of the ${part} does not match`);
}

/** A model that would not be read again is not written. */
function checkShape(model: Model): void {
  const { columns, classes, weights, intercepts, featureNames } = model;
  const refuse = (what: string): never => {
    throw new DsoError('failure', what);
  };
  if ((model.task === 'classification') !== (classes !== undefined)) {
    refuse('a model has classes if it classifies, otherwise none');
  }
  if (classes && classes.length < (model.multiLabel ? 1 : 2)) {
    refuse(`a model of ${classes.length} classes; wanted at least two`);
  }
  if (classes?.some((label) => typeof label === 'number' && !Number.isFinite(label))) {
    refuse(`the classes are ${classes.join(', ')}; wanted texts or finite numbers`);
  }
  if (classes && new Set(classes).size < classes.length) refuse('a class appears twice');
  const vectors = vectorCount(model);
  if (weights.length !== columns * vectors) {
    const shape = vectors === 1 ? '' : ` and ${vectors} vectors`;
    refuse(`a model of ${columns} columns${shape} has ${weights.length} weights`);
  }
  const { calibration, certificates } = model;
  for (const [key, list] of Object.entries({ intercepts, calibration, certificates })) {
    if (list && list.length !== vectors) refuse(`${list.length} ${key} for ${vectors} vectors`);
  }
  const bad = intercepts.find((intercept) => !Number.isFinite(intercept));
  if (bad !== undefined) refuse(`the intercept is ${bad}; wanted a finite number`);
  if (featureNames && featureNames.length !== columns) {
    refuse(`a model of ${columns} columns has ${featureNames.length} names of features`);
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

function sectionOf(pieces: readonly Uint8Array[]): Section {
  const bytes = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
  return { bytes, sha256: sha256(pieces) };
}

function sha256(pieces: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const bytes of pieces) {
    for (let start = 0; start < bytes.byteLength; start += hashBytes) {
      hash.update(bytes.subarray(start, start + hashBytes));
    }
  }
  return hash.digest('hex');
}
