import type { Task } from '../../problem/losses/loss.ts';
import {
  formatGap,
  formatNumber,
  formatPercent,
  formatSeconds,
  visibleText,
} from '../../reporting/format.ts';
import { GapTrend, type Limits } from '../../reporting/gap-trend.ts';
import { Downsampling } from '../../reporting/records/series.ts';
import type { EpochEvent } from '../../train/events.ts';
import type { Terminal } from './terminal.ts';

/** What the terminal shows while a command works, on standard error. */
export interface Progress {
  /** Work outside training, such as "reading train.svm", and the fraction done, 0 … 1. */
  stage(text: string, fraction?: number): void;
  start(task: Task, limits: Limits): void;
  epoch(event: EpochEvent): void;
  /** `warning`: shown even if the rest is quiet. */
  notice(message: string, warning?: boolean): void;
  /** Clears what was drawn. */
  end(): void;
}

/** A live line on a terminal; in other output a line for some epochs, or none; nothing when quiet. */
export function createProgress(
  terminal: Terminal,
  quiet: boolean,
  lines: 'epochs' | 'no epochs' = 'epochs',
): Progress {
  if (quiet) return quietProgress((message) => terminal.warn(message));
  return terminal.live ? liveProgress(terminal) : plainProgress(terminal, lines === 'epochs');
}

const nothing = () => {};
export const silentProgress: Progress = {
  stage: nothing,
  start: nothing,
  epoch: nothing,
  notice: nothing,
  end: nothing,
};

/** Shows warnings only. */
export function quietProgress(warn: (message: string) => void): Progress {
  return { ...silentProgress, notice: (message, warning) => warning && warn(message) };
}

function plainProgress(terminal: Terminal, showsEpochs: boolean): Progress {
  let trend = new GapTrend({ tolerance: 0 });
  let task: Task = 'classification';
  const begun = new Set<number>();
  /** The first 20 epochs, then every tenth up to 200, every hundredth up to 2,000, and so on. */
  const sampling = new Downsampling(20, 10);
  /** The line of the latest epoch, if it was left out. */
  let leftOut: string | undefined;
  return {
    stage: nothing,
    start(newTask, limits) {
      task = newTask;
      trend = new GapTrend(limits);
    },
    epoch(event) {
      const { vector, seconds } = event;
      if (!showsEpochs) return;
      if (vector) {
        // With many vectors a line per epoch would be too much.
        if (!begun.has(vector.index)) terminal.say(describeVector(vector));
        begun.add(vector.index);
        return;
      }
      trend.add(event);
      const line = describeEpoch(event, task, seconds, trend.secondsLeft(seconds)).join('  ');
      const isShown = sampling.next(event.epoch);
      if (isShown) terminal.say(line);
      leftOut = isShown ? undefined : line;
    },
    notice: (message, warning) => (warning ? terminal.warn(message) : terminal.note(message)),
    end() {
      if (leftOut !== undefined) terminal.say(leftOut);
      leftOut = undefined;
    },
  };
}

const redrawMilliseconds = 100;
const clearLine = '\r\u001b[K';
const widestBar = 24;
const narrowestBar = 6;

function liveProgress(terminal: Terminal): Progress {
  const { cyan, dim } = terminal.colours;
  let timer: NodeJS.Timeout | undefined;
  let stage = '';
  let fraction: number | undefined;
  let since = performance.now();
  let task: Task = 'classification';
  let trend = new GapTrend({ tolerance: 0 });
  let latest: EpochEvent | undefined;
  /** Clock reading at second 0 of the run. */
  let origin = 0;
  /** Clock reading at the first epoch, and the vectors begun since then. */
  let firstEpoch = 0;
  const begun = new Set<number>();

  function draw(): void {
    timer ??= setInterval(draw, redrawMilliseconds).unref();
    const room = terminal.width - 1;
    terminal.draw(`${clearLine}${latest ? trainingLine(latest, room) : stageLine(room)}`);
    if (latest) since = performance.now();
  }

  function stageLine(room: number): string {
    const elapsed = (performance.now() - since) / 1000;
    const fields = fraction === undefined ? [] : [`${Math.floor(100 * fraction)} %`];
    fields.push(formatSeconds(elapsed));
    // Earlier the time left would be a guess.
    if (fraction !== undefined && fraction >= 0.02 && elapsed >= 0.5) {
      fields.push(`${formatSeconds((elapsed * (1 - fraction)) / fraction)} left`);
    }
    const text = `${stage} … ${fields.join('  ')}`.slice(0, room);
    return (fraction === undefined ? '' : bar(room - text.length - 2, fraction)) + dim(text);
  }

  function trainingLine(event: EpochEvent, room: number): string {
    const { now, left, done } = rate(event);
    const fields = describeEpoch(event, task, now, left);
    while (fields.length > 1 && fields.join('  ').length > room) fields.pop();
    const text = fields.join('  ');
    return bar(room - text.length - 2, done) + text;
  }

  /** For one vector by the trend of its gap, for several by how many have begun. */
  function rate({ vector, seconds }: EpochEvent) {
    if (!vector) {
      const now = Math.max(seconds, (performance.now() - origin) / 1000);
      return { now, left: trend.secondsLeft(now), done: trend.fraction };
    }
    const now = (performance.now() - firstEpoch) / 1000;
    const done = (begun.size - 1) / vector.count;
    return { now, left: done > 0 ? (now * (1 - done)) / done : undefined, done };
  }

  /** A bar in front of the text, if there is room for one. */
  function bar(room: number, done: number): string {
    if (room < narrowestBar) return '';
    const length = Math.min(widestBar, room);
    const filled = Math.round(length * done);
    return `${cyan('━'.repeat(filled))}${dim('─'.repeat(length - filled))}  `;
  }

  function showStage(text: string, done?: number): void {
    if (text !== stage) since = performance.now();
    stage = visibleText(text);
    fraction = done;
    latest = undefined;
    draw();
  }

  return {
    stage: showStage,
    start(newTask, limits) {
      task = newTask;
      trend = new GapTrend(limits);
      begun.clear();
      showStage('preparing');
    },
    epoch(event) {
      trend.add(event);
      const now = performance.now();
      const isFirst = latest === undefined;
      if (isFirst) firstEpoch = now;
      if (event.vector) begun.add(event.vector.index);
      latest = event;
      origin = now - 1000 * event.seconds;
      // The timer redraws the rest: fast epochs must not wait for the terminal.
      if (isFirst || now - since > redrawMilliseconds) draw();
    },
    notice(message, warning) {
      terminal.draw(clearLine);
      if (warning) terminal.warn(message);
      else terminal.say(dim(`note: ${visibleText(message)}`));
      draw();
    },
    end() {
      clearInterval(timer);
      timer = undefined;
      terminal.draw(clearLine);
    },
  };
}

function describeVector({ index, count }: NonNullable<EpochEvent['vector']>): string {
  return `class ${index + 1} of ${count}`;
}

/** The fields of a progress line, the least important last. */
function describeEpoch(
  event: EpochEvent,
  task: Task,
  elapsed: number,
  left: number | undefined,
): string[] {
  const { vector, testError, testAuprc } = event;
  const fields = vector ? [describeVector(vector)] : [];
  fields.push(
    `epoch ${event.epoch}`,
    `objective ${formatNumber(event.primal)}`,
    `gap ${formatGap(event.relativeGap)}`,
  );
  if (testError !== undefined && task === 'classification') {
    // One vector of several separates its class from the rest: that is not the error of the model.
    fields.push(`${vector ? 'class' : 'test'} error ${formatPercent(testError)}`);
  } else if (testError !== undefined) {
    fields.push(`test mse ${formatNumber(testError)}`);
  }
  if (testAuprc !== undefined) fields.push(`auprc ${testAuprc.toFixed(4)}`);
  fields.push(formatSeconds(elapsed));
  if (left !== undefined) fields.push(`${formatSeconds(left)} left`);
  return fields;
}
