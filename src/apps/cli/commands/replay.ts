import { createHash } from 'node:crypto';
import { hashData } from '../../../data/fingerprint.ts';
import { DataError } from '../../../errors.ts';
import { writeAtomically } from '../../../files.ts';
import { modelHash, writeModel } from '../../../model/file.ts';
import { plural } from '../../../reporting/format.ts';
import { solvers } from '../../../solvers/index.ts';
import type { Solver } from '../../../solvers/registry.ts';
import type { EpochEvent, StopReason } from '../../../train/events.ts';
import { libraryOptions } from '../../../train/options/index.ts';
import { libraryValues, type Option, pick } from '../../../train/options/option.ts';
import type { TrainResult } from '../../../train/options/options.ts';
import { train } from '../../../train/train.ts';
import type { Action } from '../command.ts';
import { attempt, checkFiles, readLines } from '../files.ts';
import { withProgress } from '../interrupts.ts';
import { type ReplayFlags, type TrainFlags, trainOptions } from '../options.ts';
import { chooseLoss, choosePenalty, chooseSolver } from '../problem.ts';
import { DataReader } from '../reading.ts';
import { exitCodes, type Terminal } from '../terminal.ts';

type VisitedFlags = Omit<TrainFlags, 'solver' | 'grid' | 'epochs' | 'time'>;

/** Everything needed to run an asynchronous training again, and to see that it was the same. */
type VisitRecord = Awaited<ReturnType<typeof readVisits>>;

/** The record has these itself. */
const inRecord = ['grid', 'epochs', 'time'];

/** The options that decide the model, besides the data. */
function visitedFlags(flags: TrainFlags): VisitedFlags {
  const deciding = Object.entries<Option>(trainOptions).filter(
    ([name, { affectsModel, solvers: owners }]) =>
      affectsModel && !inRecord.includes(name) && (owners?.includes('dso-async') ?? true),
  );
  return pick(flags, ...deciding.map(([name]) => name as keyof VisitedFlags));
}

const format = 'dso-visits';
const version = 2;

/** Records a run as JSON lines: a header, a line per epoch, and the result with a checksum of all. */
export async function writeVisits(
  path: string,
  { model, report, visits = new Int32Array(0), bounds = [] }: TrainResult,
  flags: TrainFlags,
): Promise<void> {
  const { grid, stopped } = report;
  const cells = grid * grid;
  const data = model.provenance?.data ?? '';
  await writeAtomically(path, async (file) => {
    const checksum = createHash('sha256');
    const write = async (line: object) => {
      const written = `${JSON.stringify(line)}\n`;
      checksum.update(written);
      await file.write(written);
    };
    await write({ format, version, data, grid, options: visitedFlags(flags) });
    for (const [index, { primal, dual }] of bounds.entries()) {
      const own = [...visits.subarray(index * cells, (index + 1) * cells)];
      await write({ epoch: index + 1, primal, dual, visits: own });
    }
    const result = { stopped, model: modelHash(model) };
    checksum.update(JSON.stringify(result));
    await file.write(`${JSON.stringify({ ...result, sha256: checksum.digest('hex') })}\n`);
  });
}

/** Whether the record is as it was written. */
function isIntact(texts: readonly string[], { sha256, ...result }: Record<string, unknown>) {
  const checksum = createHash('sha256');
  for (const text of texts.slice(0, -1)) checksum.update(`${text}\n`);
  return checksum.update(JSON.stringify(result)).digest('hex') === sha256;
}

async function readVisits(path: string) {
  const fail: (line: number, message: string) => never = (line, message) => {
    throw new DataError(`${path}:${line}: ${message}`);
  };
  const texts = await readLines(path);
  const lines = texts.map((text, index): Record<string, unknown> => {
    const value: unknown = attempt(() => JSON.parse(text));
    if (typeof value === 'object' && value !== null) return { ...value };
    return fail(index + 1, `${JSON.stringify(text.slice(0, 40))}; expected a JSON object`);
  });
  const [header] = lines;
  const last = lines.at(-1);
  if (header?.format !== format) {
    fail(1, `not a record of block visits; expected "format":"${format}"`);
  }
  if (header.version !== version) {
    fail(1, `version ${JSON.stringify(header.version)}; this program reads ${version}`);
  }
  if (lines.length < 3 || typeof last?.model !== 'string') {
    fail(lines.length, 'the record ends without its last line');
  }
  const grid = header.grid as number;
  if (!(Number.isInteger(grid) && grid >= 1 && grid <= 256)) {
    fail(1, `grid is ${grid}; expected a whole number from 1 to 256`);
  }
  const cells = grid * grid;
  const isCell = (cell: number) => Number.isInteger(cell) && cell >= 0 && cell < cells;
  const epochs = lines.slice(1, -1).map(({ epoch, visits, primal, dual }, index) => {
    if (epoch !== index + 1) {
      fail(index + 2, `epoch is ${JSON.stringify(epoch)}; expected ${index + 1}`);
    }
    const order = Array.isArray(visits) ? (visits as number[]) : [];
    if (!(order.length === cells && new Set(order).size === cells && order.every(isCell))) {
      fail(index + 2, `visits do not name each of the ${cells} cells of the grid once`);
    }
    return { primal: Number(primal), dual: Number(dual), visits: order };
  });
  if (!isIntact(texts, last)) {
    throw new DataError(`${path}: damaged: its SHA-256 is not that of its lines`);
  }
  if (typeof header.options !== 'object' || header.options === null) {
    fail(1, `options is ${JSON.stringify(header.options)}; expected an object`);
  }
  return {
    /** A hash of the data it was trained on. */
    data: String(header.data),
    grid,
    flags: header.options as VisitedFlags,
    epochs,
    stopped: last.stopped as StopReason,
    /** SHA-256 of the model file's bytes. */
    model: last.model,
  };
}

export const replayCommand: Action<ReplayFlags> = async ({ flags, terminal }, visits, data) => {
  const { output, threads } = flags;
  checkFiles([visits, data], { '--output': output });
  const record = await readVisits(visits);
  const events: EpochEvent[] = [];
  const model = await withProgress(terminal, flags, async (progress) => {
    const reading = { ...record.flags, ...(threads !== undefined && { threads }) };
    const reader = new DataReader(reading, progress);
    const dataset = await reader.read(data);
    if (hashData(dataset) !== record.data) {
      throw new DataError(`${dataset.name}: not the data of the recorded run (its hash differs)`);
    }
    const epochs = record.epochs.length;
    const loss = await chooseLoss(record.flags);
    progress.start(loss.task, { tolerance: 0, epochs, seconds: undefined });
    const { model: replayed } = await train(dataset, {
      ...libraryValues(libraryOptions, record.flags),
      ...(await reader.fileOptions(dataset, loss)),
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

/** The first epoch whose P or D differs from the record, or −1. JSON has no infinity: it is read as 0. */
function firstDifference(events: readonly EpochEvent[], { epochs }: VisitRecord): number {
  const recorded = (value: number | undefined) => (Number.isFinite(value) ? value : 0);
  return epochs.findIndex(
    ({ primal, dual }, k) =>
      recorded(events[k]?.primal) !== primal || recorded(events[k]?.dual) !== dual,
  );
}
