import {
  type EpochLine,
  hasReached,
  type ReportLine,
  type RunDetail,
  type RunLine,
  type RunSeries,
  type SampleLine,
} from '../../../src/reporting/records/record.ts';
import { everySecond, GrowingSeries } from '../../../src/reporting/records/series.ts';

/** Most samples that a page holds of a run. */
const sampleLimit = 600;

/** The curves of a run: what was loaded, and the lines that arrived since. */
export class Track {
  readonly vector: number;
  /** Points that were requested, around which the number stays. */
  readonly requested: number;
  /** Epochs in the record, of which the series may hold fewer. */
  epochs: number;
  readonly notices: string[];
  /** Vectors that have reached the tolerance. */
  readonly reached: Set<number>;
  readonly #tolerance: number;
  readonly #series: GrowingSeries;
  #samples: readonly SampleLine[];
  #reports: readonly ReportLine[];

  constructor(detail: RunDetail, requested: number) {
    this.vector = detail.vector;
    this.requested = requested;
    this.epochs = detail.epochs;
    this.notices = [...detail.notices];
    this.reached = new Set(detail.reached);
    this.#tolerance = detail.summary.start.tolerance;
    this.#samples = detail.samples;
    this.#reports = detail.reports;
    this.#series = new GrowingSeries(requested, detail.series);
  }

  /** Grows in place. */
  get series(): RunSeries {
    return this.#series.columns;
  }

  get samples(): readonly SampleLine[] {
    return this.#samples;
  }

  get reports(): readonly ReportLine[] {
    return this.#reports;
  }

  /** The newest epoch, as a line would have it. */
  get newest(): EpochLine | undefined {
    const last = this.length - 1;
    if (last < 0) return undefined;
    const values = Object.entries(this.series).map(([name, column]) => [name, column[last]]);
    const known = values.filter(([name, value]) => value !== null || !name.startsWith('test'));
    return { event: 'epoch', vector: this.vector, ...Object.fromEntries(known) } as EpochLine;
  }

  get length(): number {
    return this.#series.length;
  }

  /** Whether a request for that many points would bring more than there are. */
  isCoarserThan(points: number): boolean {
    return this.length < this.epochs && points >= 2 * this.requested;
  }

  /** Adds the lines that are new; returns whether there were any. */
  append(lines: readonly RunLine[]): boolean {
    let changed = false;
    for (const line of lines) changed = this.#appendLine(line) || changed;
    return changed;
  }

  #appendLine(line: RunLine): boolean {
    switch (line.event) {
      case 'epoch': {
        const isGoal = this.#noteGoal(line);
        return this.#appendEpoch(line) || isGoal;
      }
      case 'sample':
        if (!isLater(line, this.#samples)) return false;
        this.#samples = bounded([...this.#samples, line]);
        return true;
      case 'report':
        if (line.rows <= (this.#reports.at(-1)?.rows ?? -1)) return false;
        this.#reports = bounded([...this.#reports, line]);
        return true;
      case 'notice':
        if (this.notices.includes(line.message)) return false;
        this.notices.push(line.message);
        return true;
      default:
        return false;
    }
  }

  #noteGoal(line: EpochLine): boolean {
    const { vector = 0 } = line;
    if (this.reached.has(vector) || !hasReached(line, this.#tolerance)) return false;
    this.reached.add(vector);
    return true;
  }

  #appendEpoch(line: EpochLine): boolean {
    if ((line.vector ?? 0) !== this.vector) return false;
    if (line.epoch <= (this.series.epoch.at(-1) ?? -1)) return false;
    this.#series.add(line);
    this.epochs = Math.max(this.epochs, line.epoch);
    return true;
  }
}

/** Vectors may be trained in parallel. */
function isLater(line: SampleLine, samples: readonly SampleLine[]): boolean {
  const before = samples.findLast(({ vector }) => vector === line.vector);
  return !before || line.epoch > before.epoch;
}

function bounded<Line>(lines: Line[]): Line[] {
  return lines.length <= sampleLimit ? lines : everySecond(lines);
}
