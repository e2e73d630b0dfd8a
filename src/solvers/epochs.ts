import type { Convergence } from './convergence.ts';
import type { Gap } from './objective/objective.ts';
import type { Hindrance } from './progress-watch.ts';
import type { Method, SolverContext } from './solver.ts';
import { type LargestWeights, type Sample, TimeAccounts, type TimeUse } from './statistics.ts';

export interface Limits {
  readonly tolerance: number;
  readonly epochs: number;
  /** Seconds, Infinity for none. */
  readonly time: number;
}

/** Limits, and what time counts from. */
export interface RunLimits extends Limits {
  readonly started: number;
  /** Epochs and seconds of the run that this one continues. */
  readonly before?: { readonly epoch: number; readonly seconds: number };
}

export type Stop =
  | 'converged'
  | 'precision'
  | 'no-progress'
  | 'early-stop'
  | 'epoch-limit'
  | 'time-limit'
  | 'interrupted';

interface RunFigures extends Gap {
  readonly relativeGap: number;
  readonly passes: number;
  readonly seconds: number;
  readonly effort: TimeUse;
}

/** What the first thread of the first process reports after every epoch. */
export interface Progress extends RunFigures {
  readonly epoch: number;
  /** P and D of the last iterate that was evaluated, where primal and dual are the best so far. */
  readonly latest?: Gap;
  readonly testError?: number;
  readonly testAuprc?: number;
  /** Block visits in the order they began, worker · p + block, where a solver leaves it free. */
  readonly visits?: Int32Array;
  /** Now and then, if the run is observed. */
  readonly sample?: Sample;
}

export interface Outcome extends RunFigures {
  readonly epochs: number;
  readonly stopped: Stop;
  /** The solver that ended the run, where several took turns. */
  readonly solver?: string;
  /** Per epoch, of the ring solver. */
  readonly rotations?: number;
  /** The array of the run that holds the method's last dual point, by row position. */
  readonly dualPoint?: Float64Array;
  /** What the dual point that proves the bound is multiplied by, where there is one. */
  readonly dualScale?: number;
  /** Columns that are proved to be 0 in every optimum, where the penalty and the loss allow a proof. */
  readonly provedZeros?: number;
  /** Where many epochs have not met the tolerance: what was measured. */
  readonly hindrance?: Hindrance;
}

/** Saves the state of a run from time to time; every thread calls both, at the same moments. */
export interface CheckpointSchedule {
  isDue(epoch: number): boolean;
  save(epoch: number, seconds: number): void;
}

interface Listeners {
  readonly report: (progress: Progress) => void;
  readonly checkpoints?: CheckpointSchedule | undefined;
  /** Where the run is observed. */
  readonly largest?: LargestWeights | undefined;
}

/** What may end a run short of its goal, by the number that threads agree on. */
const limitStops: readonly Stop[] = ['epoch-limit', 'time-limit', 'interrupted'];
const withinLimits = -1;

/**
 * Runs epochs until the certificate is good enough or a limit is reached, and stops after each of
 * them until it is asked for the next. Called by every thread of the team.
 *
 * A checkpoint is saved before the last evaluation that a limit causes: it moves the best point,
 * and a run without the limit would not have had it.
 */
export function* runEpochs(
  { team }: Pick<SolverContext, 'team'>,
  method: Method,
  convergence: Convergence,
  limits: RunLimits,
  { report, checkpoints, largest }: Listeners,
): Generator<undefined, Outcome> {
  const { epoch: begin = 0, seconds: earlier = 0 } = limits.before ?? {};
  // Evaluations on test rows do not count as training time.
  const here = () => (performance.now() - limits.started - convergence.measuring) / 1000;
  const seconds = () => earlier + here();
  const accounts = new TimeAccounts(team, limits.started, largest);
  const figures = (effort: TimeUse): RunFigures => {
    const { primal, relativeGap } = convergence;
    // By rounding a bound may be above P until the certificate.
    const dual = Math.min(convergence.dual, primal);
    return { primal, dual, relativeGap, passes: method.passes, seconds: seconds(), effort };
  };
  // A resumed run begins with an epoch that is done; it may have been the last one.
  for (let epoch = Math.max(1, begin); ; epoch++) {
    const resumed = epoch === begin;
    if (!resumed) {
      method.epoch();
      convergence.observe(epoch);
      if (checkpoints && team.index === 0) noteVisits(method, convergence);
    }
    const settled = accounts.settle();
    const limit = team.fromFirst(() => {
      if (settled.interrupted) return 2;
      if (epoch >= limits.epochs) return 0;
      return here() >= limits.time ? 1 : withinLimits;
    });
    const ending = convergence.ends || convergence.exhausted || limit !== withinLimits;
    if (checkpoints && (ending || checkpoints.isDue(epoch))) checkpoints.save(epoch, seconds());
    if (resumed && !ending) continue;
    const stopped = ending ? end(convergence, epoch, limit) : undefined;
    const visits = resumed ? undefined : method.visits;
    const { sample } = stopped ? accounts.settle(true) : settled;
    if (team.leads) {
      const { latest, measured } = convergence;
      report({
        epoch,
        ...figures(settled.effort),
        ...(latest && { latest }),
        ...(measured && { testError: measured.error }),
        ...(measured?.auprc !== undefined && { testAuprc: measured.auprc }),
        ...(visits && { visits: visits.slice() }),
        ...(sample && { sample }),
      });
    }
    if (stopped) {
      const { rotations, dualPoint, solver } = method;
      const { dualScale, provedZeros } = convergence;
      const hindrance = convergence.hindranceAt(epoch);
      const details = {
        ...(solver && { solver }),
        ...(rotations && { rotations }),
        ...(dualPoint && { dualPoint }),
        ...(dualScale !== undefined && { dualScale }),
        ...(provedZeros !== undefined && { provedZeros }),
        ...(hindrance && { hindrance }),
      };
      return { epochs: epoch, ...figures(accounts.total), stopped, ...details };
    }
    yield;
  }
}

/**
 * Certifies what there is; returns why the run ends, if it does: a bound that was too good by
 * rounding errors may turn out to be short of the tolerance.
 */
function end(convergence: Convergence, epoch: number, limit: number): Stop | undefined {
  convergence.certify(epoch);
  if (convergence.met) return 'converged';
  if (!convergence.exhausted && limit === withinLimits) {
    if (convergence.exhaustsPrecision) return 'precision';
    return convergence.isStuck(epoch) ? 'no-progress' : undefined;
  }
  const stopped = convergence.exhausted ? 'early-stop' : limitStops[limit];
  convergence.goBack(epoch);
  return stopped;
}

function noteVisits({ visits }: Method, convergence: Convergence): void {
  const { primal, dual } = convergence;
  if (visits) convergence.visited.push({ primal, dual, visits: [...visits] });
}
