import { DataError } from '../../errors.ts';
import type { ScoringModel } from './predictor.ts';
import { sha256 } from './sha256.ts';

/** The newest version of the model file that is read (docs/model-format.md). */
export const modelVersion = 2;
export const separator = '---\n';
/** The first two lines are shorter than this, so a file of another kind is not searched further. */
const preambleLimit = 256;

/** The bytes of a part of the file, and what guards them. */
export interface Section {
  readonly bytes: number;
  readonly sha256: string;
}

/** How many weights there are, and how the payload stores them. */
export interface WeightLayout {
  readonly columns: number;
  readonly vectors: number;
  readonly encoding: 'dense' | 'sparse';
  /** Weights in the payload: all of them (dense) or those that are not +0 (sparse). */
  readonly stored: number;
  /** Whether the sparse payload begins with the count of each vector; version 1 had no counts. */
  readonly counted: boolean;
}

/** What the header says about the rest of the file. */
interface Sections {
  readonly weights: Section;
  readonly featureNames?: Section;
}

/**
 * Cuts a model file into its parts; `parse` reads the header. Where `hash` is false the checksums
 * are not compared. `name` is the file in messages; throws a DataError where it is damaged.
 */
export function readParts<Found extends Sections>(
  bytes: Uint8Array,
  name: string,
  parse: (header: string, version: number) => Found,
  hash: false | ((bytes: Uint8Array) => string),
) {
  const fail = (problem: string): never => {
    throw new DataError(`${name}: ${problem}`);
  };
  let position = 0;
  const take = (part: string, section: Section): Uint8Array => {
    const taken = bytes.subarray(position, position + section.bytes);
    position += section.bytes;
    if (taken.length < section.bytes) {
      fail(`truncated model: ${part}: ${taken.length} of ${section.bytes} bytes`);
    }
    if (hash && hash(taken) !== section.sha256) {
      fail(`damaged model: the checksum of the ${part} does not match`);
    }
    return taken;
  };
  const start = decodeText(bytes.subarray(0, preambleLimit));
  const [preamble, version, length, checksum] =
    /^dso-model ([1-9]\d*)\n(?:header (\d+) sha256 (\w{64})\n)?/.exec(start) ??
    fail(`not a dso model: it begins with ${JSON.stringify(start.slice(0, 24))}`);
  if (Number(version) > modelVersion) {
    fail(`model format ${version}; this dso reads 1 to ${modelVersion}`);
  }
  if (!checksum) fail('damaged model: no checksum in line 2');
  position = preamble.length;
  const text = decodeText(take('header', { bytes: Number(length), sha256: checksum }));
  const line = decodeText(bytes.subarray(position, position + separator.length));
  if (line !== separator) fail('damaged model: no "---" after the header');
  position += separator.length;
  const header = parse(text, Number(version));
  const payload = take('weights', header.weights);
  const names = header.featureNames && take('feature names', header.featureNames);
  const more = bytes.length - position;
  if (more > 0) fail(`damaged model: ${more} bytes follow its end`);
  return [header, payload, names, version !== '1'] as const;
}

/**
 * Copies the weights in a payload to their positions: counts of the vectors, column numbers,
 * weights; dense ones are weights alone. `check` sees each before it is written.
 */
export function decodeWeights(
  { columns, vectors, encoding, stored, counted }: WeightLayout,
  payload: Uint8Array,
  weights: Float64Array,
  check?: (vector: number, column: number, weight: number) => void,
): void {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const dense = encoding === 'dense';
  const indexStart = counted ? 4 * vectors : 0;
  const valueStart = dense ? 0 : indexStart + 4 * stored;
  let entry = 0;
  for (let vector = 0; vector < vectors; vector++) {
    const first = vector * columns;
    let end = entry + (dense ? columns : stored);
    if (!dense && counted) end = entry + view.getInt32(4 * vector, true);
    for (; entry < end; entry++) {
      const column = dense ? entry - first : view.getInt32(indexStart + 4 * entry, true);
      const weight = view.getFloat64(valueStart + 8 * entry, true);
      check?.(vector, column, weight);
      weights[first + column] = weight;
    }
  }
}

export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** What the header of a model file says, as far as scores depend on it. */
interface Header extends Omit<ScoringModel, 'weights' | 'intercepts' | 'featureNames'> {
  /** Version 1. */
  readonly intercept?: number | string;
  readonly intercepts?: readonly (number | string)[];
  readonly weights: Section & Pick<WeightLayout, 'encoding' | 'stored'>;
  readonly featureNames?: Section;
}

/**
 * What scores depend on in a model file. The file is one of ours if its checksums hold, so the
 * header needs no closer look; `verify` is whether they are computed.
 */
export function decodeModelFile(bytes: Uint8Array, verify: boolean): ScoringModel {
  const parse = (text: string): Header => JSON.parse(text);
  const parts = readParts(bytes, 'model', parse, verify && sha256);
  const [header, payload, names, counted] = parts;
  const { weights: section, featureNames: _, intercept, intercepts, ...rest } = header;
  const { columns } = rest;
  const biases = Float64Array.from(intercepts ?? [intercept!], Number);
  const vectors = biases.length;
  const weights = new Float64Array(columns * vectors);
  decodeWeights({ ...section, columns, vectors, counted }, payload, weights);
  return {
    ...rest,
    weights,
    intercepts: biases,
    // One JSON string per line.
    ...(names && {
      featureNames: JSON.parse(`[${decodeText(names).slice(0, -1).replaceAll('\n', ',')}]`),
    }),
  };
}
