import type { Arena } from '../../engine/arena.ts';
import { allocateWander, Replay, Wander, type WanderMemory } from '../../engine/async-ring.ts';
import type { Partition } from '../../engine/partition.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { allocateDso, Dso, type DsoMemory, dsoEngine } from '../dso.ts';
import type { Engine } from '../engine.ts';
import type { Workplace } from '../method.ts';
import type { DsoAsyncSettings } from '../solver.ts';

export interface DsoAsyncMemory {
  readonly dso: DsoMemory;
  readonly wander: WanderMemory;
}

function allocate(arena: Arena, partition: Partition, settings: DsoAsyncSettings): DsoAsyncMemory {
  return {
    dso: allocateDso(arena, partition, settings),
    wander: allocateWander(arena, partition.size),
  };
}

/**
 * Algorithm 1 without its inner iterations, as the paper's conclusion proposes: the blocks of an
 * epoch wander from worker to worker as these become free, instead of going round in step. Workers
 * meet once an epoch, for the snapshot and the certificate. Because a visit still owns its rows and
 * its block, the visits have a serial order with the same result; it is recorded, and `order` in
 * the settings runs such a record again.
 */
export class DsoAsync extends Dso {
  readonly #rotation: Wander | Replay;

  constructor(place: Workplace, memory: DsoAsyncMemory, settings: DsoAsyncSettings, loss: Loss) {
    const { team } = place;
    const rotation = settings.order
      ? new Replay(settings.order, team.shared.workers)
      : new Wander(team, memory.wander);
    super(place, memory.dso, settings, loss, rotation);
    this.#rotation = rotation;
  }

  get visits(): Int32Array {
    return this.#rotation.order;
  }
}

export const dsoAsyncEngine: Engine<DsoAsyncSettings, DsoAsyncMemory> = {
  orientation: 'rows',
  leastGrid: 4,
  refusal: (request, settings) =>
    settings.order === undefined || settings.order instanceof Int32Array
      ? dsoEngine.refusal?.(request, settings)
      : 'wants an Int32Array as its order: the visits of an earlier result',
  allocate,
  create: (place, memory, settings, loss) => new DsoAsync(place, memory, settings, loss),
};
