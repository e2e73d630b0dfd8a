import { hostname } from 'node:os';
import { isAlive } from '../../files.ts';
import { spreadIndices } from './downsampling.ts';
import { parseLine } from './lines.ts';
import {
  type EpochLine,
  endOf,
  hasReached,
  type ReportLine,
  type RunDetail,
  type RunLine,
  type RunStatus,
  type RunSummary,
  type SampleLine,
  type StartLine,
  withLine,
} from './record.ts';
import { seriesOf } from './series.ts';

/** How long the record of a run on another machine may stay unchanged, in seconds. */
export const silence = 300;

const newline = 10;
const comma = 44;
const zero = 48;

/** How frequent lines begin; they are recognised without being parsed. */
const prefixes = {
  epoch: Buffer.from('{"event":"epoch","epoch":'),
  epochOfVector: Buffer.from('{"event":"epoch","vector":'),
  sample: Buffer.from('{"event":"sample",'),
  report: Buffer.from('{"event":"report",'),
};

/** Lines of one kind: objects, or the offsets where they begin in the bytes of a record. */
class LineList<Line extends RunLine> {
  readonly #bytes: Buffer;
  readonly #entries: (Line | number)[] = [];

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get length(): number {
    return this.#entries.length;
  }

  add(entry: Line | number): void {
    this.#entries.push(entry);
  }

  /** Undefined where a line is damaged. */
  at(index: number): Line | undefined {
    const entry = this.#entries[index];
    if (typeof entry !== 'number') return entry;
    return parseLine(this.#bytes, entry, this.#bytes.indexOf(newline, entry)) as Line | undefined;
  }

  /** The last line that is not damaged, and its entry. */
  last(): { readonly line: Line; readonly entry: Line | number } | undefined {
    for (let index = this.length - 1; index >= 0; index--) {
      const line = this.at(index);
      if (line) return { line, entry: this.#entries[index] };
    }
    return undefined;
  }

  /** Every k-th line and the last one: `most` at most. */
  spread(most: number): Line[] {
    return spreadIndices(this.length, most).flatMap((index) => this.at(index) ?? []);
  }
}

/** What to show of a run. */
export interface DetailOptions {
  /** The most points of a curve; default: all there are. */
  readonly points?: number | undefined;
  /** The vector of weights; default: the first, 0. */
  readonly vector?: number | undefined;
}

const mostSamples = 100;

/**
 * A run as its lines describe it: lines that are added one by one, as by the process that trains,
 * or the whole of a record. A record is not parsed at once: of thousands of epochs a chart shows
 * hundreds.
 */
export class RunView {
  readonly id: string;
  readonly #bytes: Buffer;
  #summary: Partial<RunSummary> = {};
  readonly #epochs = new Map<number, LineList<EpochLine>>();
  readonly #samples: LineList<SampleLine>;
  readonly #reports: LineList<ReportLine>;
  readonly #notices: string[] = [];
  readonly #listeners = new Set<(line: RunLine) => void>();

  constructor(id: string, record: Buffer = Buffer.alloc(0)) {
    this.id = id;
    this.#bytes = record;
    this.#samples = new LineList(record);
    this.#reports = new LineList(record);
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
    const epochs = this.#epochs.get(vector);
    const { vectors = 1 } = summary.begin ?? {};
    return {
      summary,
      vector,
      epochs: epochs?.length ?? 0,
      series: seriesOf(epochs?.spread(points) ?? []),
      ...(vectors > 1 && { reached: this.#reached(summary.start.tolerance) }),
      samples: this.#samples.spread(mostSamples),
      reports: this.#reports.spread(points),
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
    return [...this.#epochs.values()].flatMap((lines) => lines.last() ?? []);
  }

  #scan(): void {
    const bytes = this.#bytes;
    let begin = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, begin)) {
      this.#scanLine(begin, end);
      if (endOf(this.#summary)) break;
      begin = end + 1;
    }
    const epochs = this.#lastEpochs();
    const newest = epochs.reduce((a, b) => (a.entry > b.entry ? a : b), epochs[0]);
    const report = this.#reports.last();
    this.#summary = {
      ...this.#summary,
      ...(newest && { latest: newest.line }),
      ...(report && { report: report.line }),
    };
  }

  #scanLine(begin: number, end: number): void {
    const bytes = this.#bytes;
    const { epoch, epochOfVector, sample, report } = prefixes;
    // Where there are several vectors, another writer may have put that of a line further on.
    if (this.#summary.begin?.vectors === 1 && hasAt(bytes, begin, epoch)) {
      this.#epochsOf(0).add(begin);
    } else if (hasAt(bytes, begin, epochOfVector)) {
      this.#epochsOf(numberAt(bytes, begin + epochOfVector.length)).add(begin);
    } else if (hasAt(bytes, begin, sample)) this.#samples.add(begin);
    else if (hasAt(bytes, begin, report)) this.#reports.add(begin);
    else {
      const line = parseLine(bytes, begin, end);
      if (!line) return;
      this.#sort(line, begin);
      if (line.event !== 'epoch' && line.event !== 'report') {
        this.#summary = withLine(this.#summary, line);
      }
    }
  }

  #sort(line: RunLine, entry: RunLine | number): void {
    if (line.event === 'epoch') this.#epochsOf(line.vector ?? 0).add(entry as EpochLine | number);
    else if (line.event === 'sample') this.#samples.add(entry as SampleLine | number);
    else if (line.event === 'report') this.#reports.add(entry as ReportLine | number);
    else if (line.event === 'notice') this.#notices.push(line.message);
  }

  #epochsOf(vector: number): LineList<EpochLine> {
    const known = this.#epochs.get(vector);
    const lines = known ?? new LineList<EpochLine>(this.#bytes);
    if (!known) this.#epochs.set(vector, lines);
    return lines;
  }
}

function hasAt(bytes: Buffer, begin: number, wanted: Buffer): boolean {
  // From the end: the first bytes are those of every line.
  for (let index = wanted.length - 1; index >= 0; index--) {
    if (bytes[begin + index] !== wanted[index]) return false;
  }
  return true;
}

/** The digits up to a comma. */
function numberAt(bytes: Buffer, begin: number): number {
  let value = 0;
  for (let index = begin; index < bytes.length && bytes[index] !== comma; index++) {
    value = 10 * value + bytes[index] - zero;
  }
  return value;
}

/** The status of a run whose record was last written at a time, in milliseconds. */
export function statusOf(view: RunView, written: number): RunStatus {
  if (!view.isRecord) return 'lost';
  const summary = view.summary();
  const { pid, host, began } = summary.start;
  if (summary.status !== 'running') return summary.status;
  const isRunning =
    host === hostname() ? isAlive(pid, began) : Date.now() - written < 1000 * silence;
  return isRunning ? 'running' : 'lost';
}
