import { hostname } from 'node:os';
import packageDescription from '../../../package.json' with { type: 'json' };
import { describePenalty } from '../../problem/penalties/index.ts';
import { defaultFolder, newRunId } from '../../reporting/records/folder.ts';
import {
  type BeginLine,
  type EpochLine,
  type ResultLine,
  recordFormat,
  type SampleLine,
  type StartLine,
} from '../../reporting/records/record.ts';
import { Recorder, RunLog } from '../../reporting/records/recorder.ts';
import { RunView } from '../../reporting/records/run-view.ts';
import type { BeginEvent, EpochEvent, SampleEvent } from '../../train/events.ts';
import { isNegative, longFlag, type Option } from '../../train/options/option.ts';
import type { ProgressiveReport } from '../../train/stream/learning.ts';
import type { Dashboard } from '../dashboard/server.ts';
import type { Invocation } from './command.ts';
import { standardStream } from './files.ts';
import { type Interrupts, stopSignal } from './interrupts.ts';
import { type TrainFlags, trainOptions } from './options.ts';
import type { Problem } from './problem.ts';
import type { Progress } from './progress.ts';
import { exitCodes, onceEach } from './terminal.ts';

interface RunRequest extends Omit<Invocation<TrainFlags>, 'program'> {
  readonly data: string;
  readonly path: string;
  readonly problem: Pick<Problem, 'loss' | 'penalty'>;
  readonly interrupts: Interrupts;
  /** Reports problems of the record and the log. */
  readonly notice: (message: string) => void;
}

/**
 * What records and shows a run besides the terminal: its record, the copy of `--log` and the page of
 * `--ui`. They have no part in the run, except that they may request a stop.
 */
export class RunObservers {
  readonly #recorder: Recorder;
  readonly #log: RunLog | undefined;
  readonly #request: RunRequest;
  #dashboard: Dashboard | undefined;
  #begun = 0;
  #look: BeginEvent['look'] = () => undefined;
  #epoch = 0;

  private constructor(request: RunRequest, start: StartLine, live: RunView | undefined) {
    this.#request = request;
    this.#log = logOf(request);
    this.#recorder = new Recorder({
      folder: folderOf(request),
      start,
      log: this.#log,
      onFailure: request.notice,
      onLine: live && ((line) => live.add(line)),
    });
    this.#recorder.watchStop(() => request.interrupts.request());
  }

  static async begin(request: RunRequest): Promise<RunObservers> {
    const start = startLine(request);
    const live = request.flags.ui ? RunView.live(start) : undefined;
    const observers = new RunObservers(request, start, live);
    if (live) await observers.#show(live);
    return observers;
  }

  async #show(live: RunView): Promise<void> {
    const { flags, terminal, interrupts, notice } = this.#request;
    // Imported only when needed: the page takes a moment to load.
    const { Dashboard } = await import('../dashboard/server.ts');
    this.#dashboard = new Dashboard({
      folder: flags.runs ?? folderOf(this.#request) ?? defaultFolder,
      port: flags.uiPort,
      version: packageDescription.version,
      onFailure: onceEach((message) => notice(`the page: ${message}`)),
      own: {
        id: live.id,
        summary: () => live.summary(),
        detail: (query) => live.detail(query),
        subscribe: (listener) => live.subscribe(listener),
        look: () => {
          const found = this.#look();
          return found && { epoch: this.#epoch, ...found };
        },
        stop: () => interrupts.request(),
      },
    });
    terminal.say(`dashboard: ${await this.#dashboard.listen()}`);
    if (!(flags.open ?? true)) return;
    const { showPage } = await import('./browser.ts');
    await showPage(this.#dashboard.oneTimeUrl(), terminal);
  }

  /** Forwards what the terminal shows besides epochs. */
  watch(progress: Progress): Progress {
    return {
      ...progress,
      stage: (text, fraction) => {
        progress.stage(text, fraction);
        this.#dashboard?.stage(text, fraction);
      },
      notice: (message, warning) => {
        progress.notice(message, warning);
        this.#recorder.write({ event: 'notice', message });
      },
    };
  }

  /** `read`: the seconds that reading took. */
  begin(event: BeginEvent, read: number): void {
    this.#begun = performance.now();
    this.#look = event.look;
    this.#recorder.write(beginLine(event, read));
  }

  epoch(event: EpochEvent): void {
    this.#epoch = event.epoch;
    this.#recorder.write(epochLine(event, (performance.now() - this.#begun) / 1000));
  }

  sample(event: SampleEvent, names: FeatureNames): void {
    this.#recorder.write(sampleLine(event, names));
  }

  report(report: ProgressiveReport, seconds: number): void {
    this.#recorder.write({ event: 'report', seconds, ...report });
  }

  /** Returns the exit code, which is another one if lines of `--log` are missing. */
  end(report: Partial<ResultLine>, success: number): number {
    const { path, flags, terminal } = this.#request;
    const ended = new Date().toISOString();
    const code = this.#log?.failed ? exitCodes.failure : success;
    this.#recorder.write({ ...report, event: 'result', ended, code, model: path });
    this.#recorder.close();
    if (this.#log?.failed) {
      terminal.error(`${flags.log}: the log is incomplete; the model is in ${path}`);
    }
    return code;
  }

  async fail({ message }: Error): Promise<void> {
    this.#recorder.write({ event: 'failure', ended: new Date().toISOString(), message });
    this.#recorder.close();
    await this.#dashboard?.close('the run failed');
  }

  /** At a terminal the page stays after the end, until Ctrl-C. */
  async stay(): Promise<void> {
    const { terminal } = this.#request;
    if (!this.#dashboard) return;
    if (terminal.live) {
      terminal.say('the dashboard stays open until Ctrl-C; dso ui shows it again');
      await stopSignal(terminal);
    }
    await this.#dashboard.close('the run has ended');
  }
}

/** `--log`: a copy of the record, complete, at a path or on standard output. */
function logOf({ flags, terminal, notice }: RunRequest): RunLog | undefined {
  const { log: path, resume } = flags;
  if (path === undefined) return undefined;
  return new RunLog(path, {
    resumes: resume !== undefined,
    ...(path === standardStream && { print: (line) => void terminal.print(line) }),
    onFailure: (message) => notice(`${path}: ${message}`),
  });
}

function folderOf({ flags, terminal }: RunRequest): string | undefined {
  if (!flags.record) return undefined;
  const isOff = (terminal.io.environment.DSO_NO_RECORD ?? '') !== '';
  return flags.runs ?? (isOff ? undefined : defaultFolder);
}

type FeatureNames = (column: number) => string;

/** Loads of the cells of larger grids are not recorded. */
const largestDrawn = 64;

function startLine({ data, path, flags, words, problem }: RunRequest): StartLine {
  const now = new Date();
  const { loss, penalty } = problem;
  const { tolerance, epochs, time, progressive, name } = flags;
  return {
    event: 'start',
    format: recordFormat,
    id: newRunId(now),
    started: now.toISOString(),
    version: packageDescription.version,
    pid: process.pid,
    host: hostname(),
    ...(name !== undefined && { name }),
    data,
    model: path,
    task: loss.task,
    loss: loss.name,
    penalty: describePenalty(penalty),
    tolerance,
    ...(!progressive && { epochs }),
    ...(time !== undefined && { time }),
    words: publicWords(words),
    options: recordedOptions(flags),
  };
}

/** The command line without the values of private options. */
function publicWords(words: readonly string[]): string[] {
  const hidden = Object.values<Option>(trainOptions).flatMap((entry) =>
    entry.private === undefined ? [] : [[longFlag(entry), entry.private] as const],
  );
  return words.map((word, index) => {
    for (const [flag, withheld] of hidden) {
      if (words[index - 1] === flag) return withheld;
      if (word.startsWith(`${flag}=`)) return `${flag}=${withheld}`;
    }
    return word;
  });
}

/** The options that were given, and the defaults of those that decide the model. */
function recordedOptions(flags: TrainFlags): Record<string, unknown> {
  const table = Object.entries<Option>(trainOptions);
  const recorded = table.flatMap(([name, entry]) => {
    const value = flags[name as keyof TrainFlags];
    if (value === undefined || (value === true && isNegative(entry))) return [];
    if (value === entry.default && !entry.affectsModel) return [];
    return [[name, entry.private ?? value]];
  });
  return Object.fromEntries(recorded);
}

function beginLine(event: BeginEvent, read: number): BeginLine {
  const { look: _, seconds, loads, ...plain } = event;
  const { cells, ...sums } = loads;
  return {
    event: 'begin',
    ...plain,
    loads: { ...sums, ...(event.grid <= largestDrawn && { cells }) },
    seconds: { read, partition: seconds },
  };
}

/** `elapsed`: seconds since training began. */
export function epochLine(event: EpochEvent, elapsed: number): EpochLine {
  const { vector, epoch, ...measured } = event;
  const { bytes } = event.effort;
  return {
    event: 'epoch',
    ...(vector && { vector: vector.index }),
    epoch,
    ...(vector && { elapsed }),
    ...measured,
    ...(bytes > 0 && { bytes }),
  };
}

function sampleLine(event: SampleEvent, nameOf: FeatureNames): SampleLine {
  const { vector, largest, ...measured } = event;
  return {
    event: 'sample',
    ...(vector && { vector: vector.index }),
    ...measured,
    features: largest.map(({ column, weight }) => ({ name: nameOf(column), weight })),
  };
}
