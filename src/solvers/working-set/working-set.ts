import { type StateArray, stateArrays } from '../../engine/checkpoint/state.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { BlockMethod, BlockState } from '../block-state.ts';
import { type Gap, relativeGap } from '../objective/objective.ts';
import type { SolverCode, SolverContext } from '../solver.ts';
import { everywhere } from '../whole.ts';
import { ColumnSet } from './column-set.ts';
import { differentiate } from './curvatures.ts';
import { isSmall, solveExactly } from './gram.ts';
import { moveIntercept } from './intercept.ts';
import { LineSearch } from './line-search.ts';
import { allocateWorkingSet, type WorkingSetMemory } from './memory.ts';
import { Model } from './model.ts';
import { repair } from './repair.ts';
import { SubspaceStep } from './subspace.ts';

/** An epoch ends when the worst violation has fallen to this share of what it met at first. */
const enough = 0.3;
/** A model ends when the worst violation has fallen to this share within it. */
const enoughOfModel = 0.1;
const mostModels = 50;
const mostCycles = 200;
/** Passes from which on an epoch ends: time, signals and another solver get their turn between epochs. */
const mostPasses = 300;
/** After a cycle, columns with this share of its worst violation are visited again, and how often. */
const worstAgain = 0.1;
const mostRevisits = 20;
/** The subproblem of a larger λ ends at violations of this share of its l1. */
const rough = 0.3;
/** From one λ of the continuation to the next. */
const reduction = 10;
/** α is worth repairing when the gap is below this many times the tolerance. */
const near = 8;
/** Epochs between two computations of the margins from nothing but the weights. */
const refreshEvery = 8;
const leastBound = -1e300;

export type WorkingSetSettings = Readonly<Record<string, never>>;

/** What an evaluation finds at the columns. */
interface Violations {
  /** The worst, in units of the gradient. */
  readonly worst: number;
  /** Σ |w_j| of penalised columns. */
  readonly norm: number;
  /** Σ |w_j| max(0, |v_j| − l1_j): what P would lose for D to be tight. */
  readonly cost: number;
  /** The largest |v_j| / l1_j. */
  readonly ratio: number;
}

/**
 * Proximal Newton on a working set, for smooth losses and penalties with an L1 part. An epoch is an
 * outer iteration: W holds the columns that are not 0 or whose gradient is above its bound, and
 * quadratic models of P on W are minimised by coordinate cycles, each followed by a line search.
 *
 * Exact zeros come from soft thresholds and from steps that end at kinks; nothing is rounded to 0.
 */
class WorkingSet extends BlockMethod {
  /** `level`: λ is multiplied by it while larger ones lead to a first point. */
  protected override readonly scalars = {
    primal: 0,
    dual: leastBound,
    damping: 1e-3,
    level: 1,
    epochs: 0,
  };
  override readonly result = 'latest';
  readonly #memory: WorkingSetMemory;
  readonly #loss: Loss;
  readonly #set: ColumnSet;
  readonly #model: Model;
  readonly #subspace: SubspaceStep;
  readonly #search: LineSearch;
  #dual = leastBound;
  #until = Infinity;

  constructor(context: SolverContext, memory: WorkingSetMemory, loss: Loss) {
    super(new BlockState(context), memory, memory.offered);
    this.#memory = memory;
    this.#loss = loss;
    const isExact = loss.pieces === 1 && isUnbounded(loss);
    this.#set = new ColumnSet(this.state, memory);
    this.#model = new Model(this.#set, loss, isExact);
    this.#subspace = new SubspaceStep(this.#model);
    this.#search = new LineSearch(this.#set, isExact);
    this.#spread();
    if (context.resumes) return;
    if (context.start) this.startAt(context.start);
    this.#evaluate();
    if (!context.start && !loss.openEnds) this.scalars.level = this.#firstLevel();
  }

  /** Penalties and counts of all columns, in every process. */
  #spread(): void {
    const { context } = this;
    const { objective, problem } = context;
    const { all, visiting } = this.#memory;
    const { columnCounts } = problem.grid.partition;
    const [begin, end] = this.state.ownColumns;
    const copy = (home: ArrayLike<number>, whole: Float64Array) => {
      const own = objective.ownColumns(visiting);
      for (let j = begin; j < end; j++) own[j - begin] = home[j];
      context.team.barrier();
      everywhere(context, visiting, whole);
    };
    copy(problem.l1, all.l1);
    copy(problem.l2, all.l2);
    copy(columnCounts, all.counts);
  }

  /** The largest power of ten times λ at which a column would leave 0 from w = 0. */
  #firstLevel(): number {
    const { ratio } = this.#violations(1);
    let level = 1;
    while (level * reduction < ratio && level < 1e12) level *= reduction;
    return level;
  }

  epoch(): void {
    const { scalars } = this;
    const { all } = this.#memory;
    scalars.epochs++;
    let found = this.#violations(scalars.level);
    while (scalars.level > 1 && found.worst <= this.#roughly()) {
      scalars.level /= reduction;
      found = this.#violations(scalars.level);
    }
    const { level } = scalars;
    const belongs = (j: number) =>
      all.weights[j] !== 0 ||
      all.l1[j] === 0 ||
      Math.abs(all.image[j] - level * all.l2[j] * all.weights[j]) > level * all.l1[j];
    this.#set.choose(belongs, 2 * scalars.epochs, level);
    this.#subspace.clear();
    const first = this.#descend(this.#needed(found));
    this.#set.store(this.weights);
    if (scalars.epochs % refreshEvery === 0) {
      this.context.objective.margins(this.weights, this.margins);
      this.#set.moved();
      this.passes++;
    }
    if (level > 1 && first <= this.#roughly()) scalars.level /= reduction;
    this.#evaluate();
  }

  #roughly(): number {
    return (
      rough * this.scalars.level * this.context.problem.lambda * this.context.problem.penalty.l1
    );
  }

  /** The worst violation that a certificate allows. */
  #needed({ norm }: Violations): number {
    const { tolerance, problem } = this.context;
    const { level, primal } = this.scalars;
    if (level > 1) return 0.5 * this.#roughly();
    const allowed = tolerance * Math.abs(primal);
    const l2 = problem.lambda * problem.penalty.l2;
    if (l2 > 0) return Math.sqrt((l2 * allowed) / Math.max(1, this.#set.size));
    return norm > 0 ? (0.5 * allowed) / norm : 0;
  }

  /** Models on W; returns the worst violation that the first of them met. */
  #descend(needed: number): number {
    let [first, goal] = [0, 0];
    this.#until = this.passes + mostPasses;
    for (let k = 0; k < mostModels && this.passes < this.#until; k++) {
      const { worst, length } = this.#minimise(goal, needed, k > 0);
      if (k === 0) {
        first = worst;
        goal = Math.max(enough * worst, needed);
      }
      if (worst <= goal ? k > 0 : length === 0) break;
    }
    return first;
  }

  /** One model and its line search. */
  #minimise(goal: number, needed: number, isLater: boolean) {
    const { scalars } = this;
    const model = this.#model;
    model.refresh(scalars.damping);
    this.#subspace.refresh();
    let first = 0;
    for (let k = 0; k < mostCycles; k++) {
      model.mark();
      const { work, worst } = model.cycle();
      this.#count(work);
      if (k === 0) first = worst;
      const aim = isLater ? goal : Math.max(enough * first, needed);
      if (
        k === 0 ? isLater && worst <= goal : worst <= enoughOfModel * first || worst <= 0.5 * aim
      ) {
        break;
      }
      if (isSmall(this.#set)) {
        this.#count(solveExactly(this.#set, Math.min(0.01 * first, 0.1 * aim)));
        break;
      }
      this.#revisit(worstAgain * worst, model.gain / work);
      if (this.#isTooFar() || this.passes >= this.#until) break;
    }
    const length = this.#search.go();
    if (length < 0.5) scalars.damping = Math.min(1, 10 * Math.max(scalars.damping, 1e-6));
    else if (length > 0.9) scalars.damping = Math.max(1e-8, scalars.damping / 4);
    return { worst: first, length };
  }

  /** After a cycle a few columns are far worse than the others: cycles over them. */
  #revisit(above: number, rate: number): void {
    const set = this.#set;
    const model = this.#model;
    for (let k = 0; k < mostRevisits; k++) {
      const count = set.countAbove(above, 0, set.size);
      if (count === 0 || count > set.size / 2) return;
      const before = model.gain;
      const { work } = model.cycle(above);
      this.#count(work);
      if (model.gain - before < rate * work || this.passes >= this.#until) return;
    }
  }

  /** After a cycle: the step in the subspace, and whether the model is no longer near P. */
  #isTooFar(): boolean {
    const model = this.#model;
    const error = model.error();
    if (error > model.gain) return true;
    model.keep();
    const before = model.gain;
    if (!this.#subspace.step()) return false;
    const after = model.error();
    if (after > error + 0.5 * (model.gain - before)) {
      model.goBack();
      return true;
    }
    return after > model.gain;
  }

  #count(work: number): void {
    this.passes += work / Math.max(1, this.context.problem.nonzeros);
  }

  /** P, α, its image and D at the present weights. */
  #evaluate(): void {
    const { objective, problem } = this.context;
    const { alpha, image, offered } = this.#memory;
    if (problem.intercept) this.#moveIntercept();
    this.#differentiate();
    this.passes++;
    this.scalars.primal = this.#primal();
    const isBalanced = !problem.intercept || Math.abs(this.#imageOfOnes()) <= 1e-12;
    this.#dual = isBalanced ? objective.dualOfImage(alpha, image) : objective.dual(alpha);
    if (!isBalanced) this.passes++;
    objective.ownRows(offered).set(objective.ownRows(alpha));
    this.#raise();
    this.#repair();
  }

  #primal(): number {
    const { objective, problem, team } = this.context;
    const { lossSum } = this.#set;
    if (lossSum === undefined) return objective.primal(this.weights, this.margins);
    const [penalty] = team.reduce(1, (block, values) => {
      const [w, l1, l2] = [this.weights, problem.l1, problem.l2].map((all) =>
        objective.columnsOf(all, block),
      );
      values[0] = this.context.kernels.penaltySum(w, l1, l2);
    });
    return penalty + lossSum / problem.totalWeight;
  }

  #raise(): void {
    this.scalars.dual = Math.max(this.scalars.dual, this.#dual);
  }

  #moveIntercept(): void {
    const { interceptPosition } = this.context.problem;
    const change = moveIntercept(this.#set);
    if (this.state.isOwn(interceptPosition)) this.weights[interceptPosition] += change;
    this.context.team.barrier();
  }

  #imageOfOnes(): number {
    const { team, problem } = this.context;
    const { interceptPosition, grid } = problem;
    const { columnStarts } = grid.partition;
    const [sum] = team.reduce(1, (block, values) => {
      const isHere =
        interceptPosition >= columnStarts[block] && interceptPosition < columnStarts[block + 1];
      if (isHere) values[0] = this.#memory.image[interceptPosition];
    });
    return sum;
  }

  /** α of the margins, and its image, in every process. */
  #differentiate(): void {
    const { context } = this;
    const { alpha, image, all, rows } = this.#memory;
    const { objective, kernels, problem, team } = context;
    if (!this.#set.isDifferentiated) differentiate(this.#set);
    const own = [problem.rowWeights, rows.derivatives, alpha].map((of) => objective.ownRows(of));
    kernels.multiplyInto(own[0], own[1], own[2]);
    kernels.scaleInto(own[2], own[2], -1);
    team.barrier();
    objective.image(alpha, image);
    everywhere(context, image, all.image);
    everywhere(context, this.weights, all.weights);
  }

  /** Where the gap is nearly closed, a dual point that is moved instead of shrunk may close it. */
  #repair(): void {
    const { objective, problem, tolerance } = this.context;
    const { primal, level } = this.scalars;
    if (problem.penalty.l2 > 0 || problem.intercept || level > 1) return;
    const gap = relativeGap(this.scalars);
    const allowed = tolerance * Math.abs(primal);
    if (gap <= tolerance || gap >= Math.min(1, near * tolerance)) return;
    const { norm, cost } = this.#violations(1);
    if (cost >= 0.5 * allowed || !(norm > 0)) return;
    const share = (0.2 * allowed) / (problem.lambda * problem.penalty.l1 * norm);
    const { repaired, offered } = this.#memory;
    const id = 2 * this.scalars.epochs + 1;
    this.#count(repair(this.#set, repaired, id, { allowed: share, loss: this.#loss }));
    const bound = objective.dual(repaired);
    this.passes++;
    if (bound <= this.#dual) return;
    this.#dual = bound;
    this.#raise();
    objective.ownRows(offered).set(objective.ownRows(repaired));
  }

  #violations(level: number): Violations {
    const { all, stats } = this.#memory;
    this.#set.onFirst(() =>
      this.context.kernels.measureViolations(all.weights, all.image, all.l1, all.l2, level, stats),
    );
    const [worst, norm, cost, ratio] = stats;
    this.context.team.barrier();
    return { worst, norm, cost, ratio };
  }

  override evaluate(_whole: boolean): Gap {
    return { primal: this.scalars.primal, dual: this.#dual };
  }

  override arrays(): StateArray[] {
    const { margins, weights } = this.#memory;
    return stateArrays({ row: { margins }, column: { weights } });
  }

  override resume(): void {
    this.#differentiate();
  }
}

function isUnbounded({ conjugateLow, conjugateHigh, parameter }: Loss): boolean {
  return conjugateLow(1, parameter) === -Infinity && conjugateHigh(1, parameter) === Infinity;
}

export const workingSet: SolverCode<WorkingSetSettings, WorkingSetMemory> = {
  allocate: allocateWorkingSet,
  create: (context, memory, _settings, loss) => new WorkingSet(context, memory, loss),
};
