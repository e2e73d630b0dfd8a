import { hostname } from 'node:os';
import packageDescription from '../../../package.json' with { type: 'json' };
import type { TrainFlags } from '../../cli/definitions/train.ts';
import { onceEach } from '../../cli/once-each.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import type { Terminal } from '../../cli/terminal.ts';
import type { Dashboard, DashboardOptions } from '../../dashboard/dashboard.ts';
import type { ProgressiveReport } from '../../online/progress.ts';
import type { Penalty } from '../../penalties/penalty.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { usualFolder } from '../../reporting/records/folder.ts';
import type { ResultLine } from '../../reporting/records/record.ts';
import { LiveRun } from '../../runs/live-run.ts';
import { Recorder } from '../../runs/recorder.ts';
import type { BeginEvent, EpochEvent, SampleEvent } from '../../train/events.ts';
import type { Interrupts } from './interrupts.ts';
import type { Progress } from './progress.ts';
import { beginLine, epochLine, type FeatureNames, sampleLine, startLine } from './run-lines.ts';

/** A run that is about to be made. */
export interface Undertaking {
  readonly data: string;
  /** Where the model goes. */
  readonly path: string;
  readonly flags: TrainFlags;
  /** The command line after `dso`. */
  readonly words: readonly string[];
  readonly problem: { readonly loss: Loss; readonly penalty: Penalty };
  readonly terminal: Terminal;
  readonly interrupts: Interrupts;
  /** Told of what becomes of the record. */
  readonly notice: (message: string) => void;
}

/**
 * What is kept of a run and who looks at it: its record in a folder, and the page of `--ui`. Both
 * listen as the terminal does; neither has any part in the run, but that they may ask it to stop.
 */
export class Watching {
  readonly #recorder: Recorder;
  readonly #dashboard: Dashboard | undefined;
  readonly #path: string;
  #begun = 0;
  #look: BeginEvent['look'] = () => undefined;
  #epoch = 0;

  private constructor(recorder: Recorder, path: string, open?: OpenDashboard) {
    this.#recorder = recorder;
    this.#path = path;
    this.#dashboard = open?.(() => {
      const found = this.#look();
      return found && { epoch: this.#epoch, ...found };
    });
  }

  static async begin(undertaking: Undertaking): Promise<Watching> {
    const { path, flags, terminal, interrupts, notice } = undertaking;
    const folder = folderOf(flags, terminal);
    const start = startLine(undertaking, new Date(), {
      version: packageDescription.version,
      pid: process.pid,
      host: hostname(),
    });
    const live = flags.ui ? new LiveRun(start) : undefined;
    const recorder = new Recorder({
      folder,
      start,
      onFailure: notice,
      onLine: live && ((line) => live.add(line)),
    });
    recorder.watchStop(() => interrupts.request());
    if (!live) return new Watching(recorder, path);
    const shown = {
      folder: flags.runs ?? folder ?? usualFolder,
      port: flags.uiPort,
      onFailure: onceEach((message) => notice(`the page: ${message}`)),
    };
    const watching = new Watching(recorder, path, await dashboardOf(live, interrupts, shown));
    await watching.#open(terminal, flags.open ?? true);
    return watching;
  }

  async #open(terminal: Terminal, inBrowser: boolean): Promise<void> {
    const url = await this.#dashboard!.listen();
    terminal.say(`watch it at ${url}`);
    if (!inBrowser) return;
    const { showPage } = await import('./browser.ts');
    await showPage(this.#dashboard!.entrance(), terminal);
  }

  /** Hears what the terminal shows besides epochs. */
  beside(progress: Progress): Progress {
    return {
      stage: (text, fraction) => {
        progress.stage(text, fraction);
        this.#dashboard?.stage(text, fraction);
      },
      start: (task, limits) => progress.start(task, limits),
      epoch: (event) => progress.epoch(event),
      notice: (message) => {
        progress.notice(message);
        this.#recorder.write({ event: 'notice', message });
      },
      end: () => progress.end(),
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

  end(report: Partial<ResultLine>, code: number): void {
    const ended = new Date().toISOString();
    this.#recorder.write({ ...report, event: 'result', ended, code, model: this.#path });
    this.#recorder.close();
  }

  /** The run has come to nothing. */
  async fail({ message }: Error): Promise<void> {
    this.#recorder.write({ event: 'failure', ended: new Date().toISOString(), message });
    this.#recorder.close();
    await this.#dashboard?.close('the run failed');
  }

  /** A person at a terminal may go on looking at the page after the end. */
  async stay(terminal: Terminal): Promise<void> {
    if (!this.#dashboard) return;
    if (terminal.live) {
      terminal.say('the page stays until Ctrl-C; dso ui shows it again');
      await stopSignal(terminal);
    }
    await this.#dashboard.close('the run has ended');
  }
}

type Look = Exclude<ReturnType<BeginEvent['look']>, undefined> & { readonly epoch: number };
type OpenDashboard = (look: () => Look | undefined) => Dashboard;

/** The page takes a moment to load: it is imported by those who want it. */
async function dashboardOf(
  live: LiveRun,
  interrupts: Interrupts,
  settings: Pick<DashboardOptions, 'folder' | 'port' | 'onFailure'>,
): Promise<OpenDashboard> {
  const { Dashboard } = await import('../../dashboard/dashboard.ts');
  return (look) =>
    new Dashboard({
      ...settings,
      version: packageDescription.version,
      own: {
        id: live.id,
        summary: () => live.summary(),
        detail: (query) => live.detail(query),
        subscribe: (listener) => live.subscribe(listener),
        look,
        stop: () => interrupts.request(),
      },
    });
}

/** The folder for the record, unless there is to be none. */
function folderOf({ runs, record }: TrainFlags, { io }: Terminal): string | undefined {
  if (record === false) return undefined;
  if (runs !== undefined) return runs;
  return (io.environment.DSO_NO_RECORD ?? '') === '' ? usualFolder : undefined;
}
