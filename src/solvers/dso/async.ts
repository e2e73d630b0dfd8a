import { AsyncRing, allocateAsyncRing, Replay } from '../../engine/async-ring.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import type { SolverCode, SolverContext } from '../solver.ts';
import { Dso } from './dso.ts';
import { allocateDso, type DsoMemory, type DsoSettings } from './state.ts';

export interface DsoAsyncSettings extends DsoSettings {
  /** The block visits of an earlier run, to make again in the same order on one thread. */
  readonly order?: Int32Array;
}

type DsoAsyncMemory = DsoMemory & { readonly async: ReturnType<typeof allocateAsyncRing> };

/**
 * Algorithm 1 without its inner iterations, as the paper's conclusion proposes: the blocks of an
 * epoch move from worker to worker as these become free, instead of going round in step. Workers
 * meet once an epoch, for the snapshot and the certificate. Because a visit still owns its rows and
 * its block, the visits have a serial order with the same result; it is recorded, and `order` in
 * the settings runs such a record again.
 */
export class DsoAsync extends Dso {
  readonly #rotation: AsyncRing | Replay;

  constructor(
    context: SolverContext,
    memory: DsoAsyncMemory,
    settings: DsoAsyncSettings,
    loss: Loss,
  ) {
    const { team } = context;
    const rotation = settings.order
      ? new Replay(settings.order, team.shared.workers)
      : new AsyncRing(team, memory.async);
    super(context, memory, settings, loss, rotation);
    this.#rotation = rotation;
  }

  get visits(): Int32Array {
    return this.#rotation.order;
  }
}

export const dsoAsync: SolverCode<DsoAsyncSettings, DsoAsyncMemory> = {
  allocate: (arena, partition, settings) => ({
    ...allocateDso(arena, partition, settings),
    async: allocateAsyncRing(arena, partition.size),
  }),
  create: (context, memory, settings, loss) => new DsoAsync(context, memory, settings, loss),
};
