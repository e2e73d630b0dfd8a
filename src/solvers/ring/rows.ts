import type { CellVisit } from '../../engine/cells.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { BlockMethod } from '../block-state.ts';
import { pendingPart, type RowStep } from '../kernels/kernels.ts';
import type { Gap } from '../objective/objective.ts';
import { inChunks } from '../orders.ts';
import type { SolverCode, SolverContext, WarmStart } from '../solver.ts';
import { startingAlpha, startingShare } from '../warm-start.ts';
import { Damping, InterceptStep, rotationsFor, searchLine, tracksLocalUpdates } from './damping.ts';
import { expectedOverlap, LocalUpdates } from './local-updates.ts';
import { ColumnCurvature } from './rows-columns.ts';
import { allocateRingRows, type RingRowsMemory, RowModeState } from './rows-state.ts';
import { usesStages } from './stage-rules.ts';
import { expectedCrowd, firstShare, Stages } from './stages.ts';

/** A proximal subproblem counts as solved when its gap is this share of the whole problem's. */
const solved = 0.1;
/** Epochs in which a proximal subproblem should be solved. */
const quickEpochs = 4;
const slowEpochs = 40;
/** How much less than all other columns of a row together the intercept counts, to begin with. */
const interceptWeight = 10;

export interface RingRowsOptions {
  /** Whether w is a non-linear function of its image (L1, factors, proximal terms, a box). */
  readonly mapped: boolean;
  /** Whether weights are bounded. */
  readonly bounded?: boolean;
  /** Weight μ of the proximal term on columns whose penalty has no curvature. */
  readonly proximal: number;
  readonly rotations?: number;
  /** Whether workers go by coarse stages where these suit the data. */
  readonly staged?: boolean;
  /** Whether the non-zeros are on disk. */
  readonly stored?: boolean;
  /** Start from the dual point of w = 0 rather than from α = 0, where ℓ*' is infinite. */
  readonly startInside: boolean;
}

/**
 * Row mode of the ring solver: exact dual steps α_i on small batches that are pipelined round the
 * ring, for any loss. In a rotation every worker, at every visit, first applies the changes of its
 * previous batch to the visiting block of w and then adds the block's part to the margins of its
 * current batch; after p visits the margins are complete and the batch takes its dual steps.
 * Momentum carries over epochs, and an exact line search keeps the dual objective rising.
 *
 * With few rotations batches are long, and a worker's steps take account of each other: see LocalUpdates.
 * An epoch then ends with the margins of all rows, which serve its evaluation and the first batch of
 * the next epoch: B + 1 rotations in all.
 *
 * The steps need a penalty with curvature. Columns without (the intercept; all of them under a
 * pure L1 penalty) get a proximal term (μ/2)(w_j − c_j)² whose centre follows the iterate.
 */
export class RingRows extends BlockMethod<RowModeState> {
  override readonly result = 'combined';
  protected override readonly scalars = {
    momentum: 0,
    /** Whether the proximal centre moves to the current w before the next epoch. */
    recentreNext: true,
    epochsSinceRecentring: 0,
    slack: 0,
  };
  readonly #curvature: ColumnCurvature;
  readonly #rotations: number;
  readonly #damping: Damping;
  /** Only with few rotations. */
  readonly #localUpdates: LocalUpdates | undefined;
  /** Only where the workers go by coarse stages. */
  readonly #stages: Stages | undefined;
  /** How much rows collide in the intercept's column. */
  readonly #interceptOverlap: number;
  readonly #interceptStep: InterceptStep;

  constructor(
    context: SolverContext,
    memory: RingRowsMemory,
    options: RingRowsOptions,
    loss: Loss,
  ) {
    const { rows, nonzeros, grid } = context.problem;
    const few = tracksLocalUpdates(options.rotations, grid.size);
    const staged = usesStages(options.staged, grid.partition);
    const state = new RowModeState(context, memory, options.mapped, few);
    super(state, memory, memory.alpha);
    this.#curvature = new ColumnCurvature(state, few || staged);
    const overlapOf = (count: number) => {
      if (staged) return expectedCrowd(count, grid.size);
      return few ? expectedOverlap(count, options.rotations ?? rows, grid.size) : count / rows;
    };
    this.#curvature.prepareColumns(options.proximal, overlapOf);
    const { norm, collision } = this.#curvature.prepareNorms();
    this.#rotations = rotationsFor(rows, collision, nonzeros, grid.size, options.rotations);
    this.#interceptOverlap = overlapOf(rows);
    this.#damping = staged
      ? Damping.from(firstShare)
      : new Damping(few ? 1 : rows / this.#rotations);
    const weight = (interceptWeight * (1 + this.#damping.value * this.#interceptOverlap)) / norm;
    this.#interceptStep = new InterceptStep(weight, 1 / (interceptWeight * norm));
    this.#curvature.prepareIntercept(weight, this.#interceptOverlap);
    this.#localUpdates = few ? new LocalUpdates(context, memory) : undefined;
    this.#localUpdates?.learnCurvature(memory.inverse);
    this.#stages = staged ? new Stages(state, memory) : undefined;
    state.startCold(options.startInside);
    if (context.start) this.#startFrom(context.start, loss);
    state.settle();
  }

  /** A point between the cold start and the one suggested, see startingShare. */
  #startFrom(start: WarmStart, loss: Loss): void {
    const { state } = this;
    const { margins, alpha } = state.memory;
    state.centreAt(start.weights);
    state.extrapolate(0, false);
    this.passes += 1 + startingAlpha(this.context, start, loss, margins, alpha);
    state.recomputeImage();
    state.moveTo(startingShare(this.#search().eta));
  }

  /** Not where proximal terms and an intercept add to the gap what no row has. */
  get slack(): number | undefined {
    return this.state.mapped ? undefined : this.scalars.slack;
  }

  /** With one worker, which hands nothing on, every row is a batch; between stages nothing rotates. */
  get rotations(): number {
    return this.context.problem.grid.size === 1 || this.#stages ? 0 : this.#rotations;
  }

  epoch(): void {
    const { kernels, problem, team } = this.context;
    const { scalars, state } = this;
    const { recentreNext } = scalars;
    if (recentreNext) this.#adaptProximal();
    // A new centre is a new problem, unless it is the intercept's alone.
    if (recentreNext && !(problem.penalty.l2 > 0)) scalars.momentum = 0;
    state.extrapolate(scalars.momentum / (scalars.momentum + 3), recentreNext);
    scalars.momentum++;
    for (const { batches, rows, start, stats } of state.mine) {
      batches.shuffle(kernels, rows.skip, rows.alpha, start);
      stats.fill(0);
    }
    if (team.shared.workers === 1) this.#sweep();
    else if (this.#stages) this.#stages.sweep(this.#step());
    else this.#rotate();
    const [work, effective, slack] = team.reduce(3, (worker, values) => {
      values.set(state.workers[worker].stats.subarray(0, 3));
    });
    this.passes += work / Math.max(1, problem.nonzeros);
    scalars.slack = slack / problem.totalWeight;
    const found = this.#search();
    state.moveTo(found.eta);
    state.refreshMargins();
    if (found.eta < 0.5) scalars.momentum = 0;
    // Whether many rows move or few, the other workers' do as one's own.
    const moving = this.#localUpdates || this.#stages ? 1 : effective / problem.rows;
    this.#damping.learn(found.exactness, moving);
    scalars.epochsSinceRecentring++;
  }

  /**
   * How heavy the proximal terms must be depends on the scale of labels and features. Subproblems
   * that are solved at once were too easy, those that drag on too hard.
   */
  #adaptProximal(): void {
    const { penalty, intercept } = this.context.problem;
    const epochs = this.scalars.epochsSinceRecentring;
    this.scalars.epochsSinceRecentring = 0;
    if (epochs === 0) return;
    if (!(penalty.l2 > 0)) {
      if (epochs < quickEpochs) this.#scaleProximal(0.5);
      else if (epochs > slowEpochs) this.#scaleProximal(2);
    } else if (intercept) {
      const pull = this.#curvature.interceptPull();
      // Where batches are long it might swing for ever.
      if (this.#localUpdates && this.#interceptStep.swings(pull)) this.scalars.momentum = 0;
      const factor = this.#interceptStep.observe(pull);
      if (factor !== 1) this.#scaleProximal(factor);
    }
  }

  #scaleProximal(factor: number): void {
    this.#curvature.scaleProximal(factor, this.#interceptOverlap);
    this.#localUpdates?.learnCurvature(this.state.memory.inverse);
  }

  #step(): RowStep {
    const { totalWeight, lambda } = this.context.problem;
    return {
      damping: this.#damping.value,
      inverseTotalWeight: 1 / totalWeight,
      deltaScale: this.state.mapped ? 1 / totalWeight : 1 / (lambda * totalWeight),
      shrink: 1,
    };
  }

  /** One worker: every row is a batch of its own. */
  #sweep(): void {
    const { kernels, objective } = this.context;
    const { rows, batches, stats } = this.state.workers[0];
    const { active } = batches;
    const { weights, map } = this.state.blocks[0];
    const step = this.#step();
    const sweep: CellVisit = (cell, begin, end) => {
      if (map) kernels.sweepRowsMapped(cell, active, begin, end, rows, step, map, weights, stats);
      else kernels.sweepRows(cell, active, begin, end, rows, step, weights, stats);
    };
    inChunks(0, batches.count, (begin, end) => {
      objective.cells.at(0, 0).over(active, begin, end, sweep);
    });
  }

  /** B rotations and one that only applies the last changes; with saved margins the first is spared. */
  #rotate(): void {
    const { kernels, objective, ring, team } = this.context;
    const { cells } = objective;
    const step = this.#step();
    const batchCount = this.#rotations;
    for (const worker of this.state.mine) worker.pendingCount = 0;
    this.#localUpdates?.assume(step.damping);
    if (this.state.savesMargins) this.#stepBatch(0, step);
    for (let batch = this.state.savesMargins ? 1 : 0; batch <= batchCount; batch++) {
      ring.rotate(this.state.fields, (worker, block, iteration) => {
        const { batches, margins, pending, pendingCount } = this.state.workers[worker];
        const { weights, map } = this.state.blocks[block];
        cells.at(worker, block).over(pending.units, 0, pendingCount, (cell, from, to) => {
          const part = pendingPart(pending, from, to);
          if (map) kernels.scatterMapped(cell, part, to - from, map, weights);
          else kernels.scatter(cell, part, to - from, weights);
        });
        if (batch === batchCount) return;
        const { active } = batches;
        const begin = batches.begin(batch, batchCount);
        const end = batches.begin(batch + 1, batchCount);
        cells.at(worker, block).over(active, begin, end, (cell, from, to) => {
          kernels.gather(cell, active, from, to, iteration === 0, weights, margins);
        });
      });
      if (batch < batchCount) this.#stepBatch(batch, step);
    }
    team.barrier();
  }

  /** The dual steps of a batch whose margins are complete. */
  #stepBatch(batch: number, step: RowStep): void {
    const { kernels, team } = this.context;
    const updates = this.#localUpdates;
    for (const [k, worker] of this.state.mine.entries()) {
      const { batches, margins, rows, pending, stats } = worker;
      const { active } = batches;
      const begin = batches.begin(batch, this.#rotations);
      const end = batches.begin(batch + 1, this.#rotations);
      worker.pendingCount = updates
        ? updates.step(team.first + k, worker, begin, end, step)
        : kernels.stepRows(active, begin, end, margins, rows, step, pending, stats);
    }
  }

  /** The maximiser of the dual on the segment from the epoch's start to its end. */
  #search() {
    const straight = this.state.mapped ? undefined : this.#straightSlope();
    return searchLine((eta) => this.#dualSlope(eta, straight));
  }

  /** d/dη of D at start + η (end − start); `straight` is the penalty's part where it is linear. */
  #dualSlope(eta: number, straight: readonly [number, number] | undefined): number {
    const { team, kernels, problem } = this.context;
    const [conjugate, penalty] = team.reduce(2, (part, values) => {
      const { rows, start } = this.state.workers[part];
      const { alpha, labels, rowWeights } = rows;
      values[0] = kernels.conjugateSlope(start, alpha, labels, rowWeights, eta);
      const { map, start: from } = this.state.blocks[part];
      if (map) values[1] = kernels.mappedSlope(map, from, eta);
    });
    const bend = straight ? straight[0] + eta * straight[1] : penalty;
    return conjugate / problem.totalWeight - bend;
  }

  /** λ Σ_j w_j dw_j as a function of η: (value at 0, growth). */
  #straightSlope(): [number, number] {
    const { team, problem, kernels } = this.context;
    const [value, growth] = team.reduce(2, (block, values) => {
      const { image, start } = this.state.blocks[block];
      values[0] = kernels.changeAlong(start, image);
      values[1] = kernels.changeSquare(start, image);
    });
    return [problem.lambda * value, problem.lambda * growth];
  }

  override evaluate(whole: boolean): Gap {
    const { problem, objective } = this.context;
    const { alpha } = this.state.memory;
    const curved = problem.penalty.l2 > 0;
    const { savesMargins } = this.state;
    const primal = whole || !curved || savesMargins ? this.#primal() : Infinity;
    if (this.#hasFeasibleImage())
      return { primal, dual: objective.dualOfImage(alpha, this.state.image()) };
    if (!whole && curved) return { primal, dual: -Infinity };
    const dual = objective.dual(alpha);
    if (!curved) this.scalars.recentreNext = this.#proximalGap(primal) <= solved * (primal - dual);
    return { primal, dual };
  }

  #primal(): number {
    const { objective } = this.context;
    if (!this.state.savesMargins) objective.margins(this.weights, this.margins);
    return objective.primal(this.weights, this.margins);
  }

  /**
   * How far the current subproblem, P plus the proximal term, is from its own optimum. With
   * ψ(w) = λφ(w) + (μ/2)(w − c)² and w maximising v w − ψ(w), the proximal terms of ψ(w) and ψ*(v)
   * cancel.
   */
  #proximalGap(primal: number): number {
    const { objective, team } = this.context;
    const [value] = team.reduce(1, (part, values) => {
      const { image, weights, map } = this.state.blocks[part];
      if (!map) return;
      for (let j = 0; j < weights.length; j++) {
        values[0] += image[j] * weights[j] - map.threshold[j] * Math.abs(weights[j]);
      }
    });
    return primal + value + objective.meanConjugate(this.state.memory.alpha);
  }

  /** Whether the image at hand is the one of a feasible α, so that D needs no pass. */
  #hasFeasibleImage(): boolean {
    const { penalty, intercept } = this.context.problem;
    return penalty.l2 > 0 && !intercept;
  }

  override save() {
    const [damping, interceptStep] = [this.#damping.save(), this.#interceptStep.save()];
    // Other schedules do not go on with it.
    const stages = this.#stages && { stages: this.#stages.count };
    return { ...super.save(), damping, interceptStep, ...stages };
  }

  override restore(saved: ReturnType<RingRows['save']>): void {
    const { damping, interceptStep, stages: _, ...rest } = saved;
    super.restore(rest);
    this.#damping.restore(damping);
    this.#interceptStep.restore(interceptStep);
  }

  override resume(): void {
    super.resume();
    this.#localUpdates?.learnCurvature(this.state.memory.inverse);
  }
}

export const ringRows: SolverCode<RingRowsOptions, RingRowsMemory> = {
  allocate: allocateRingRows,
  create: (context, memory, options, loss) => new RingRows(context, memory, options, loss),
};
