import { type StateArray, stateArrays } from '../../engine/checkpoint/state.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { BlockMethod, BlockState } from '../block-state.ts';
import { sgdSlot, sgdStride } from '../kernels/kernels.ts';
import type { SolverCode, SolverContext, WarmStart } from '../solver.ts';
import { allocateSgd, LocalSgd, type SgdMemory, type SgdSettings } from './local-sgd.ts';

/**
 * Stochastic gradient descent, every worker on its own rows. The model is the mean of the workers'
 * weights. It is made anew after every epoch and no worker ever sees it.
 *
 * With one worker that is the serial method (sgd). With more (psgd) it is parallel stochastic
 * gradient descent (Zinkevich, Weimer, Smola and Li 2010): workers exchange nothing, so the mean
 * tends to the mean of their minimisers, which is not the minimiser for all rows: the gap stays
 * open, the more so the fewer rows a worker has. Each worker has weights of its own for all
 * columns: 64 bytes a column and worker.
 *
 * Averaged (the default), they are those of all its steps, epoch e counting e (e + 1) times:
 * mean ← mean + 3/(e + 2) (w̄_e − mean). The slopes −ℓ' of the steps, averaged alike, are the dual
 * point: the domain of the conjugate, being convex, holds them, and where w comes to rest they are
 * the dual optimum.
 */
export class Sgd extends BlockMethod {
  protected override readonly scalars = { epochs: 0 };
  readonly #memory: SgdMemory;
  readonly #average: boolean;
  readonly #adagrad: boolean;
  readonly #workers = new Map<number, LocalSgd>();

  constructor(context: SolverContext, memory: SgdMemory, settings: SgdSettings, loss: Loss) {
    super(new BlockState(context, memory.generators), memory, memory.meanAlpha);
    const { team, problem } = context;
    this.#memory = memory;
    this.#average = settings.average;
    this.#adagrad = settings.step === 'adagrad';
    if (team.index === 0) memory.starts.set(problem.grid.partition.columnBounds);
    for (const worker of this.state.parts) {
      this.#workers.set(worker, new LocalSgd(this.state, memory, settings, loss, worker));
    }
    this.#penalise();
    if (context.start) this.#startFrom(context.start);
  }

  #startFrom({ weights }: WarmStart): void {
    const { ring, objective, team } = this.context;
    objective.margins(weights, this.margins);
    ring.rotate(objective.fields.read(weights), (worker, block) => {
      this.#workerOf(worker).startAt(block, objective.columnsOf(weights, block));
    });
    objective.dualPoint(this.margins, this.#memory.alpha);
    if (this.#adagrad) for (const local of this.#workers.values()) local.rememberGradients();
    team.barrier();
  }

  /** Every worker has to know the penalty of the columns in its rows, wherever they are at home. */
  #penalise(): void {
    const { ring, objective, problem, team } = this.context;
    const { strength } = this.#memory;
    objective.copyColumns(problem.strength, strength);
    ring.rotate(objective.fields.read(strength), (worker, block) => {
      const visiting = objective.columnsOf(strength, block);
      this.#workerOf(worker).penalise(block, visiting, problem.penalty);
    });
    team.barrier();
  }

  epoch(): void {
    const { kernels, objective } = this.context;
    this.scalars.epochs++;
    for (const worker of this.#workers.values()) worker.epoch();
    const weight = 3 / (this.scalars.epochs + 2);
    this.#collectWeights(this.#average ? weight : 1);
    const mean = objective.ownRows(this.#memory.meanAlpha);
    kernels.interpolate(mean, mean, objective.ownRows(this.#memory.alpha), weight);
    this.passes = this.passesOf((worker) => this.#workerOf(worker).work);
  }

  /** weights ← weights + weight · (mean of the workers' − weights) */
  #collectWeights(weight: number): void {
    const { ring, objective, problem, team } = this.context;
    const share = weight / problem.grid.size;
    ring.rotate(objective.fields.of(this.weights), (worker, block, iteration) => {
      const target = objective.columnsOf(this.weights, block);
      if (iteration === 0) {
        for (let j = 0; j < target.length; j++) target[j] *= 1 - weight;
      }
      this.#workerOf(worker).addTo(target, block, share);
    });
    team.barrier();
    if (!problem.box) return;
    objective.keepInBox(this.weights);
    team.barrier();
  }

  #workerOf(worker: number): LocalSgd {
    return this.#workers.get(worker) as LocalSgd;
  }

  override resume(): void {
    super.resume();
    this.state.checkOrders(this.#memory.order);
  }

  /** Between epochs every weight has caught up, and the sums have been collected. */
  override arrays(): StateArray[] {
    const { meanAlpha, order, weights, lines, clocks, generators } = this.#memory;
    const slots = this.#adagrad
      ? [sgdSlot.weight, sgdSlot.squares, sgdSlot.rate]
      : [sgdSlot.weight];
    return stateArrays({
      row: { meanAlpha, order },
      column: { weights },
      worker: { clocks, generators },
      local: { lines: { lines, stride: sgdStride, slots } },
    });
  }
}

export const sgd: SolverCode<SgdSettings, SgdMemory> = {
  allocate: allocateSgd,
  create: (context, memory, settings, loss) => new Sgd(context, memory, settings, loss),
};
