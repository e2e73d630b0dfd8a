import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { beginningOf } from '../checkpoint/process.ts';
import { removeIfPossible, stopPath } from '../reporting/records/folder.ts';
import { lineText } from '../reporting/records/lines.ts';
import type {
  EpochLine,
  ReportLine,
  RunLine,
  SampleLine,
  StartLine,
} from '../reporting/records/record.ts';
import { hasReached } from './detail.ts';
import { RecordFile } from './record-file.ts';
import { Thinning } from './thinning.ts';

export { newRunId } from './id.ts';

/** How often it is looked whether somebody has asked the run to stop, in milliseconds. */
const stopInterval = 500;

export interface RecorderOptions {
  /** Made if need be; without one nothing is written, and lines only go to `onLine`. */
  readonly folder?: string | undefined;
  readonly start: StartLine;
  /** The record could not be made or has ended early: called at most once, the run goes on. */
  readonly onFailure?: ((message: string) => void) | undefined;
  /** Every line that goes to the record, as a reader of the file will see it; not the first one. */
  readonly onLine?: ((line: RunLine) => void) | undefined;
}

/** Lines that come again and again: fewer of them are written the longer the run takes. */
type RepeatedLine = EpochLine | SampleLine | ReportLine;

/**
 * Writes the record of a run. The file is made when training begins, so that a run that is refused
 * leaves nothing. It stays small however long the run: of lines that come again and again ever
 * fewer are written, but always the newest before the last line.
 */
export class Recorder {
  readonly id: string;
  readonly #tolerance: number;
  readonly #folder: string | undefined;
  readonly #file: RecordFile | undefined;
  readonly #onLine: ((line: RunLine) => void) | undefined;
  readonly #thinnings = {
    epoch: new Thinning(10_000, 10),
    report: new Thinning(10_000, 10),
    sample: new Thinning(100, 2),
    notice: new Thinning(1_000, Infinity),
  };
  /** The newest lines of their kind and vector that have not been written, in their order. */
  readonly #leftOut = new Map<string, RepeatedLine>();
  /** Bytes sent so far for each vector. */
  readonly #sent = new Map<number, number>();
  /** Vectors that have come to the tolerance. */
  readonly #reached = new Set<number>();
  #hasEnded = false;
  #stopTimer: NodeJS.Timeout | undefined;
  #stopRequested = false;

  constructor({ folder, start, onFailure, onLine }: RecorderOptions) {
    this.id = start.id;
    this.#tolerance = start.tolerance;
    this.#folder = folder;
    this.#onLine = onLine;
    if (folder === undefined) return;
    this.#file = new RecordFile(folder, start.id, (message) => onFailure?.(message));
    this.#file.append(lineText(withBeginning(start)));
  }

  /** Whether somebody has asked the run to stop, if that is watched. */
  get stopRequested(): boolean {
    return this.#stopRequested;
  }

  /** Of an epoch, `bytes` are its own. What comes after a result or failure is left out. */
  write(line: Exclude<RunLine, StartLine>): void {
    if (this.#hasEnded) return;
    switch (line.event) {
      case 'epoch':
        this.#thin(this.#withSent(line), `epoch ${line.vector ?? 0}`);
        break;
      case 'sample':
      case 'report':
        this.#thin(line, line.event);
        break;
      case 'notice':
        if (this.#thinnings.notice.next()) this.#put(line);
        break;
      case 'result':
      case 'failure':
        this.#putLeftOut();
        this.#put(line);
        this.#hasEnded = true;
        break;
      default:
        this.#put(line);
    }
  }

  /** Calls back once, when somebody asks the run to stop by a file beside the record. */
  watchStop(onStop: () => void): void {
    if (this.#folder === undefined) return;
    const path = stopPath(this.#folder, this.id);
    clearInterval(this.#stopTimer);
    this.#stopTimer = setInterval(() => {
      if (!existsSync(path)) return;
      clearInterval(this.#stopTimer);
      removeIfPossible(path);
      this.#stopRequested = true;
      onStop();
    }, stopInterval).unref();
  }

  close(): void {
    if (!this.#hasEnded) this.#putLeftOut();
    this.#hasEnded = true;
    clearInterval(this.#stopTimer);
    this.#file?.close();
    if (this.#folder !== undefined) removeIfPossible(stopPath(this.#folder, this.id));
  }

  #withSent(line: EpochLine): EpochLine {
    if (line.bytes === undefined) return line;
    const vector = line.vector ?? 0;
    const bytes = (this.#sent.get(vector) ?? 0) + line.bytes;
    this.#sent.set(vector, bytes);
    return { ...line, bytes };
  }

  #thin(line: RepeatedLine, key: string): void {
    this.#leftOut.delete(key);
    const isGoal = line.event === 'epoch' && this.#isGoal(line);
    if (this.#thinnings[line.event].next() || isGoal) this.#put(line);
    else this.#leftOut.set(key, line);
  }

  /** Whether a vector has come to the tolerance: of many vectors that must not wait for the end. */
  #isGoal(line: EpochLine): boolean {
    const { vector = 0 } = line;
    if (this.#reached.has(vector) || !hasReached(line, this.#tolerance)) return false;
    this.#reached.add(vector);
    return true;
  }

  #putLeftOut(): void {
    const isEpoch = ({ event }: RepeatedLine) => event === 'epoch';
    const lines = [...this.#leftOut.values()];
    this.#leftOut.clear();
    // The last epoch is to be the last but one of all lines.
    for (const line of lines.filter((one) => !isEpoch(one))) this.#put(line);
    for (const line of lines.filter(isEpoch)) this.#put(line);
  }

  #put(line: RunLine): void {
    const text = lineText(line);
    this.#file?.append(text);
    if (line.event !== 'notice' && line.event !== 'failure') this.#file?.open();
    this.#onLine?.(JSON.parse(text) as RunLine);
  }
}

/** The moment that this process began, if the run is its own. */
function withBeginning(start: StartLine): StartLine {
  const isOwn = start.pid === process.pid && start.host === hostname();
  const began = isOwn ? beginningOf(start.pid) : undefined;
  return began === undefined ? start : { ...start, began };
}
