/** What `dso path`, `dso cv` and `dso search` have in common. */
import { statSync } from 'node:fs';
import { extname } from 'node:path';
import type { Dataset } from '../../data/dataset.ts';
import { UsageError } from '../../errors.ts';
import { writeAtomically } from '../../files.ts';
import { writeModel } from '../../model/file.ts';
import { svgToPng } from '../../reporting/charts/svg.ts';
import { summarize } from '../../reporting/text/summary.ts';
import { libraryOptions } from '../../train/options/index.ts';
import { libraryValues, omit } from '../../train/options/option.ts';
import type { TrainOptions, TrainReport } from '../../train/options/options.ts';
import { lambdaOptions } from '../../train/options/problem.ts';
import { train } from '../../train/train.ts';
import { Interrupts } from './interrupts.ts';
import type { SelectFlags } from './options.ts';
import { readPenaltyFactors } from './problem.ts';
import { createProgress, type Progress } from './progress.ts';
import {
  checkOutput,
  checkStandardInput,
  checkStandardOutput,
  readData,
  schemaOfData,
  standardStream,
} from './reading.ts';
import { exitCodeOfStop, signalExitCodes, type Terminal } from './terminal.ts';

/** Refuses files that could not be written, before anything is read. */
export function checkFiles(
  data: string,
  flags: SelectFlags & { readonly test?: string },
  model: string | undefined,
): void {
  const inputs = [data, flags.test, flags.penaltyFactors].filter((input) => input !== undefined);
  checkStandardInput(inputs);
  checkStandardOutput({
    '--output -': model === standardStream,
    '--csv -': flags.csv === standardStream,
    '--json': flags.json ?? false,
  });
  const outputs: string[] = [];
  const check = (option: string, path: string | undefined) => {
    if (path === undefined) return;
    checkOutput(option, path, inputs, outputs);
    outputs.push(path);
  };
  check('--output', model);
  check('--csv', flags.csv);
  check('--figure', flags.figure);
  const kind = flags.figure === undefined ? '.svg' : extname(flags.figure).toLowerCase();
  if (kind !== '.svg' && kind !== '.png') {
    throw new UsageError(`--figure ${flags.figure}: wanted a name that ends in .svg or .png`);
  }
}

/** Options of training that are the same for all models. */
export function trainingSettings(flags: SelectFlags) {
  return libraryValues(omit(libraryOptions, 'lambda'), flags);
}

/** The same, and the λs. */
export function commonSettings(flags: SelectFlags) {
  return { ...trainingSettings(flags), ...libraryValues(lambdaOptions, flags) };
}

export async function readFactors(
  { penaltyFactors }: SelectFlags,
  { columns }: Dataset,
): Promise<Pick<TrainOptions, 'penaltyFactors'>> {
  if (penaltyFactors === undefined) return {};
  return { penaltyFactors: await readPenaltyFactors(penaltyFactors, columns) };
}

/** Reads rows whose columns and labels mean what they mean in other data. */
export function readTest(
  source: string,
  flags: SelectFlags,
  progress: Progress,
  trained: Dataset,
): Promise<Dataset> {
  return readData(source, flags, progress, schemaOfData(trained));
}

/** Progress and interrupts of a command, which are gone when it ends, however it ends. */
export class SelectionCommand {
  readonly terminal: Terminal;
  readonly progress: Progress;
  readonly interrupts: Interrupts;
  readonly #flags: SelectFlags;
  readonly #usesOutput: boolean;

  constructor(terminal: Terminal, flags: SelectFlags, model: string | undefined) {
    this.terminal = terminal;
    this.#flags = flags;
    this.#usesOutput = model === standardStream || flags.csv === standardStream;
    this.progress = createProgress(terminal, flags.quiet ?? false, 'no epochs');
    this.interrupts = new Interrupts(terminal.io, {
      onDeferred: () =>
        this.progress.notice('stopping, to show what is known; Ctrl-C again quits at once'),
      onQuit: () => this.progress.end(),
    });
  }

  /** The exit code after a signal, if there was one. */
  get signalCode(): number | undefined {
    const { received } = this.interrupts;
    return received && signalExitCodes[received];
  }

  /** Writes what was asked for beside the model, and shows the table. */
  async show(result: {
    readonly table: () => string;
    readonly csv: () => string;
    readonly figure: () => string;
  }): Promise<void> {
    const { csv, figure, json, quiet } = this.#flags;
    this.progress.end();
    if (figure !== undefined) await writeFigure(figure, result.figure());
    if (csv === standardStream) await this.terminal.print(result.csv());
    else if (csv !== undefined) await writeAtomically(csv, (file) => file.write(result.csv()));
    if (json || quiet) return;
    if (this.#usesOutput) this.terminal.say(result.table());
    else await this.terminal.print(`${result.table()}\n`);
  }

  async printJson(result: unknown): Promise<void> {
    if (this.#flags.json) await this.terminal.print(`${JSON.stringify(result)}\n`);
  }

  /** The result, or undefined if a signal came before there was anything to show. */
  async untilEnded<Result>(work: Promise<Result>): Promise<Result | undefined> {
    try {
      return await work;
    } catch (error) {
      if (this.signalCode === undefined) throw error;
      this.progress.end();
      this.say('interrupted before anything was measured');
      return undefined;
    }
  }

  say(line: string): void {
    if (!this.#flags.quiet) this.terminal.say(line);
  }

  close(): void {
    this.progress.end();
    this.interrupts.release();
  }
}

async function writeFigure(path: string, svg: string): Promise<void> {
  const image = extname(path).toLowerCase() === '.png' ? await svgToPng(svg) : svg;
  await writeAtomically(path, (file) => file.write(image));
}

/** Trains the model that was chosen on all rows, as `dso train` would, and writes it. */
export async function refit(
  dataset: Dataset,
  options: TrainOptions,
  path: string,
  command: SelectionCommand,
  read: number,
): Promise<{ readonly report: TrainReport; readonly code: number }> {
  const { progress, interrupts, terminal } = command;
  const { loss, tolerance = 1e-3, epochs, time: seconds } = options;
  progress.start(loss?.task ?? 'classification', { tolerance, epochs, seconds });
  const { model, report: trained } = await train(dataset, {
    ...options,
    onEpoch: (event) => progress.epoch(event),
    signal: interrupts.signal,
    consume: true,
  });
  await writeModel(path, model);
  progress.end();
  const total = trained.seconds.total + read;
  const report = { ...trained, seconds: { ...trained.seconds, read, total } };
  const bytes = path === standardStream ? 0 : statSync(path).size;
  command.say(summarize(report, tolerance, { path, bytes }, terminal.colours));
  return { report, code: exitCodeOfStop(report.stopped, interrupts.received) };
}
