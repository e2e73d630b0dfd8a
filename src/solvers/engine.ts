import type { Arena } from '../engine/arena.ts';
import type { Orientation } from '../engine/grid.ts';
import type { Partition } from '../engine/partition.ts';
import type { Penalty } from '../penalties/penalty.ts';
import type { Loss } from '../problem/losses/loss.ts';
import { boundsOf } from '../problem/penalties/separable.ts';
import type { Method, Workplace } from './method.ts';

export interface Shape {
  readonly rows: number;
  readonly columns: number;
  readonly nonzeros: number;
}

/** The problem somebody wants solved, before any data is laid out. */
export interface Request {
  readonly loss: Loss;
  readonly penalty: Penalty;
  readonly lambda: number;
  readonly intercept: boolean;
  /** Whether columns differ in their penalty. */
  readonly factors: boolean;
  readonly shape: Shape;
}

/** A solver as the engine sees it: what it can solve, the arrays it wants, and the method itself. */
export interface Engine<Settings, Memory> {
  readonly orientation: Orientation;
  /** A serial method has a grid of one and no use for a second thread. */
  readonly serial?: true;
  /** Workers it gets by default where the data alone would not ask for so many. */
  readonly leastGrid?: number;
  /** Why it cannot solve a problem, as the end of a sentence that begins with its name. */
  refusal?(request: Request, settings: Settings): string | undefined;
  allocate(arena: Arena, partition: Partition, settings: Settings): Memory;
  create(place: Workplace, memory: Memory, settings: Settings, loss: Loss): Method;
}

/** The refusal of solvers that know no bounds on weights. */
export function refuseBounds({ penalty }: Request): string | undefined {
  const bounds = boundsOf(penalty);
  return bounds
    ? `cannot keep weights in [${bounds.low}, ${bounds.high}]: it knows no bounds on them (use ring, dso, sgd or admm)`
    : undefined;
}
