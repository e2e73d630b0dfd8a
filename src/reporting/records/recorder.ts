import { existsSync, openSync, readFileSync, statSync, truncateSync, utimesSync } from 'node:fs';
import { hostname } from 'node:os';
import { beginningOf, reasonOf } from '../../files.ts';
import { makeRunsFolder, mostRuns, recordPath, removeIfPossible, stopPath } from './folder.ts';
import { lineRanges, recordable } from './lines.ts';
import {
  type EpochLine,
  type FrequentLine,
  hasReached,
  isFrequent,
  type RunLine,
  type StartLine,
} from './record.ts';
import { LineFile } from './record-file.ts';
import { silence } from './run-view.ts';
import { Downsampling } from './series.ts';
import { pruneRuns } from './store.ts';

/** Milliseconds between two checks for a request to stop. */
const stopInterval = 500;

interface RecorderOptions {
  /** Made if needed; without one there is no record, and lines only go to `log` and `onLine`. */
  readonly folder?: string | undefined;
  readonly start: StartLine;
  /** A copy of all lines, without those that name the process and its machine. */
  readonly log?: RunLog | undefined;
  /** The record could not be made or ended early: called at most once; the run continues. */
  readonly onFailure?: ((message: string) => void) | undefined;
  /** Every line of the record as a reader of the file gets it, but for the first one. */
  readonly onLine?: ((line: RunLine) => void) | undefined;
}

/**
 * Writes the record of a run. The file is made when training begins, so a refused run leaves none.
 * Frequent lines are downsampled, but the newest ones always come before the last line.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #file: LineFile | undefined;
  readonly #sampling = {
    epoch: new Downsampling(10_000, 10),
    report: new Downsampling(10_000, 10),
    sample: new Downsampling(100, 2),
    notice: new Downsampling(1_000, Infinity),
  };
  /** The newest lines of their kind and vector that have not been written, in their order. */
  readonly #leftOut = new Map<string, FrequentLine>();
  /** Bytes sent so far for each vector. */
  readonly #sent = new Map<number, number>();
  /** Vectors that have reached the tolerance. */
  readonly #reached = new Set<number>();
  #hasEnded = false;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(options: RecorderOptions) {
    this.#options = options;
    const { folder, start, log } = options;
    const { pid: _, host: _host, ...portable } = start;
    log?.write(recordable(portable as StartLine));
    if (folder === undefined) return;
    this.#file = this.#openIn(folder);
    this.#file.append(recordable(withBeginning(start)));
  }

  /** The `bytes` of an epoch are its own. What follows a result or failure is left out. */
  write(line: Exclude<RunLine, StartLine>): void {
    if (this.#hasEnded) return;
    const full = recordable(line.event === 'epoch' ? this.#withSent(line) : line);
    this.#options.log?.write(full);
    if (isFrequent(full)) this.#sample(full);
    else if (full.event !== 'notice' || this.#sampling.notice.next()) {
      this.#hasEnded = full.event === 'result' || full.event === 'failure';
      if (this.#hasEnded) this.#putLeftOut();
      this.#put(full);
    }
  }

  /** Calls back once, when a file next to the record requests a stop. */
  watchStop(onStop: () => void): void {
    const { folder, start } = this.#options;
    if (folder === undefined) return;
    const path = stopPath(folder, start.id);
    const timer = setInterval(() => {
      if (!existsSync(path)) return;
      clearInterval(timer);
      removeIfPossible(path);
      onStop();
    }, stopInterval).unref();
    this.#timers.push(timer);
  }

  close(): void {
    if (!this.#hasEnded) this.#putLeftOut();
    this.#hasEnded = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#file?.close();
    const { folder, start, log } = this.#options;
    log?.close();
    if (folder !== undefined) removeIfPossible(stopPath(folder, start.id));
  }

  #openIn(folder: string): LineFile {
    const { start, onFailure } = this.#options;
    const path = recordPath(folder, start.id);
    return new LineFile({
      delay: 100,
      open: () => {
        makeRunsFolder(folder);
        const file = openSync(path, 'wx');
        // Shows other machines that the run continues, however long an epoch takes.
        const touch = () => attempt(() => utimesSync(path, new Date(), new Date()));
        this.#timers.push(setInterval(touch, (1000 * silence) / 5).unref());
        attempt(() => pruneRuns(folder, mostRuns));
        return file;
      },
      onFailure(error, state) {
        if (state === 'empty') removeIfPossible(path);
        onFailure?.(
          state === 'new'
            ? `this run is not recorded: ${folder}: ${openingReason(error)}`
            : `the record of this run ends early: ${path}: ${reasonOf(error)}`,
        );
      },
    });
  }

  #withSent(line: EpochLine): EpochLine {
    if (line.bytes === undefined) return line;
    const vector = line.vector ?? 0;
    const bytes = (this.#sent.get(vector) ?? 0) + line.bytes;
    this.#sent.set(vector, bytes);
    return { ...line, bytes };
  }

  #sample(line: FrequentLine): void {
    const key = line.event === 'epoch' ? `epoch ${line.vector ?? 0}` : line.event;
    this.#leftOut.delete(key);
    const isGoal = line.event === 'epoch' && this.#isGoal(line);
    if (this.#sampling[line.event].next() || isGoal) this.#put(line);
    else this.#leftOut.set(key, line);
  }

  /** Whether a vector has just reached the tolerance: of many vectors that must not wait. */
  #isGoal(line: EpochLine): boolean {
    const { vector = 0 } = line;
    if (this.#reached.has(vector) || !hasReached(line, this.#options.start.tolerance)) return false;
    this.#reached.add(vector);
    return true;
  }

  #putLeftOut(): void {
    const lines = [...this.#leftOut.values()];
    this.#leftOut.clear();
    // The last epoch is the last line but one.
    const order = ({ event }: FrequentLine) => Number(event === 'epoch');
    for (const line of lines.sort((a, b) => order(a) - order(b))) this.#put(line);
  }

  #put(line: RunLine): void {
    this.#file?.append(line);
    if (line.event !== 'notice' && line.event !== 'failure') this.#file?.open();
    this.#options.onLine?.(line);
  }
}

function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // The disk may be out of reach, or the folder not readable: the next line reports it.
  }
}

function openingReason(error: unknown): string {
  const { code, syscall } = error as NodeJS.ErrnoException;
  const isTaken = code === 'EEXIST' && syscall === 'open';
  return isTaken ? 'a record with its name exists already' : reasonOf(error);
}

/** When this process began, if the run is its own. */
function withBeginning(start: StartLine): StartLine {
  const isOwn = start.pid === process.pid && start.host === hostname();
  const began = isOwn ? beginningOf(start.pid) : undefined;
  return began === undefined ? start : { ...start, began };
}

interface RunLogOptions {
  /** Whether the file may hold the run up to some epoch, and is continued. */
  readonly resumes?: boolean;
  /** Gets the lines instead of a file. */
  readonly print?: ((line: string) => void) | undefined;
  readonly onFailure: (message: string) => void;
}

/**
 * The file of `--log`: the record without downsampling. It is made by the first epoch or report, so
 * a refused run touches no file. A full disk ends the log, not the run.
 */
export class RunLog {
  /** Whether lines are missing. */
  failed = false;
  readonly #print: ((line: string) => void) | undefined;
  readonly #file: LineFile;
  #vectors = 1;
  #firstEpoch = Infinity;

  constructor(path: string, { resumes = false, print, onFailure }: RunLogOptions) {
    this.#print = print;
    this.#file = new LineFile({
      delay: 0,
      open: () => {
        if (resumes) cutFrom(path, this.#firstEpoch);
        return openSync(path, resumes ? 'a' : 'w');
      },
      onFailure: (error) => {
        this.failed = true;
        onFailure(`the log ends here: ${(error as Error).message}`);
      },
    });
  }

  write(line: RunLine): void {
    if (line.event === 'begin') this.#vectors = line.vectors;
    const { event, vector: index, ...others } = line as EpochLine;
    const count = this.#vectors;
    const full = index === undefined ? line : { event, vector: { index, count }, ...others };
    if (this.#print) {
      this.#print(`${JSON.stringify(full)}\n`);
      return;
    }
    this.#file.append(full);
    if (line.event === 'epoch') this.#firstEpoch = Math.min(this.#firstEpoch, line.epoch);
    if (['epoch', 'report', 'result'].includes(line.event)) this.#file.open();
  }

  close(): void {
    this.#file.close();
  }
}

/** Removes lines that follow the last checkpoint of a killed process: they are written again. */
function cutFrom(path: string, epoch: number): void {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return;
  const bytes = readFileSync(path);
  let length = 0;
  for (const [begin, end] of lineRanges(bytes)) {
    if (epochOf(bytes.toString('utf8', begin, end)) >= epoch) break;
    length = end + 1;
  }
  if (length < bytes.length) truncateSync(path, length);
}

/** −1 for a line that is not an epoch. */
function epochOf(line: string): number {
  try {
    const { event, epoch } = JSON.parse(line) as { event?: unknown; epoch?: unknown };
    return event === 'epoch' && typeof epoch === 'number' ? epoch : -1;
  } catch {
    return -1;
  }
}
