import type {
  EpochLine,
  ReportLine,
  RunDetail,
  RunLine,
  RunSeries,
  SampleLine,
} from '../../../src/reporting/records/record.ts';
import { hasReached } from '../../../src/runs/detail.ts';

type Values = (number | null)[];

/** The columns of a track, which a RunSeries is as well. */
interface Columns {
  epoch: number[];
  seconds: number[];
  passes: number[];
  primal: Values;
  dual: Values;
  relativeGap: Values;
  testError?: Values;
  testAuprc?: Values;
  bytes?: number[];
}

const columnNames = [
  'epoch',
  'seconds',
  'passes',
  'primal',
  'dual',
  'relativeGap',
  'testError',
  'testAuprc',
  'bytes',
] as const satisfies readonly (keyof RunSeries)[];

/** As many samples as a page keeps of a run that goes on. */
const sampleLimit = 600;

/** What the page knows of a run's course: what it has loaded, and the lines that came since. */
export class Track {
  readonly vector: number;
  /** Points that were asked for, around which the number is kept. */
  readonly wanted: number;
  /** Epochs in the record, of which the series may hold fewer. */
  epochs: number;
  readonly notices: string[];
  /** Of all vectors, those that have come to the tolerance. */
  readonly reached: Set<number>;
  readonly #tolerance: number;
  #columns: Columns;
  #samples: readonly SampleLine[];
  #reports: readonly ReportLine[];

  constructor(detail: RunDetail, wanted: number) {
    this.vector = detail.vector;
    this.wanted = wanted;
    this.epochs = detail.epochs;
    this.notices = [...detail.notices];
    this.reached = new Set(detail.reached);
    this.#tolerance = detail.summary.start.tolerance;
    this.#samples = detail.samples;
    this.#reports = detail.reports;
    this.#columns = mapColumns(detail.series, (column) => [...column]);
  }

  /** Grows in place: whoever keeps it must be told of changes. */
  get series(): RunSeries {
    return this.#columns;
  }

  get samples(): readonly SampleLine[] {
    return this.#samples;
  }

  get reports(): readonly ReportLine[] {
    return this.#reports;
  }

  /** The newest epoch, as a line would have it. */
  get newest(): EpochLine | undefined {
    const { testError, testAuprc, bytes, ...others } = this.#columns;
    const last = this.length - 1;
    if (last < 0) return undefined;
    const measured = { testError: testError?.[last], testAuprc: testAuprc?.[last] };
    return {
      event: 'epoch',
      vector: this.vector,
      epoch: others.epoch[last],
      seconds: others.seconds[last],
      passes: others.passes[last],
      primal: others.primal[last],
      dual: others.dual[last],
      relativeGap: others.relativeGap[last],
      ...(typeof measured.testError === 'number' && { testError: measured.testError }),
      ...(typeof measured.testAuprc === 'number' && { testAuprc: measured.testAuprc }),
      ...(bytes && { bytes: bytes[last] }),
    };
  }

  get length(): number {
    return this.#columns.epoch.length;
  }

  /** Whether a request for that many points would bring more than there are. */
  isCoarserThan(points: number): boolean {
    return this.length < this.epochs && points >= 2 * this.wanted;
  }

  /** Takes the lines that are newer than what it has; says whether there were any. */
  append(lines: readonly RunLine[]): boolean {
    let changed = false;
    for (const line of lines) changed = this.#appendLine(line) || changed;
    if (this.length > 2 * this.wanted) this.#columns = mapColumns(this.#columns, everySecond);
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
    const columns = this.#columns;
    if (line.epoch <= (columns.epoch.at(-1) ?? -1)) return false;
    const { length } = columns.epoch;
    columns.epoch.push(line.epoch);
    columns.seconds.push(line.seconds);
    columns.passes.push(line.passes);
    columns.primal.push(line.primal);
    columns.dual.push(line.dual);
    columns.relativeGap.push(line.relativeGap);
    for (const name of ['testError', 'testAuprc'] as const) {
      if (line[name] === undefined && !columns[name]) continue;
      columns[name] ??= Array<number | null>(length).fill(null);
      columns[name].push(line[name] ?? null);
    }
    if (line.bytes !== undefined || columns.bytes) {
      columns.bytes ??= Array<number>(length).fill(0);
      columns.bytes.push(line.bytes ?? columns.bytes.at(-1) ?? 0);
    }
    this.epochs = Math.max(this.epochs, line.epoch);
    return true;
  }
}

/** Vectors may be trained side by side. */
function isLater(line: SampleLine, samples: readonly SampleLine[]): boolean {
  const before = samples.findLast(({ vector }) => vector === line.vector);
  return !before || line.epoch > before.epoch;
}

function mapColumns(series: RunSeries, change: (column: Values) => Values): Columns {
  const present = columnNames.filter((name) => series[name] !== undefined);
  const columns = present.map((name) => [name, change(series[name] as Values)]);
  return Object.fromEntries(columns) as Columns;
}

/** Leaves out every second one, never the newest. */
function everySecond<Item>(items: Item[]): Item[] {
  const odd = (items.length - 1) % 2;
  return items.filter((_, index) => index % 2 === odd);
}

function bounded<Line>(lines: Line[]): Line[] {
  return lines.length <= sampleLimit ? lines : everySecond(lines);
}
