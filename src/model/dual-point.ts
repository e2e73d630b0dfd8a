import { DataError } from '../errors.ts';
import { type OutputFile, writeAtomically } from '../files.ts';
import { modelHash, readModelBytes, sha256 } from './file.ts';
import { type Model, vectorCount } from './model.ts';
import { littleEndianBytes } from './weights.ts';

/** The dual point that proves the bound of a model: `scales[k] · alpha` is feasible for vector k. */
export interface DualPoint {
  /** By row trained on; those of several vectors follow one another. */
  readonly alpha: Float64Array;
  /** One for each vector, from 0 to 1. */
  readonly scales: readonly number[];
}

/** The file that belongs to a model file. */
export function dualPath(model: string): string {
  return `${model}.dual`;
}

interface Header {
  readonly format: string;
  readonly version: number;
  readonly model: string;
  readonly scales: readonly number[];
  readonly numbers: number;
  readonly sha256: string;
}

const format = 'dso-dual';
const version = 1;

/**
 * A line of JSON, which names the model by the hash of its file, then α as little-endian doubles,
 * whose hash the line has. A new file has the permissions of `modelPath`.
 */
export async function writeDualPoint(
  path: string,
  model: Model,
  dual: DualPoint,
  modelPath?: string,
): Promise<void> {
  const payload = littleEndianBytes(dual.alpha);
  const header: Header = {
    format,
    version,
    model: modelHash(model),
    scales: dual.scales,
    numbers: dual.alpha.length,
    sha256: sha256([payload]),
  };
  const write = async (file: OutputFile) => {
    await file.write(`${JSON.stringify(header)}\n`);
    await file.write(payload);
  };
  await writeAtomically(path, write, modelPath);
}

/** A dual point that is sound, but of another model. */
export class OtherModelError extends DataError {}

/** Reads the dual point of this very model. */
export async function readDualPoint(path: string, model: Model): Promise<DualPoint> {
  const fail = (problem: string): never => {
    throw new DataError(`${path}: ${problem}`);
  };
  const bytes = await readModelBytes(path, path);
  const end = bytes.indexOf(0x0a);
  const header = parseHeader(bytes.subarray(0, Math.max(0, end)));
  if (!header) return fail('not a dual point: expected a file that dso train --keep-dual wrote');
  if (header.version !== version) fail(`version ${header.version}; this dso reads ${version}`);
  const vectors = vectorCount(model);
  const fits = header.scales.length === vectors && header.numbers === vectors * model.rows;
  const payload = bytes.subarray(end + 1);
  if (payload.length !== 8 * header.numbers) {
    fail(`damaged: ${payload.length} bytes of numbers; expected ${8 * header.numbers}`);
  }
  if (sha256([payload]) !== header.sha256) fail('damaged: the checksum does not match');
  const alpha = fromLittleEndian(payload);
  if (!alpha.every(Number.isFinite)) fail('damaged: a number that is not finite');
  if (header.model !== modelHash(model) || !fits) {
    throw new OtherModelError(
      `${path}: the dual point of another model; expected that of the model to verify`,
    );
  }
  return { alpha, scales: header.scales };
}

function parseHeader(line: Uint8Array): Header | undefined {
  try {
    const header = JSON.parse(Buffer.from(line).toString()) as Header;
    const { scales, numbers } = header;
    const known = header.format === format && Number.isSafeInteger(numbers) && numbers >= 0;
    const scaled = Array.isArray(scales) && scales.every((scale) => scale >= 0 && scale <= 1);
    return known && scaled ? header : undefined;
  } catch {
    return undefined;
  }
}

function fromLittleEndian(bytes: Uint8Array): Float64Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float64Array.from({ length: bytes.length / 8 }, (_, k) => view.getFloat64(8 * k, true));
}
