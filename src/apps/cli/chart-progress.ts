import { stripVTControlCharacters } from 'node:util';
import type { Task } from '../../problem/losses/loss.ts';
import { asciiOnly } from '../../reporting/charts/text.ts';
import { GrowingSeries } from '../../reporting/records/series.ts';
import { runCharts } from '../../reporting/text/run.ts';
import type { EpochEvent } from '../../train/events.ts';
import type { Progress } from './progress.ts';
import type { Terminal } from './terminal.ts';

const redrawMilliseconds = 250;
/** Lines of a terminal that are left for what is not a chart. */
const otherLines = 3;
/** Lines for the charts where there is no terminal. */
const lastingLines = 48;
/** More points than twice this are halved; a terminal has fewer dots in a row. */
const mostPoints = 512;

const clearRest = '\u001b[K';
const clearBelow = '\r\u001b[J';
const lineUp = (count: number): string => (count > 0 ? `\u001b[${count}A` : '');

/**
 * Progress with charts of the run: on a terminal above the live line, redrawn in place; in other
 * output once, at the end.
 */
export function chartProgress(terminal: Terminal, inner: Progress): Progress {
  /** The curves of a run of any length; of several vectors those of the newest. */
  let series = new GrowingSeries(mostPoints);
  let vector: EpochEvent['vector'];
  let task: Task = 'classification';
  let tolerance = 0;
  let timer: NodeJS.Timeout | undefined;
  /** What is above the live line, and the size of the terminal it was drawn on. */
  let drawn: readonly string[] = [];
  let drawnWidth = 0;
  let drawnScreen = 0;
  /** Whether epochs have passed that the charts do not show. */
  let stale = false;

  const screenRows = () => terminal.io.stderr.rows || 24;

  function clear(): void {
    series = new GrowingSeries(mostPoints);
    vector = undefined;
  }

  function charts(): string[] {
    return runCharts(series.columns, {
      width: terminal.width - 1,
      height: terminal.live ? screenRows() - otherLines : lastingLines,
      colours: terminal.colours,
      ascii: asciiOnly(terminal.io.environment),
      task,
      tolerance,
      vector,
    });
  }

  function redraw(): void {
    const isResized = drawnWidth !== terminal.width || drawnScreen !== screenRows();
    if (series.length === 0 || !(stale || isResized)) return;
    stale = false;
    show(charts());
  }

  /** In one piece, line over line, so that nothing flickers; the live line is left as it is. */
  function show(lines: readonly string[]): void {
    if (!terminal.live) {
      for (const line of lines) terminal.say(line);
      return;
    }
    const fits = lines.length === drawn.length && terminal.width === drawnWidth;
    if (lines.length + drawn.length > 0) {
      const begin = lineUp(drawnRows()) + (fits ? '\r' : clearBelow);
      terminal.draw(begin + lines.map((line) => `${line}${clearRest}\n`).join(''));
    }
    drawn = lines;
    drawnWidth = terminal.width;
    drawnScreen = screenRows();
  }

  /** A terminal that was made narrower has broken the lines that no longer fit. */
  function drawnRows(): number {
    const rows = drawn.map((line) =>
      Math.max(1, Math.ceil(stripVTControlCharacters(line).length / terminal.width)),
    );
    return rows.reduce((sum, count) => sum + count, 0);
  }

  return {
    ...inner,
    start(newTask, limits) {
      task = newTask;
      tolerance = limits.tolerance;
      inner.start(newTask, limits);
      if (terminal.live) timer ??= setInterval(redraw, redrawMilliseconds).unref();
    },
    /** Only stores the event: fast epochs must not wait for a picture. */
    epoch(event) {
      const newest = vector?.index ?? -1;
      const index = event.vector?.index ?? -1;
      if (index > newest) clear();
      // Several vectors may be trained at once, and a chart is of one.
      if (index >= newest) {
        vector = event.vector;
        series.add(event);
      }
      stale = true;
      inner.epoch(event);
    },
    /** Printed above the charts. */
    notice(message, warning) {
      const shown = drawn;
      if (drawn.length > 0) terminal.draw(lineUp(drawnRows()) + clearBelow);
      drawn = [];
      inner.notice(message, warning);
      show(shown);
    },
    /** Leaves the charts on the screen. */
    end() {
      clearInterval(timer);
      timer = undefined;
      inner.end();
      if (series.length > 0) show(charts());
      clear();
      drawn = [];
    },
  };
}
