import { createHash } from 'node:crypto';
import { dataFlagNames } from '../../../cli/definitions/data-options.ts';
import type { TrainFlags } from '../../../cli/definitions/train.ts';
import { readLines } from '../../../cli/text-file.ts';
import { DataError } from '../../../errors.ts';
import { writeAtomically } from '../../../files.ts';
import { encodeModel } from '../../../model/file.ts';
import type { Model } from '../../../model/model.ts';
import type { StopReason } from '../../../train/events.ts';

/** The options that decide the bits of a model, besides the data. */
const decisive = [
  'loss',
  'epsilon',
  'delta',
  'smoothing',
  'quantile',
  'penalty',
  'l1Ratio',
  'lower',
  'upper',
  'nonNegative',
  'penaltyFactors',
  'lambda',
  'intercept',
  'paper',
  'step',
  'stepSize',
  'dualStepSize',
  'svrg',
  'initialize',
  'boxes',
  'average',
  'seed',
  'tolerance',
  'holdout',
  'earlyStop',
  'classWeight',
  'scale',
  ...dataFlagNames,
] as const satisfies readonly (keyof TrainFlags)[];

export type DecisiveFlags = Pick<TrainFlags, (typeof decisive)[number]>;

export interface VisitedEpoch {
  readonly primal: number;
  readonly dual: number;
  readonly visits: Int32Array;
}

/** Everything needed to run an asynchronous training again, and to see that it was the same. */
export interface VisitRecord {
  /** A hash of the data it was trained on. */
  readonly data: string;
  readonly grid: number;
  readonly flags: DecisiveFlags;
  readonly epochs: readonly VisitedEpoch[];
  readonly stopped: StopReason;
  /** SHA-256 of the model file's bytes. */
  readonly model: string;
}

export function decisiveFlags(flags: TrainFlags): DecisiveFlags {
  const given = decisive.filter((name) => flags[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, flags[name]])) as unknown as DecisiveFlags;
}

export function modelHash(model: Model): string {
  return createHash('sha256').update(encodeModel(model)).digest('hex');
}

const format = 'dso-visits';
const version = 1;

/** JSON lines: a header, a line per epoch, and the result. */
export async function writeVisits(path: string, record: VisitRecord): Promise<void> {
  const { data, grid, flags, epochs, stopped, model } = record;
  await writeAtomically(path, async (file) => {
    await file.write(`${JSON.stringify({ format, version, data, grid, options: flags })}\n`);
    for (const [index, { primal, dual, visits }] of epochs.entries()) {
      const line = { epoch: index + 1, primal, dual, visits: [...visits] };
      await file.write(`${JSON.stringify(line)}\n`);
    }
    await file.write(`${JSON.stringify({ stopped, model })}\n`);
  });
}

export async function readVisits(path: string): Promise<VisitRecord> {
  const lines = await readLines(path);
  const objects = lines.map((line, index) => parseLine(line, `${path}:${index + 1}`));
  const header = objects[0];
  if (header?.format !== format) {
    throw new DataError(`${path}:1: not a record of block visits; wanted "format":"${format}"`);
  }
  if (header.version !== version) {
    throw new DataError(
      `${path}:1: version ${JSON.stringify(header.version)}; this program reads ${version}`,
    );
  }
  const last = objects.at(-1) as Record<string, unknown>;
  if (objects.length < 3 || typeof last.model !== 'string') {
    throw new DataError(`${path}:${lines.length}: the record ends without its last line`);
  }
  const grid = header.grid as number;
  if (!(Number.isInteger(grid) && grid >= 1 && grid <= 256)) {
    throw new DataError(`${path}:1: grid is ${grid}; wanted a whole number from 1 to 256`);
  }
  return {
    data: String(header.data),
    grid,
    flags: header.options as DecisiveFlags,
    epochs: objects.slice(1, -1).map((line, k) => epochOf(line, grid, k, `${path}:${k + 2}`)),
    stopped: last.stopped as StopReason,
    model: last.model,
  };
}

function parseLine(line: string, place: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below, with its place.
  }
  throw new DataError(`${place}: ${JSON.stringify(line.slice(0, 40))}; wanted a JSON object`);
}

/** Every cell of the grid once, in any order. */
function epochOf(
  line: Record<string, unknown>,
  grid: number,
  index: number,
  place: string,
): VisitedEpoch {
  const { epoch, visits, primal, dual } = line;
  if (epoch !== index + 1) {
    throw new DataError(`${place}: epoch is ${JSON.stringify(epoch)}; wanted ${index + 1}`);
  }
  const cells = new Set(Array.isArray(visits) ? (visits as unknown[]) : []);
  const inside = (cell: unknown) =>
    Number.isInteger(cell) && Number(cell) >= 0 && Number(cell) < grid * grid;
  if (!(cells.size === grid * grid && [...cells].every(inside) && Array.isArray(visits))) {
    throw new DataError(
      `${place}: visits do not name each of the ${grid * grid} cells of the grid once`,
    );
  }
  return { primal: Number(primal), dual: Number(dual), visits: Int32Array.from(visits) };
}
