import type { Task } from '../../problem/losses/loss.ts';
import { formatGap, formatNumber, formatPercent, formatSeconds } from '../../reporting/format.ts';
import { GapTrend, type Limits } from '../../reporting/gap-trend.ts';
import { Downsampling } from '../../reporting/records/downsampling.ts';
import type { EpochEvent } from '../../train/events.ts';
import type { Terminal } from './terminal.ts';

/** What the terminal shows while a command works, on standard error. */
export interface Progress {
  /** Work outside training, such as "reading train.svm", and the fraction done, 0 … 1. */
  stage(text: string, fraction?: number): void;
  /** Training begins now. */
  start(task: Task, limits: Limits): void;
  epoch(event: EpochEvent): void;
  notice(message: string): void;
  /** Clears what was drawn. */
  end(): void;
}

/** One live line on a terminal, elsewhere a line for many epochs or none, nothing when quiet. */
export function createProgress(
  terminal: Terminal,
  quiet: boolean,
  lines: 'epochs' | 'no epochs' = 'epochs',
): Progress {
  if (quiet) return silentProgress;
  if (terminal.live) return new LiveProgress(terminal);
  return new PlainProgress(terminal, lines === 'epochs');
}

export const silentProgress: Progress = {
  stage() {},
  start() {},
  epoch() {},
  notice() {},
  end() {},
};

class PlainProgress implements Progress {
  readonly #terminal: Terminal;
  #trend = new GapTrend({ tolerance: 0 });
  #task: Task = 'classification';
  readonly #epochs: boolean;
  /** Vectors that have begun. */
  readonly #begun = new Set<number>();
  /** The first 20 epochs, then every tenth up to 200, every hundredth up to 2,000, and so on. */
  readonly #sampling = new Downsampling(20, 10);
  /** The line of the latest epoch, if it was left out. */
  #leftOut: string | undefined;

  constructor(terminal: Terminal, epochs: boolean) {
    this.#terminal = terminal;
    this.#epochs = epochs;
  }

  stage(): void {}

  start(task: Task, limits: Limits): void {
    this.#task = task;
    this.#trend = new GapTrend(limits);
  }

  epoch(event: EpochEvent): void {
    if (!this.#epochs) return;
    if (event.vector) {
      this.#announceVector(event.vector);
      return;
    }
    this.#trend.add(event);
    const left = this.#trend.secondsLeft(event.seconds);
    const line = describeEpoch(event, this.#task, event.seconds, left).join('  ');
    if (this.#sampling.next(event.epoch)) {
      this.#leftOut = undefined;
      this.#terminal.say(line);
    } else {
      this.#leftOut = line;
    }
  }

  /** With many vectors a line per epoch would be too much. */
  #announceVector({ index, count }: NonNullable<EpochEvent['vector']>): void {
    if (this.#begun.has(index)) return;
    this.#begun.add(index);
    this.#terminal.say(`class ${index + 1} of ${count}`);
  }

  notice(message: string): void {
    this.#terminal.say(`note: ${message}`);
  }

  end(): void {
    if (this.#leftOut !== undefined) this.#terminal.say(this.#leftOut);
    this.#leftOut = undefined;
  }
}

const redrawMilliseconds = 100;
const clearLine = '\r\u001b[K';
const widestBar = 24;
const narrowestBar = 6;

class LiveProgress implements Progress {
  readonly #terminal: Terminal;
  #timer: NodeJS.Timeout | undefined;
  #stage = '';
  #fraction: number | undefined;
  #since = performance.now();
  #task: Task = 'classification';
  #trend = new GapTrend({ tolerance: 0 });
  #event: EpochEvent | undefined;
  /** Clock reading at second 0 of the run. */
  #origin = 0;
  /** Clock reading at the first epoch, and the vectors begun since then. */
  #first = 0;
  readonly #begun = new Set<number>();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  stage(text: string, fraction?: number): void {
    if (text !== this.#stage) this.#since = performance.now();
    this.#stage = text;
    this.#fraction = fraction;
    this.#event = undefined;
    this.#draw();
  }

  start(task: Task, limits: Limits): void {
    this.#task = task;
    this.#trend = new GapTrend(limits);
    this.stage('preparing');
  }

  epoch(event: EpochEvent): void {
    this.#trend.add(event);
    const first = this.#event === undefined;
    if (first) this.#first = performance.now();
    if (event.vector) this.#begun.add(event.vector.index);
    this.#event = event;
    this.#origin = performance.now() - 1000 * event.seconds;
    // The timer redraws the rest: fast epochs must not wait for the terminal.
    if (first || performance.now() - this.#since > redrawMilliseconds) this.#draw();
  }

  notice(message: string): void {
    this.#terminal.say(`${clearLine}${this.#terminal.colours.dim(`note: ${message}`)}`);
    this.#draw();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#terminal.write(clearLine);
  }

  #draw(): void {
    this.#timer ??= setInterval(() => this.#draw(), redrawMilliseconds).unref();
    const room = this.#terminal.width - 1;
    this.#terminal.write(`${clearLine}${this.#event ? this.#run(room) : this.#wait(room)}`);
    if (this.#event) this.#since = performance.now();
  }

  #wait(room: number): string {
    const elapsed = (performance.now() - this.#since) / 1000;
    const fraction = this.#fraction;
    const fields = fraction === undefined ? [] : [`${Math.floor(100 * fraction)} %`];
    fields.push(formatSeconds(elapsed));
    // Earlier the time left would be a guess.
    if (fraction !== undefined && fraction >= 0.02 && elapsed >= 0.5) {
      fields.push(`${formatSeconds((elapsed * (1 - fraction)) / fraction)} left`);
    }
    const text = `${this.#stage} … ${fields.join('  ')}`.slice(0, room);
    const line = this.#terminal.colours.dim(text);
    const barRoom = Math.min(widestBar, room - text.length - 2);
    if (fraction === undefined || barRoom < narrowestBar) return line;
    return `${this.#bar(barRoom, fraction)}  ${line}`;
  }

  #run(room: number): string {
    const event = this.#event!;
    const { now, left, fraction } = this.#rate(event);
    const fields = describeEpoch(event, this.#task, now, left);
    while (fields.length > 1 && fields.join('  ').length > room) fields.pop();
    const text = fields.join('  ');
    const barRoom = Math.min(widestBar, room - text.length - 2);
    if (barRoom < narrowestBar) return text;
    return `${this.#bar(barRoom, fraction)}  ${text}`;
  }

  /** For one vector by the trend of its gap, for several by how many have begun. */
  #rate(event: EpochEvent) {
    if (!event.vector) {
      const now = Math.max(event.seconds, (performance.now() - this.#origin) / 1000);
      return { now, left: this.#trend.secondsLeft(now), fraction: this.#trend.fraction };
    }
    const now = (performance.now() - this.#first) / 1000;
    const done = this.#begun.size - 1;
    const fraction = done / event.vector.count;
    return { now, left: done > 0 ? (now * (1 - fraction)) / fraction : undefined, fraction };
  }

  #bar(length: number, fraction: number): string {
    const { cyan, dim } = this.#terminal.colours;
    const filled = Math.round(length * fraction);
    return cyan('━'.repeat(filled)) + dim('─'.repeat(length - filled));
  }
}

/** The fields of a progress line, the least important last. */
function describeEpoch(
  event: EpochEvent,
  task: Task,
  elapsed: number,
  left: number | undefined,
): string[] {
  const { vector } = event;
  const fields = [
    ...(vector ? [`class ${vector.index + 1} of ${vector.count}`] : []),
    `epoch ${event.epoch}`,
    `objective ${formatNumber(event.primal)}`,
    `gap ${formatGap(event.relativeGap)}`,
  ];
  if (event.testError !== undefined) {
    fields.push(describeTestError(event.testError, task, vector !== undefined));
  }
  if (event.testAuprc !== undefined) fields.push(`auprc ${event.testAuprc.toFixed(4)}`);
  fields.push(formatSeconds(elapsed));
  if (left !== undefined) fields.push(`${formatSeconds(left)} left`);
  return fields;
}

/** One vector of several separates its class from the rest: that is not the error of the model. */
function describeTestError(error: number, task: Task, isOfClass: boolean): string {
  return task === 'classification'
    ? `${isOfClass ? 'class' : 'test'} error ${formatPercent(error)}`
    : `test mse ${formatNumber(error)}`;
}
