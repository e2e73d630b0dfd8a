import { createHash } from 'node:crypto';
import { hashData } from '../../../data/fingerprint.ts';
import { DataError } from '../../../errors.ts';
import { writeAtomically } from '../../../files.ts';
import { encodeModel, writeModel } from '../../../model/file.ts';
import type { Model } from '../../../model/model.ts';
import { plural } from '../../../reporting/format.ts';
import { solvers } from '../../../solvers/index.ts';
import type { Solver } from '../../../solvers/registry.ts';
import type { EpochEvent, StopReason } from '../../../train/events.ts';
import { libraryOptions } from '../../../train/options/index.ts';
import { libraryValues, type Option } from '../../../train/options/option.ts';
import type { TrainResult } from '../../../train/options/options.ts';
import { train } from '../../../train/train.ts';
import type { Action } from '../command.ts';
import { checkFiles, readLines } from '../files.ts';
import { withProgress } from '../interrupts.ts';
import { type ReplayFlags, type TrainFlags, trainOptions } from '../options.ts';
import { chooseLoss, choosePenalty, chooseSolver } from '../problem.ts';
import { readData, readFileOptions } from '../reading.ts';
import { exitCodes, type Terminal } from '../terminal.ts';

type VisitedFlags = Omit<TrainFlags, 'solver' | 'grid' | 'epochs' | 'time'>;

interface VisitedEpoch {
  readonly primal: number;
  readonly dual: number;
  readonly visits: Int32Array;
}

/** Everything needed to run an asynchronous training again, and to see that it was the same. */
interface VisitRecord {
  /** A hash of the data it was trained on. */
  readonly data: string;
  readonly grid: number;
  readonly flags: VisitedFlags;
  readonly epochs: readonly VisitedEpoch[];
  readonly stopped: StopReason;
  /** SHA-256 of the model file's bytes. */
  readonly model: string;
}

/** The record has these itself. */
const inRecord = ['grid', 'epochs', 'time'];

/** The options that decide the model, besides the data. */
function visitedFlags(flags: TrainFlags): VisitedFlags {
  const deciding = Object.entries<Option>(trainOptions).filter(
    ([name, { affectsModel, solvers: owners }]) =>
      affectsModel && !inRecord.includes(name) && (owners?.includes('dso-async') ?? true),
  );
  const given = deciding
    .map(([name]) => [name, flags[name as keyof TrainFlags]])
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as VisitedFlags;
}

/** The record of a run, with the options that it was made by. */
export function visitRecord(result: TrainResult, flags: TrainFlags): VisitRecord {
  const { model, report, visits = new Int32Array(0), bounds = [] } = result;
  const { grid, stopped } = report;
  const cells = grid * grid;
  return {
    data: model.provenance?.data ?? '',
    grid,
    flags: visitedFlags(flags),
    epochs: bounds.map(({ primal, dual }, epoch) => ({
      primal,
      dual,
      visits: visits.subarray(epoch * cells, (epoch + 1) * cells),
    })),
    stopped,
    model: modelHash(model),
  };
}

function modelHash(model: Model): string {
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

async function readVisits(path: string): Promise<VisitRecord> {
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
    flags: header.options as VisitedFlags,
    epochs: objects.slice(1, -1).map((line, k) => epochOf(line, grid, k, `${path}:${k + 2}`)),
    stopped: last.stopped as StopReason,
    model: last.model,
  };
}

function parseLine(line: string, location: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Reported below, with its location.
  }
  throw new DataError(`${location}: ${JSON.stringify(line.slice(0, 40))}; wanted a JSON object`);
}

/** Every cell of the grid once, in any order. */
function epochOf(
  line: Record<string, unknown>,
  grid: number,
  index: number,
  location: string,
): VisitedEpoch {
  const { epoch, visits, primal, dual } = line;
  if (epoch !== index + 1) {
    throw new DataError(`${location}: epoch is ${JSON.stringify(epoch)}; wanted ${index + 1}`);
  }
  const cells = new Set(Array.isArray(visits) ? (visits as unknown[]) : []);
  const inside = (cell: unknown) =>
    Number.isInteger(cell) && Number(cell) >= 0 && Number(cell) < grid * grid;
  if (!(cells.size === grid * grid && [...cells].every(inside) && Array.isArray(visits))) {
    throw new DataError(
      `${location}: visits do not name each of the ${grid * grid} cells of the grid once`,
    );
  }
  return { primal: Number(primal), dual: Number(dual), visits: Int32Array.from(visits) };
}

export const replayCommand: Action<ReplayFlags> = async ({ flags, terminal }, visits, data) => {
  const { output, threads } = flags;
  checkFiles([visits, data], { '--output': output });
  const record = await readVisits(visits);
  const events: EpochEvent[] = [];
  const model = await withProgress(terminal, flags, async (progress) => {
    const reading = { ...record.flags, ...(threads !== undefined && { threads }) };
    const dataset = await readData(data, reading, progress);
    if (hashData(dataset) !== record.data) {
      throw new DataError(
        `${dataset.name}: not the data of the recorded run (its hash is another)`,
      );
    }
    const epochs = record.epochs.length;
    const loss = await chooseLoss(record.flags);
    progress.start(loss.task, { tolerance: 0, epochs, seconds: undefined });
    const { model: replayed } = await train(dataset, {
      ...libraryValues(libraryOptions, record.flags),
      ...(await readFileOptions(record.flags, dataset, progress, loss)),
      loss,
      penalty: choosePenalty(record.flags),
      solver: solverOf(record),
      grid: record.grid,
      epochs,
      onEpoch(event) {
        progress.epoch(event);
        events.push(event);
      },
    });
    // A replay ends where its record does, whatever ended the recorded run.
    const { stopped } = record;
    return { ...replayed, certificate: { ...replayed.certificate, stopped } };
  });
  if (output !== undefined) await writeModel(output, model);
  return verdict(modelHash(model), events, record, flags, terminal);
};

/** The visits of all epochs in one array, as the solver takes them. */
function solverOf({ flags, epochs, grid }: VisitRecord): Solver {
  const solver = chooseSolver({ ...flags, solver: 'dso-async' });
  if (solver.name !== 'dso-async') throw new Error('not the requested solver');
  const order = new Int32Array(epochs.length * grid * grid);
  for (const [epoch, { visits }] of epochs.entries()) order.set(visits, epoch * grid * grid);
  return solvers.dsoAsync({ ...solver.settings, order });
}

function verdict(
  hash: string,
  events: readonly EpochEvent[],
  record: VisitRecord,
  { quiet, output }: ReplayFlags,
  terminal: Terminal,
): number {
  const { epochs, grid } = record;
  const visits = `${plural(epochs.length, 'epoch')}, ${plural(epochs.length * grid * grid, 'visit')}`;
  const { green, dim } = terminal.colours;
  const first = firstDifference(events, record);
  if (hash === record.model && first < 0) {
    if (!quiet) {
      terminal.say(green(`${visits} replayed serially: the same model, bit for bit`));
      terminal.say(dim(`sha256 ${hash}`));
    }
    return exitCodes.done;
  }
  const difference =
    first < 0
      ? 'objective and bound are the same in every epoch, the model is another'
      : `objective or bound first differ in epoch ${first + 1}`;
  const written = output === undefined ? '' : `; what the replay arrived at is in ${output}`;
  terminal.error(`${visits} replayed serially: not what was recorded; ${difference}${written}`);
  return exitCodes.failure;
}

/** The first epoch whose P or D is not the recorded one, or −1. JSON has no infinity: it stands as 0. */
function firstDifference(events: readonly EpochEvent[], { epochs }: VisitRecord): number {
  const recorded = (value: number | undefined) => (Number.isFinite(value) ? value : 0);
  return epochs.findIndex(
    ({ primal, dual }, k) =>
      recorded(events[k]?.primal) !== primal || recorded(events[k]?.dual) !== dual,
  );
}
