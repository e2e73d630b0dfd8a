import { hostname } from 'node:os';
import { isAlive } from '../../files.ts';
import { lineRanges, newline, parseLine } from './lines.ts';
import {
  type EpochLine,
  endOf,
  type FrequentLine,
  hasReached,
  isFrequent,
  type ReportLine,
  type RunDetail,
  type RunLine,
  type RunStatus,
  type RunSummary,
  type SampleLine,
  type StartLine,
  withLine,
} from './record.ts';
import { seriesOf, spreadIndices } from './series.ts';

/** How long the record of a run on another machine may stay unchanged, in seconds. */
export const silence = 300;

/** How frequent lines begin; they are recognised without being parsed. */
const frequent = /^\{"event":"(epoch|sample|report)",(?:"vector":(\d+),)?/;
const longestStart = '{"event":"sample","vector":1000000,'.length;

/** A line, or the offset where it begins in the bytes of a record. */
type Entry<Line extends RunLine> = Line | number;

export interface DetailOptions {
  /** The most points of a curve; default: all there are. */
  readonly points?: number | undefined;
  /** The vector of weights; default: the first, 0. */
  readonly vector?: number | undefined;
}

const mostSamples = 100;

/**
 * A run as its lines describe it: lines added one by one, or a whole record. Frequent lines of a
 * record are parsed only where needed: of thousands of epochs a chart shows hundreds.
 */
export class RunView {
  readonly id: string;
  readonly #bytes: Buffer;
  #summary: Partial<RunSummary> = {};
  readonly #epochs = new Map<number, Entry<EpochLine>[]>();
  readonly #samples: Entry<SampleLine>[] = [];
  readonly #reports: Entry<ReportLine>[] = [];
  readonly #notices: string[] = [];
  readonly #listeners = new Set<(line: RunLine) => void>();

  constructor(id: string, record: Buffer = Buffer.alloc(0)) {
    this.id = id;
    this.#bytes = record;
    this.#scan();
  }

  /** A run whose lines are still to come. */
  static live(start: StartLine): RunView {
    const view = new RunView(start.id);
    view.add(start);
    return view;
  }

  /** The next line. Nothing follows a result or failure. */
  add(line: RunLine): void {
    if (endOf(this.#summary)) return;
    this.#summary = withLine(this.#summary, line);
    this.#sort(line, line);
    for (const listener of this.#listeners) listener(line);
  }

  /** Calls back for every line from now on, until the function that is returned is called. */
  subscribe(listener: (line: RunLine) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Whether there is a first line; otherwise it is no record. */
  get isRecord(): boolean {
    return this.#summary.start !== undefined;
  }

  /** Running until the last line, unless the caller knows better. */
  summary(status: RunStatus = endOf(this.#summary) ?? 'running'): RunSummary {
    const { start, ...others } = this.#summary;
    return { id: this.id, status, start: start!, ...others };
  }

  detail({ points = Infinity, vector = 0 }: DetailOptions = {}, status?: RunStatus): RunDetail {
    const summary = this.summary(status);
    const epochs = this.#epochs.get(vector) ?? [];
    const { vectors = 1 } = summary.begin ?? {};
    return {
      summary,
      vector,
      epochs: epochs.length,
      series: seriesOf(this.#spread(epochs, points)),
      ...(vectors > 1 && { reached: this.#reached(summary.start.tolerance) }),
      samples: this.#spread(this.#samples, mostSamples),
      reports: this.#spread(this.#reports, points),
      notices: [...this.#notices],
    };
  }

  /** The vectors whose newest gap is within the tolerance, in their order. */
  #reached(tolerance: number): number[] {
    return this.#lastEpochs()
      .filter(({ line }) => hasReached(line, tolerance))
      .map(({ line }) => line.vector ?? 0)
      .sort((a, b) => a - b);
  }

  #lastEpochs() {
    return [...this.#epochs.values()].flatMap((entries) => this.#last(entries) ?? []);
  }

  /** Undefined where a line is damaged. */
  #lineOf<Line extends RunLine>(entry: Entry<Line>): Line | undefined {
    if (typeof entry !== 'number') return entry;
    return parseLine(this.#bytes, entry, this.#bytes.indexOf(newline, entry)) as Line | undefined;
  }

  /** The last line that is not damaged, and its entry. */
  #last<Line extends RunLine>(entries: readonly Entry<Line>[]) {
    for (const entry of entries.toReversed()) {
      const line = this.#lineOf(entry);
      if (line) return { line, entry };
    }
    return undefined;
  }

  /** Every k-th line and the last one: `most` at most. */
  #spread<Line extends RunLine>(entries: readonly Entry<Line>[], most: number): Line[] {
    return spreadIndices(entries.length, most).flatMap(
      (index) => this.#lineOf(entries[index]) ?? [],
    );
  }

  #scan(): void {
    for (const [begin, end] of lineRanges(this.#bytes)) {
      this.#scanLine(begin, end);
      if (endOf(this.#summary)) break;
    }
    const epochs = this.#lastEpochs();
    const newest = epochs.reduce((a, b) => (a.entry > b.entry ? a : b), epochs[0]);
    const report = this.#last(this.#reports);
    this.#summary = {
      ...this.#summary,
      ...(newest && { latest: newest.line }),
      ...(report && { report: report.line }),
    };
  }

  #scanLine(begin: number, end: number): void {
    const bytes = this.#bytes;
    const start = bytes.toString('latin1', begin, Math.min(end, begin + longestStart));
    const [, event, vector] = frequent.exec(start) ?? [];
    // Where there are several vectors, another writer may have put that of a line further on.
    const isClear = event !== 'epoch' || vector || this.#summary.begin?.vectors === 1;
    if (event && isClear) {
      this.#entriesOf(event as FrequentLine['event'], Number(vector ?? 0)).push(begin);
      return;
    }
    const line = parseLine(bytes, begin, end);
    if (!line) return;
    this.#sort(line, begin);
    if (!isFrequent(line)) this.#summary = withLine(this.#summary, line);
  }

  #sort(line: RunLine, entry: RunLine | number): void {
    if (line.event === 'notice') this.#notices.push(line.message);
    else if (isFrequent(line)) {
      const { event, vector } = line as EpochLine;
      this.#entriesOf(event, vector).push(entry as Entry<FrequentLine>);
    }
  }

  #entriesOf(event: FrequentLine['event'], vector = 0): Entry<FrequentLine>[] {
    if (event === 'sample') return this.#samples;
    if (event === 'report') return this.#reports;
    const entries = this.#epochs.get(vector) ?? [];
    this.#epochs.set(vector, entries);
    return entries;
  }
}

/** The status of a run whose record was last written at a time, in milliseconds. */
export function statusOf(view: RunView, written: number): RunStatus {
  const { status, start } = view.summary();
  const { pid, host, began } = start;
  if (status !== 'running') return status;
  const isRunning =
    host === hostname() ? isAlive(pid, began) : Date.now() - written < 1000 * silence;
  return isRunning ? 'running' : 'lost';
}
