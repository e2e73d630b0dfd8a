import {
  formatGap,
  formatNumber,
  formatPercent,
  formatSeconds,
  plural,
} from '../../reporting/format.ts';
import type { Job } from '../../train/compare/compare.ts';
import {
  describeOutcome,
  finalTestError,
  type Run,
  type RunKey,
  type RunState,
  trainingSeconds,
} from '../../train/compare/comparison.ts';
import type { CompareFlags } from './options.ts';
import { createProgress, type Progress } from './progress.ts';
import type { Terminal } from './terminal.ts';

/** What a person sees of a comparison while it runs. */
export class ComparisonDisplay {
  progress: Progress;
  readonly #terminal: Terminal;
  readonly #flags: CompareFlags;
  /** The states of the runs of this command. */
  readonly #states: RunState[] = [];

  constructor(terminal: Terminal, flags: CompareFlags) {
    this.#terminal = terminal;
    this.#flags = flags;
    this.progress = createProgress(terminal, flags.quiet ?? false, 'no epochs');
  }

  /** Whether there were runs, and all of them were refused or failed. */
  get isVain(): boolean {
    const vain = this.#states.every((state) => state === 'refused' || state === 'failed');
    return this.#states.length > 0 && vain;
  }

  notice(message: string): void {
    this.progress.notice(message);
  }

  skipped(run: Run): void {
    this.#states.push(run.state);
    this.#say(`${nameOf(run)}: done before`);
  }

  started({ entrant, lossName, lambda, loss, place, count }: Job): void {
    const { bold, dim } = this.#terminal.colours;
    const name = nameOf({ solver: entrant.name, loss: lossName, lambda });
    this.#say(`${bold(name)} ${dim(`(${place} of ${count})`)}`);
    const { tolerance, epochs, time } = this.#flags;
    this.progress.start(loss.task, { tolerance, epochs, seconds: time });
  }

  ended(run: Run): void {
    this.#states.push(run.state);
    this.#say(`${nameOf(run)}: ${describeEnd(run)}`);
  }

  end(): void {
    this.progress.end();
  }

  /** A line that stays. The live line below it is taken away and begun anew. */
  #say(line: string): void {
    this.progress.end();
    if (this.#flags.quiet) return;
    this.#terminal.say(line);
    this.progress = createProgress(this.#terminal, false, 'no epochs');
  }
}

/** What to say before timing anything on a machine that has other things to do. */
export function busyNotice(load: number, cores: number): string | undefined {
  if (!(load > cores / 2)) return undefined;
  return `the machine is busy (load ${load.toFixed(1)} on ${plural(cores, 'core')}): times will mean little`;
}

/** "dso λ=1e-5", with the loss where it is not the default. */
function nameOf({ solver, loss, lambda }: RunKey): string {
  return `${solver} ${loss === 'hinge' ? '' : `${loss} `}λ=${formatNumber(lambda)}`;
}

function describeEnd(run: Run): string {
  const { report } = run;
  if (!report) return describeOutcome(run);
  const error = finalTestError(run);
  const parts = [
    `${describeOutcome(run)} after ${formatSeconds(trainingSeconds(run) ?? 0)}`,
    plural(report.epochs, 'epoch'),
    `objective ${formatNumber(report.primal)}`,
    `gap ${formatGap(report.relativeGap)}`,
  ];
  if (error !== undefined) {
    const shown = run.task === 'classification' ? formatPercent(error) : formatNumber(error);
    parts.push(`test error ${shown}`);
  }
  return parts.join(', ');
}
