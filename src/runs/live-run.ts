import type {
  EpochLine,
  ReportLine,
  RunDetail,
  RunLine,
  RunStatus,
  RunSummary,
  SampleLine,
  StartLine,
} from '../reporting/records/record.ts';
import { type DetailOptions, detailOf } from './detail.ts';
import { endOf, type Outline, summaryOf, take } from './outline.ts';

/**
 * A run held in memory: what a reader of its record would see, also where nothing is written. It
 * is fed with the lines of a record, of which there are not many however long the run takes.
 */
export class LiveRun {
  readonly id: string;
  readonly #outline: Outline;
  readonly #epochs = new Map<number, EpochLine[]>();
  readonly #samples: SampleLine[] = [];
  readonly #reports: ReportLine[] = [];
  readonly #notices: string[] = [];
  readonly #listeners = new Set<(line: RunLine) => void>();

  constructor(start: StartLine) {
    this.id = start.id;
    this.#outline = { start };
  }

  /** The next line. Like a reader of the record, it heeds none behind a result or failure. */
  add(line: RunLine): void {
    if (endOf(this.#outline)) return;
    take(this.#outline, line);
    if (line.event === 'epoch') this.#addEpoch(line);
    else if (line.event === 'sample') this.#samples.push(line);
    else if (line.event === 'report') this.#reports.push(line);
    else if (line.event === 'notice') this.#notices.push(line.message);
    for (const listener of this.#listeners) listener(line);
  }

  #addEpoch(line: EpochLine): void {
    const vector = line.vector ?? 0;
    const epochs = this.#epochs.get(vector);
    if (epochs) epochs.push(line);
    else this.#epochs.set(vector, [line]);
  }

  /** Running until the last line has come, unless somebody knows better. */
  summary(status: RunStatus = endOf(this.#outline) ?? 'running'): RunSummary {
    return summaryOf(this.id, this.#outline, status)!;
  }

  detail({ points, vector = 0 }: DetailOptions = {}): RunDetail {
    const epochs = this.#epochs.get(vector) ?? [];
    const [samples, reports, notices] = [this.#samples, this.#reports, [...this.#notices]];
    const summary = this.summary();
    const newest = () => [...this.#epochs.values()].map((lines) => lines.at(-1)!);
    return detailOf({ summary, vector, epochs, newest, samples, reports, notices }, points);
  }

  /** Calls back for every line from now on, until the function that is returned is called. */
  subscribe(listener: (line: RunLine) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}
