import { parseLine } from '../reporting/records/lines.ts';
import type { EpochLine, ReportLine, RunLine, SampleLine } from '../reporting/records/record.ts';
import type { Lines } from './detail.ts';
import { endOf, type Outline, take } from './outline.ts';

const newline = 10;
const comma = 44;
const zero = 48;

/** Signs of lines of which there are many; they are told apart without being read. */
const signs = {
  epoch: Buffer.from('{"event":"epoch","epoch":'),
  epochOfVector: Buffer.from('{"event":"epoch","vector":'),
  sample: Buffer.from('{"event":"sample",'),
  report: Buffer.from('{"event":"report",'),
};

/** Where lines lie in the bytes of a record; each is read when it is asked for. */
class Places<Line extends RunLine> implements Lines<Line> {
  readonly #bytes: Buffer;
  readonly #event: Line['event'];
  readonly #begins: number[] = [];

  constructor(bytes: Buffer, event: Line['event']) {
    this.#bytes = bytes;
    this.#event = event;
  }

  get length(): number {
    return this.#begins.length;
  }

  add(begin: number): void {
    this.#begins.push(begin);
  }

  at(index: number): Line | undefined {
    const begin = this.#begins[index];
    const line = parseLine(this.#bytes, begin, this.#bytes.indexOf(newline, begin));
    return line?.event === this.#event ? (line as Line) : undefined;
  }

  /** The last line that is not damaged, and where it begins. */
  last(): { readonly line: Line; readonly begin: number } | undefined {
    for (let index = this.length - 1; index >= 0; index--) {
      const line = this.at(index);
      if (line) return { line, begin: this.#begins[index] };
    }
    return undefined;
  }
}

/**
 * The whole lines of a record, in its order. Only what a summary needs is read at once: of a record
 * of thousands of epochs a chart shows hundreds.
 */
export class Contents {
  readonly outline: Outline = {};
  readonly notices: string[] = [];
  /** Of the vector alone. */
  readonly epochs: Places<EpochLine>;
  readonly samples: Places<SampleLine>;
  readonly reports: Places<ReportLine>;
  readonly #bytes: Buffer;
  readonly #ofVectors = new Map<number, Places<EpochLine>>();

  constructor(bytes: Buffer, vector: number) {
    this.#bytes = bytes;
    this.epochs = new Places(bytes, 'epoch');
    this.#ofVectors.set(vector, this.epochs);
    this.samples = new Places(bytes, 'sample');
    this.reports = new Places(bytes, 'report');
    this.#scan();
    this.#takeLast();
  }

  /** The newest epoch of each vector that has any. */
  newest(): EpochLine[] {
    return this.#lastLines().map(({ line }) => line);
  }

  #lastLines() {
    return [...this.#ofVectors.values()].flatMap((places) => places.last() ?? []);
  }

  #scan(): void {
    const bytes = this.#bytes;
    let begin = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, begin)) {
      this.#sort(begin, end);
      if (endOf(this.outline)) return;
      begin = end + 1;
    }
  }

  #takeLast(): void {
    const lines = this.#lastLines();
    if (lines.length > 0) {
      this.outline.latest = lines.reduce((a, b) => (a.begin > b.begin ? a : b)).line;
    }
    const report = this.reports.last();
    if (report) this.outline.report = report.line;
  }

  #sort(begin: number, end: number): void {
    const bytes = this.#bytes;
    const { epoch, epochOfVector, sample, report } = signs;
    // Where there are several vectors, another writer may have named that of a line further on.
    if (this.outline.begin?.vectors === 1 && hasAt(bytes, begin, epoch)) {
      this.#addEpoch(0, begin);
    } else if (hasAt(bytes, begin, epochOfVector)) {
      this.#addEpoch(numberAt(bytes, begin + epochOfVector.length), begin);
    } else if (hasAt(bytes, begin, sample)) this.samples.add(begin);
    else if (hasAt(bytes, begin, report)) this.reports.add(begin);
    else this.#read(begin, end);
  }

  /** A line of which there are few, or one that another program has written in its own way. */
  #read(begin: number, end: number): void {
    const line = parseLine(this.#bytes, begin, end);
    if (line?.event === 'epoch') this.#addEpoch(line.vector ?? 0, begin);
    else if (line?.event === 'sample') this.samples.add(begin);
    else if (line?.event === 'report') this.reports.add(begin);
    else if (line?.event === 'notice') this.notices.push(line.message);
    else if (line) take(this.outline, line);
  }

  #addEpoch(vector: number, begin: number): void {
    const before = this.#ofVectors.get(vector);
    const places = before ?? new Places<EpochLine>(this.#bytes, 'epoch');
    if (!before) this.#ofVectors.set(vector, places);
    places.add(begin);
  }
}

function hasAt(bytes: Buffer, begin: number, wanted: Buffer): boolean {
  // From behind: the first bytes are those of every line.
  for (let index = wanted.length - 1; index >= 0; index--) {
    if (bytes[begin + index] !== wanted[index]) return false;
  }
  return true;
}

/** The digits up to a comma. */
function numberAt(bytes: Buffer, begin: number): number {
  let value = 0;
  for (let place = begin; place < bytes.length && bytes[place] !== comma; place++) {
    value = 10 * value + bytes[place] - zero;
  }
  return value;
}
