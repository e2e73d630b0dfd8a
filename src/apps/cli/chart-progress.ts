import { stripVTControlCharacters } from 'node:util';
import type { Task } from '../../problem/losses/loss.ts';
import { asciiOnly } from '../../reporting/charts/text.ts';
import type { Limits } from '../../reporting/gap-trend.ts';
import type { RunSeries } from '../../reporting/records/record.ts';
import { GrowingSeries } from '../../reporting/records/series.ts';
import { runCharts } from '../../reporting/text/run.ts';
import type { EpochEvent } from '../../train/events.ts';
import type { Progress } from './progress.ts';
import type { Terminal } from './terminal.ts';

/**
 * Progress with charts of the run: on a terminal above the live line, redrawn in place; elsewhere
 * once, at the end.
 */
export function chartProgress(terminal: Terminal, inner: Progress): Progress {
  return new ChartProgress(terminal, inner);
}

const redrawMilliseconds = 250;
/** Lines of a terminal that are left for what is not a chart. */
const otherLines = 3;
/** Lines for the charts where there is no terminal. */
const lastingLines = 48;

const clearRest = '\u001b[K';
const clearBelow = '\r\u001b[J';
const lineUp = (count: number): string => (count > 0 ? `\u001b[${count}A` : '');

class ChartProgress implements Progress {
  readonly #terminal: Terminal;
  readonly #inner: Progress;
  readonly #curves = new RunCurves();
  #task: Task = 'classification';
  #tolerance = 0;
  #timer: NodeJS.Timeout | undefined;
  /** What stands above the live line, and the size of the terminal it was drawn on. */
  #drawn: readonly string[] = [];
  #drawnWidth = 0;
  #drawnScreen = 0;
  /** Whether epochs have passed that the charts do not show. */
  #stale = false;

  constructor(terminal: Terminal, inner: Progress) {
    this.#terminal = terminal;
    this.#inner = inner;
  }

  stage(text: string, fraction?: number): void {
    this.#inner.stage(text, fraction);
  }

  start(task: Task, limits: Limits): void {
    this.#task = task;
    this.#tolerance = limits.tolerance;
    this.#inner.start(task, limits);
    if (this.#terminal.live) {
      this.#timer ??= setInterval(() => this.#redraw(), redrawMilliseconds).unref();
    }
  }

  /** Only remembers: fast epochs must not wait for a picture. */
  epoch(event: EpochEvent): void {
    this.#curves.add(event);
    this.#stale = true;
    this.#inner.epoch(event);
  }

  /** What is to stay goes above the charts. */
  notice(message: string): void {
    const charts = this.#drawn;
    this.#erase();
    this.#inner.notice(message);
    this.#show(charts);
  }

  /** Leaves the charts standing. */
  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#inner.end();
    if (this.#curves.length > 0) this.#show(this.#charts());
    this.#curves.clear();
    this.#drawn = [];
  }

  #redraw(): void {
    const resized =
      this.#drawnWidth !== this.#terminal.width || this.#drawnScreen !== this.#screenRows;
    if (this.#curves.length === 0 || !(this.#stale || resized)) return;
    this.#stale = false;
    this.#show(this.#charts());
  }

  #charts(): string[] {
    const terminal = this.#terminal;
    return runCharts(this.#curves.series, {
      width: terminal.width - 1,
      height: terminal.live ? this.#screenRows - otherLines : lastingLines,
      colours: terminal.colours,
      ascii: asciiOnly(terminal.io.environment),
      task: this.#task,
      tolerance: this.#tolerance,
      vector: this.#curves.vector,
    });
  }

  /** In one piece, line over line, so that nothing flickers; the live line is left as it is. */
  #show(charts: readonly string[]): void {
    if (!this.#terminal.live) {
      for (const line of charts) this.#terminal.say(line);
      return;
    }
    const fits = charts.length === this.#drawn.length && this.#terminal.width === this.#drawnWidth;
    if (charts.length + this.#drawn.length > 0) {
      const begin = lineUp(this.#drawnRows) + (fits ? '\r' : clearBelow);
      this.#terminal.write(begin + charts.map((line) => `${line}${clearRest}\n`).join(''));
    }
    this.#drawn = charts;
    this.#drawnWidth = this.#terminal.width;
    this.#drawnScreen = this.#screenRows;
  }

  #erase(): void {
    if (this.#drawn.length > 0) this.#terminal.write(lineUp(this.#drawnRows) + clearBelow);
    this.#drawn = [];
  }

  /** A terminal that was made narrower has broken the lines that no longer fit. */
  get #drawnRows(): number {
    const { width } = this.#terminal;
    const rows = this.#drawn.map((line) =>
      Math.max(1, Math.ceil(stripVTControlCharacters(line).length / width)),
    );
    return rows.reduce((sum, count) => sum + count, 0);
  }

  get #screenRows(): number {
    return this.#terminal.io.stderr.rows || 24;
  }
}

/** More points than twice this are halved; a terminal has fewer dots in a row. */
const mostPoints = 512;

/** The curves of a run of any length; of several vectors those of the newest. */
class RunCurves {
  #series = new GrowingSeries(mostPoints);
  vector: EpochEvent['vector'];

  get series(): RunSeries {
    return this.#series.columns;
  }

  get length(): number {
    return this.#series.length;
  }

  add(event: EpochEvent): void {
    const newest = this.vector?.index ?? -1;
    const index = event.vector?.index ?? -1;
    // Several vectors may be trained at once, and a chart is of one.
    if (index < newest) return;
    if (index > newest) this.clear();
    this.vector = event.vector;
    this.#series.add(event);
  }

  clear(): void {
    this.#series = new GrowingSeries(mostPoints);
    this.vector = undefined;
  }
}
