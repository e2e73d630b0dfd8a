import { type StateArray, stateArrays } from '../../engine/checkpoint/state.ts';
import { log } from '../../math/elementary.ts';
import { hasAllSlopes, type Loss } from '../../problem/losses/loss.ts';
import { BlockMethod, BlockState } from '../block-state.ts';
import { type Gap, relativeGap } from '../objective/objective.ts';
import type { SolverCode, SolverContext } from '../solver.ts';
import { ColumnPart } from './columns.ts';
import { firstRound, GrowingSet } from './growing-set.ts';
import { allocateInterior, type InteriorMemory, type InteriorSettings } from './memory.ts';
import { noOffer, OfferedPoint, type OfferState } from './offered-point.ts';
import { addProducts, aimAt, bringTowards, limitSteps, named, type PairSum } from './pairs.ts';
import { RowPart } from './rows.ts';
import { SetSystem } from './set-system.ts';
import { ShortSystem } from './short-system.ts';
import type { StepSystem } from './system.ts';
import { TallSystem } from './tall-system.ts';

/** How far of the way to the first pair that would reach 0 a step goes. */
const nearly = 0.995;
/** Correctors after Mehrotra's. */
const correctors = 2;
/** A corrector that lengthens both steps together by less than this is dropped. */
const worthwhile = 0.02;
/** A step is long enough from here on. */
const long = 0.9;
/** Products need not fall below this share of what the tolerance leaves them: only digits are lost. */
const belowTolerance = 0.1;
/** A step as long as no pair forbids. */
const unlimited = 1e30;

/** Steps without a smaller gap after which no more is expected. */
const patience = { all: 40, set: 100 } as const;

/** Columns that join a growing set at a time, if nothing else is asked for. */
const joining = 500;

/**
 * A primal-dual interior point method (Mehrotra 1992; Gondzio 1996) for every loss and penalty whose
 * linear systems have a small side. An epoch is a step: a factorization and three or four solutions.
 */
class InteriorPoint extends BlockMethod {
  /** `dual`: of the last evaluation. */
  protected override readonly scalars: OfferState & { dual: number } = {
    ...noOffer(),
    dual: -Infinity,
  };
  override readonly result = 'latest';
  readonly #memory: InteriorMemory;
  readonly #loss: Loss;
  readonly #rows: readonly RowPart[];
  readonly #columns: readonly ColumnPart[];
  readonly #system: StepSystem;
  readonly #short: ShortSystem | undefined;
  readonly #set: GrowingSet | undefined;
  /** A linear program: primal and dual steps have lengths of their own. */
  readonly #isLinear: boolean;
  readonly #offered: OfferedPoint;
  #gap: Gap | undefined;

  constructor(
    context: SolverContext,
    memory: InteriorMemory,
    settings: InteriorSettings,
    loss: Loss,
  ) {
    super(new BlockState(context), memory, memory.rows.alpha);
    const { problem } = context;
    this.#memory = memory;
    this.#loss = loss;
    const { rows, columns, iterate, system } = memory;
    this.#rows = this.state.parts.map((part) => new RowPart(this.state, part, rows, iterate, loss));
    this.#columns = this.state.parts.map((part) => new ColumnPart(this.state, part, columns));
    const arrays = {
      rowScales: rows.scales,
      residuals: rows.residuals,
      alpha: rows.alpha,
      columnScales: columns.scales,
      columnResiduals: columns.right,
      step: columns.solution,
      rowImage: rows.image,
    };
    const constantScales = loss.pieces === 1 && hasAllSlopes(loss);
    this.#short = system.rows && new ShortSystem(context, system.rows, arrays);
    if (system.set) {
      const { growing } = system.set;
      this.#set = new GrowingSet(
        context,
        growing,
        columns.members,
        Object.assign(this.scalars, firstRound),
        { joining: settings.joining ?? joining, yields: settings.yields },
      );
      this.#system = new SetSystem(context, system.set.system, arrays, this.#set.columns);
    } else {
      this.#system =
        this.#short ?? new TallSystem(context, system.columns!, arrays, constantScales);
    }
    const curved = loss.pieces === undefined;
    const bend = loss.conjugateCurvature?.(0, 0, loss.parameter) ?? 0;
    this.#isLinear = !curved && bend === 0 && !(problem.penalty.l2 > 0);
    const parts = { rows: this.#rows, columns: this.#columns };
    this.#offered = new OfferedPoint(context, loss, memory, parts, this.scalars);
    if (context.resumes) return;
    if (this.#set) this.#beginSet(this.#set);
    this.#start();
  }

  /** The first set: by the slopes where all margins are the same. */
  #beginSet(set: GrowingSet): void {
    const { objective, team } = this.context;
    const { iterate, rows, columns } = this.#memory;
    const margin = this.#startingIntercept();
    objective.ownRows(iterate).fill(margin);
    team.barrier();
    objective.dualPoint(iterate, rows.alpha);
    team.barrier();
    objective.image(objective.withinDomain(rows.alpha), columns.image);
    this.passes++;
    set.begin(columns.image);
  }

  #rowPart(worker: number): RowPart {
    return this.#rows[worker - this.context.team.first];
  }

  #columnPart(block: number): ColumnPart {
    return this.#columns[block - this.context.team.first];
  }

  #start(): void {
    const { team, problem, objective } = this.context;
    const { columns, iterate, rows } = this.#memory;
    const margin = this.#startingIntercept();
    const [spread] = team.reduce(1, (worker, values) =>
      this.#rowPart(worker).addDistances(margin, values),
    );
    const room = spread > 0 ? spread / rows.pieces.length : 1;
    for (const part of this.#rows) part.start(margin, room);
    const { total, count } = this.#products([0, 0]);
    const columnCount = problem.columns;
    const mu = count > 0 ? total / count : (room * room) / (problem.rows + columnCount);
    // How large the values of a column are decides how large its weight may be at first.
    const sizes = this.#memory.trial;
    if (problem.box) {
      objective.ownRows(rows.alpha).set(objective.ownRows(problem.rowWeights));
      team.barrier();
      objective.image(rows.alpha, undefined, sizes);
    }
    for (const block of this.state.parts) {
      const own = objective.columnsOf(sizes, block);
      this.#columnPart(block).start(mu, room, own);
    }
    const own = problem.interceptPosition;
    if (this.state.isOwn(own)) columns.weights[own] = margin;
    team.barrier();
    const point = { weights: columns.weights, margins: iterate };
    objective.margins(columns.weights, iterate);
    // So that there is a point whatever the steps lead to.
    if (this.scalars.offered === Infinity) {
      this.#offered.take(point, objective.primal(point.weights, point.margins), -Infinity);
    }
    // And the image that the first epoch begins with.
    this.passes += 2;
  }

  /** Where all margins begin: the mean label of regression, or what stands for it. */
  #startingIntercept(): number {
    if (!this.context.problem.intercept || this.#loss.task === 'classification') return 0;
    const [mean] = this.context.team.reduce(1, (worker, values) =>
      this.#rowPart(worker).addLabels(values),
    );
    return this.#loss.link === 'log' ? log(Math.max(mean, 1e-10)) : mean;
  }

  /** The sum of all products after steps of these lengths, and their number. */
  #products(lengths: readonly [number, number]): { total: number; count: number } {
    const [total, count] = this.context.team.reduce(2, (part, values) => {
      for (const pairs of this.#pairsOf(part)) addProducts(pairs, lengths, values);
    });
    return { total, count };
  }

  #pairsOf(part: number): PairSum[] {
    return [...this.#rowPart(part).pairs, ...this.#columnPart(part).pairs];
  }

  epoch(): void {
    const { objective, team } = this.context;
    const { columns } = this.#memory;
    if (!this.#gap) this.#differentiate();
    this.#gap = undefined;
    if (this.#set) this.#grow(this.#set);
    if (this.#set?.isStuck) return;
    for (const part of this.#rows) part.scale();
    for (const part of this.#columns) part.scale();
    team.barrier();
    this.#system.prepare();
    this.passes += this.#system.share ?? 1;
    this.#solve(true);
    const [primal, dual] = this.#direct();
    for (const part of this.#rows) part.move(primal, dual);
    for (const part of this.#columns) part.move(primal, dual);
    this.#short?.move(primal);
    team.barrier();
    // Afresh: rounding shows as a residual, which the next step corrects.
    objective.margins(columns.weights, this.#memory.iterate);
    this.passes++;
  }

  #grow(set: GrowingSet): void {
    const { offered: primal, best: dual } = this.scalars;
    const { image, weights } = this.#memory.columns;
    const growth = set.advance(image, relativeGap({ primal, dual }));
    if (growth === 'anew') {
      this.#start();
      this.#differentiate();
    } else if (growth === 'joined') {
      const { total, count } = this.#products([0, 0]);
      for (const part of this.#columns) part.join(total / count);
      this.context.team.barrier();
      this.context.objective.margins(weights, this.#memory.iterate);
      this.passes++;
    }
  }

  /** Whether another method should take over. */
  get isStuck(): boolean {
    return this.#set?.isStuck || this.#offered.isIdle(this.#set ? patience.set : patience.all);
  }

  /** α and its image. */
  #differentiate(): void {
    const { rows, columns } = this.#memory;
    for (const part of this.#rows) part.dualPoint();
    this.context.team.barrier();
    this.context.objective.image(rows.alpha, columns.image);
  }

  /** The affine direction, or a correction of it. */
  #solve(affine: boolean): void {
    const { team } = this.context;
    const { rows } = this.#memory;
    this.#short?.setLack(affine, rows.alpha);
    for (const part of this.#rows) part.residual(affine);
    for (const part of this.#columns) part.residual(affine);
    team.barrier();
    this.#system.solve();
    this.passes += 2 * (this.#system.share ?? 1);
    if (affine) this.#short?.takeStep(true, 1);
    for (const part of this.#rows) part.expand(affine);
    for (const part of this.#columns) part.expand(affine);
    team.barrier();
  }

  /** Corrects the direction; returns the lengths of the primal and the dual step. */
  #direct(): readonly [number, number] {
    const { total, count } = this.#products([0, 0]);
    if (count === 0) return [1, 1];
    const mu = total / count;
    let lengths = this.#limits([0])[0];
    const after = this.#products([Math.min(1, lengths[0]), Math.min(1, lengths[1])]).total / total;
    const target = Math.max(
      mu * Math.max(1e-8, Math.min(1, after * after * after)),
      this.#leastTarget(count),
    );
    this.#forPairs((pairs) => aimAt(pairs, target));
    this.#solve(false);
    const first = this.#bestFactor(0.6);
    let { length } = first;
    ({ lengths } = first);
    this.#addCorrection(first.factor);
    for (let k = 0; k < correctors && Math.min(...lengths) < long; k++) {
      const [primal, dual] = lengths.map((one) => Math.min(1, 1.5 * one + 0.1));
      this.#forPairs((pairs) => bringTowards(pairs, target, [primal, dual]));
      this.#solve(false);
      const found = this.#bestFactor(0.1);
      if (found.length < length + worthwhile) break;
      this.#addCorrection(found.factor);
      ({ lengths, length } = found);
    }
    const [primal, dual] = lengths.map((one) => Math.min(1, nearly * one));
    return [primal, dual];
  }

  /** What products need not fall below as long as the gap is above the tolerance. */
  #leastTarget(count: number): number {
    const { offered, best } = this.scalars;
    const { primal, dual, accuracy } = this.#set?.round ?? {
      primal: offered,
      dual: best,
      accuracy: this.context.tolerance,
    };
    if (!(relativeGap({ primal, dual }) > accuracy) || !(primal < Infinity)) return 0;
    return (belowTolerance * accuracy * Math.abs(primal)) / count;
  }

  #forPairs(visit: (pairs: PairSum) => void): void {
    for (const part of this.state.parts) for (const pairs of this.#pairsOf(part)) visit(pairs);
    this.context.team.barrier();
  }

  #addCorrection(factor: number): void {
    this.#short?.takeStep(false, factor);
    for (const part of this.#rows) part.addCorrection(factor);
    for (const part of this.#columns) part.addCorrection(factor);
    this.context.team.barrier();
  }

  /** The longest steps along the direction with these shares of its correction. */
  #limits(factors: readonly number[]): (readonly [number, number])[] {
    const found = this.context.team.reduce(
      2 * factors.length,
      (part, values) => {
        for (const { pairs } of this.#pairsOf(part)) limitSteps(pairs, factors, values);
      },
      'max',
    );
    return factors.map((_, k) => {
      const primal = found[2 * k] > 0 ? 1 / found[2 * k] : unlimited;
      const dual = found[2 * k + 1] > 0 ? 1 / found[2 * k + 1] : unlimited;
      const least = Math.min(primal, dual);
      return this.#isLinear ? [primal, dual] : [least, least];
    });
  }

  /** The share of the correction, from `from` to 1, that allows the longest steps. */
  #bestFactor(from: number) {
    const factors = [0, 1, 2, 3, 4].map((k) => from + ((1 - from) * k) / 4);
    let best = { factor: 1, lengths: [0, 0] as readonly [number, number], length: -1 };
    for (const [k, lengths] of this.#limits(factors).entries()) {
      const length = Math.min(1, lengths[0]) + Math.min(1, lengths[1]);
      if (length >= best.length) best = { factor: factors[k], lengths, length };
    }
    return best;
  }

  override evaluate(_whole: boolean): Gap {
    this.#gap ??= this.#evaluate();
    return this.#gap;
  }

  #evaluate(): Gap {
    const { objective, problem } = this.context;
    const { columns, iterate, rows } = this.#memory;
    this.#differentiate();
    this.passes++;
    const feasible = problem.intercept ? objective.withinDomain(rows.alpha) : rows.alpha;
    const image = problem.intercept ? objective.scratchImage : columns.image;
    if (problem.intercept) {
      objective.image(feasible, image);
      this.passes++;
    }
    const dual = objective.dualOfImage(feasible, image);
    const primal = objective.primal(columns.weights, iterate);
    if (this.#set) {
      this.#set.restrict(image, objective.scratchImage);
      this.#set.note(primal, objective.dualOfImage(feasible, objective.scratchImage));
    }
    this.passes += this.#offered.take({ weights: columns.weights, margins: iterate }, primal, dual);
    this.scalars.dual = dual;
    this.#offered.watch(primal);
    return { primal: this.scalars.offered, dual };
  }

  override arrays(): StateArray[] {
    const { weights, margins, rows, columns, system } = this.#memory;
    const { positive, negative, atLow, atHigh, duals, members, weights: iterate } = columns;
    const row: Record<string, Float64Array> = { margins };
    for (const [k, { slopes, above, below }] of rows.pieces.entries()) {
      Object.assign(row, { [`slopes${k}`]: slopes, ...named(`above${k}`, above) });
      Object.assign(row, named(`below${k}`, below));
    }
    if (system.rows) row.a = system.rows.a;
    const column = {
      weights,
      iterate,
      duals,
      ...named('positive', positive),
      ...named('negative', negative),
      ...named('atLow', atLow),
      ...named('atHigh', atHigh),
      ...(this.#set && { members, left: this.#set.left }),
    };
    return stateArrays({ row, column });
  }

  /** Every epoch ends with an evaluation, which is not made again. */
  override resume(): void {
    const { columns, iterate } = this.#memory;
    this.#set?.resume();
    this.context.objective.margins(columns.weights, iterate);
    this.#differentiate();
    this.#gap = { primal: this.scalars.offered, dual: this.scalars.dual };
  }
}

export const interiorPoint: SolverCode<InteriorSettings, InteriorMemory> = {
  allocate: allocateInterior,
  create: (context, memory, settings, loss) => new InteriorPoint(context, memory, settings, loss),
};
