import { DataError } from '../../errors.ts';
import type { Model } from '../model.ts';
import type { ScoringModel } from './predictor.ts';
import { sha256 } from './sha256.ts';

interface Section {
  readonly bytes: number;
  readonly sha256: string;
}

/** What the header of a model file says, as far as scores depend on it. */
interface Header extends Omit<ScoringModel, 'weights' | 'intercepts' | 'featureNames'> {
  /** Version 1. */
  readonly intercept?: number | string;
  readonly intercepts?: readonly (number | string)[];
  readonly weights: Section & { readonly encoding: 'dense' | 'sparse'; readonly stored: number };
  readonly featureNames?: Section;
}

const newestVersion = 2;
const separator = '---\n';
/** The first two lines are shorter than this. */
const preambleLimit = 256;

/**
 * The parts of a model file, version 1 or 2 (docs/model-format.md), that scores depend on. The file
 * is one of ours if its checksums hold, so the header needs no closer look; `verify` is whether
 * they are computed.
 */
export function decodeModelFile(bytes: Uint8Array, verify: boolean): ScoringModel {
  const preamble = decodeText(bytes.subarray(0, preambleLimit));
  const match = /^dso-model ([1-9][0-9]*)\nheader ([1-9][0-9]*) sha256 ([0-9a-f]{64})\n/.exec(
    preamble,
  );
  if (match === null) throw new DataError('not a dso model file, or a damaged one');
  const version = Number(match[1]);
  if (version > newestVersion) {
    throw new DataError(`model format ${version}; wanted 1 to ${newestVersion}`);
  }
  let place = match[0].length;
  const take = (length: number, part: string, checksum?: string): Uint8Array => {
    const taken = bytes.subarray(place, place + length);
    place += length;
    if (taken.length < length) throw new DataError(`truncated model: ${part}`);
    if (checksum !== undefined && verify && sha256(taken) !== checksum) {
      throw new DataError(`damaged model: checksum of the ${part}`);
    }
    return taken;
  };
  const header = JSON.parse(decodeText(take(Number(match[2]), 'header', match[3]))) as Header;
  if (decodeText(take(separator.length, 'line')) !== separator) {
    throw new DataError('damaged model: no "---"');
  }
  const { weights: section, featureNames: names, intercept, intercepts, ...rest } = header;
  const payload = take(section.bytes, 'weights', section.sha256);
  const lines = names && decodeText(take(names.bytes, 'names', names.sha256));
  if (place !== bytes.length) throw new DataError('damaged model: bytes follow its end');
  const biases = Float64Array.from(intercepts ?? [intercept!], Number);
  return {
    ...rest,
    weights: decodeWeights(header, biases.length, version, payload),
    intercepts: biases,
    ...(lines !== undefined && { featureNames: parseNames(lines) }),
  };
}

/** One JSON string per line. */
function parseNames(lines: string): string[] {
  return JSON.parse(`[${lines.slice(0, -1).replaceAll('\n', ',')}]`);
}

function decodeWeights(
  { columns, weights: { encoding, stored } }: Header,
  vectors: number,
  version: number,
  payload: Uint8Array,
): Model['weights'] {
  const weights = new Float64Array(columns * vectors);
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  if (encoding === 'dense') {
    for (let index = 0; index < weights.length; index++) {
      weights[index] = view.getFloat64(8 * index, true);
    }
    return weights;
  }
  // Counts of the vectors, which version 1 does not have; column numbers; weights.
  const indexStart = version > 1 ? 4 * vectors : 0;
  const valueStart = indexStart + 4 * stored;
  let entry = 0;
  for (let vector = 0; vector < vectors; vector++) {
    const end = entry + (version > 1 ? view.getInt32(4 * vector, true) : stored);
    for (; entry < end; entry++) {
      const column = view.getInt32(indexStart + 4 * entry, true);
      weights[vector * columns + column] = view.getFloat64(valueStart + 8 * entry, true);
    }
  }
  return weights;
}

function decodeText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
