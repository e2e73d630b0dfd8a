import type { Standing } from './convergence.ts';
import { Accounts, type Effort, type Sample } from './effort.ts';
import type { Highlights } from './highlights.ts';
import type { Method, Workplace } from './method.ts';
import type { Gap } from './objective/objective.ts';

export interface Limits {
  readonly tolerance: number;
  readonly epochs: number;
  /** Seconds, Infinity for none. */
  readonly time: number;
}

/** Limits, and what time counts from. */
export interface Course extends Limits {
  readonly started: number;
  /** Epochs and seconds of the run that this one continues. */
  readonly before?: { readonly epoch: number; readonly seconds: number };
}

export type Stop = 'converged' | 'early-stop' | 'epoch-limit' | 'time-limit' | 'interrupted';

/** What the first thread of the first process tells after every epoch. */
export interface Progress {
  readonly epoch: number;
  readonly seconds: number;
  readonly passes: number;
  readonly primal: number;
  readonly dual: number;
  readonly relativeGap: number;
  /** P and D of the last iterate that was evaluated, where primal and dual are the best so far. */
  readonly latest?: Gap;
  readonly testError?: number;
  readonly testAuprc?: number;
  /** Block visits in the order they began, worker · p + block, where a solver leaves it free. */
  readonly visits?: Int32Array;
  readonly effort: Effort;
  /** Now and then, if wanted. */
  readonly sample?: Sample;
}

export interface Outcome {
  readonly epochs: number;
  readonly passes: number;
  readonly primal: number;
  readonly dual: number;
  readonly relativeGap: number;
  readonly stopped: Stop;
  readonly seconds: number;
  readonly effort: Effort;
  /** Per epoch, of the ring solver. */
  readonly rotations?: number;
  /** The array of the run that holds the method's last dual point, by row place. */
  readonly dualPoint?: Float64Array;
}

/** Keeps the state of a run from time to time; every thread calls both, at the same moments. */
export interface Keeping {
  isDue(epoch: number): boolean;
  keep(epoch: number, seconds: number): void;
}

interface Listeners {
  readonly keeping?: Keeping | undefined;
  /** Wanted by somebody who looks on. */
  readonly highlights?: Highlights | undefined;
}

/** What may end a run short of its goal, by the number that threads agree on. */
const limitStops: readonly Stop[] = ['epoch-limit', 'time-limit', 'interrupted'];
const goOn = -1;

/**
 * Runs epochs until the certificate is good enough or a limit is reached. Called by every thread of
 * the team.
 *
 * A checkpoint is taken before the last look that a limit asks for: that look moves the best point,
 * and a run without the limit would not have had it.
 */
export function drive(
  { team }: Pick<Workplace, 'team'>,
  method: Method,
  standing: Standing,
  limits: Course,
  report: (progress: Progress) => void,
  { keeping, highlights }: Listeners = {},
): Outcome {
  const { epoch: begin = 0, seconds: earlier = 0 } = limits.before ?? {};
  // Nobody trains faster for being tested less often: the clock stands still meanwhile.
  const here = () => (performance.now() - limits.started - standing.measuring) / 1000;
  const seconds = () => earlier + here();
  const accounts = new Accounts(team, limits.started, highlights);
  // A resumed run begins with an epoch that is done; it may have been the last one.
  for (let epoch = Math.max(1, begin); ; epoch++) {
    const resumed = epoch === begin;
    if (!resumed) method.epoch();
    if (!resumed) standing.look(epoch);
    if (!resumed && keeping && team.index === 0) noteVisits(method, standing);
    const settled = accounts.settle();
    const limit = team.fromFirst(() => {
      if (settled.interrupted) return 2;
      if (epoch >= limits.epochs) return 0;
      return here() >= limits.time ? 1 : goOn;
    });
    const ending = standing.left === 0 || standing.exhausted || limit !== goOn;
    if (keeping && (ending || keeping.isDue(epoch))) keeping.keep(epoch, seconds());
    if (resumed && !ending) continue;
    const stopped = ending ? end(standing, epoch, limit) : undefined;
    const visits = resumed ? undefined : method.visits;
    const { sample } = stopped ? accounts.settle(true) : settled;
    if (team.leads) {
      const told = { visits, effort: settled.effort, sample };
      report(progressOf(epoch, seconds(), method.passes, standing, told));
    }
    if (stopped) {
      const { primal, dual, relativeGap } = standing;
      const { passes, rotations, dualPoint } = method;
      const found = { primal, dual, relativeGap, stopped, ...(rotations && { rotations }) };
      const rest = { seconds: seconds(), effort: accounts.total, ...(dualPoint && { dualPoint }) };
      return { epochs: epoch, passes, ...found, ...rest };
    }
  }
}

/**
 * Certifies what there is; returns why the run ends, if it does: a bound that was too good by
 * rounding errors may turn out to be short of the tolerance.
 */
function end(standing: Standing, epoch: number, limit: number): Stop | undefined {
  standing.certify(epoch);
  if (standing.met) return 'converged';
  if (!standing.exhausted && limit === goOn) return undefined;
  const stopped = standing.exhausted ? 'early-stop' : limitStops[limit];
  standing.goBack();
  return stopped;
}

function noteVisits({ visits }: Method, standing: Standing): void {
  const { primal, dual } = standing;
  if (visits) standing.visited.push({ primal, dual, visits: [...visits] });
}

interface Told {
  readonly visits: Int32Array | undefined;
  readonly effort: Effort;
  readonly sample: Sample | undefined;
}

function progressOf(
  epoch: number,
  seconds: number,
  passes: number,
  { primal, dual, relativeGap, latest, measured }: Standing,
  { visits, effort, sample }: Told,
): Progress {
  return {
    epoch,
    seconds,
    passes,
    primal,
    dual,
    relativeGap,
    ...(latest && { latest }),
    ...(measured && { testError: measured.error }),
    ...(measured?.auprc !== undefined && { testAuprc: measured.auprc }),
    ...(visits && { visits: visits.slice() }),
    effort,
    ...(sample && { sample }),
  };
}
