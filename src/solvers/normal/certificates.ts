import { panelWidth } from '../kernels/dense.ts';
import type { Certifier } from '../objective/certificate.ts';
import type { Objective } from '../objective/objective.ts';
import type { Problem } from '../objective/problem.ts';
import type { NormalContext, NormalProblem } from './run.ts';

/** A problem of the group, set up: its arrays are those of whichever was set up last. */
interface Open {
  readonly problem: Problem;
  readonly objective: Objective;
  readonly certifier: Certifier;
}

/**
 * P, D and their rounding errors for many solutions, as for any model, by two passes over the data: one
 * for all margins, one for the images of all dual points. α_i = −c_i ℓ'(u_i).
 */
export class SharedCertificates {
  readonly #context: NormalContext;
  readonly #first: number;
  readonly #problems: readonly NormalProblem[];
  /** The rows that are held out from the problem that was set up last. */
  #heldOut: number | undefined;
  #totalWeight = 0;

  constructor(context: NormalContext, first: number, end: number) {
    this.#context = context;
    this.#first = first;
    this.#problems = context.payload.problems.slice(first, end);
  }

  compute(): void {
    this.#fillPanels();
    this.#computeMargins();
    for (const slot of this.#problems.keys()) this.#measure(slot);
    this.#computeImages();
    for (const slot of this.#problems.keys()) this.#prove(slot);
  }

  get #panels(): number {
    return Math.ceil(this.#problems.length / panelWidth);
  }

  /** A line of 8 weights for each column; those of a last panel that is not full are 0. */
  #fillPanels(): void {
    const { payload, team } = this.#context;
    const { memory, problem, shared } = payload;
    const { columns } = problem;
    for (let panel = team.index; panel < this.#panels; panel += shared.threads) {
      const lines = this.#panelOf(memory.panelWeights, panel).fill(0);
      for (let v = 0; v < panelWidth; v++) {
        const slot = panel * panelWidth + v;
        if (slot >= this.#problems.length) break;
        const weights = memory.solutions.subarray((this.#first + slot) * columns);
        for (let j = 0; j < columns; j++) lines[j * panelWidth + v] = weights[j];
      }
    }
    team.barrier();
  }

  #panelOf(array: Float64Array, panel: number): Float64Array {
    const length = panelWidth * this.#context.payload.problem.columns;
    return array.subarray(panel * length, (panel + 1) * length);
  }

  /** Where the numbers of a panel's rows begin, from a row on. */
  #rowsFrom(array: Float64Array, panel: number, row: number): Float64Array {
    return array.subarray(panel * panelWidth * this.#rows + row);
  }

  get #rows(): number {
    return this.#context.payload.problem.labels.length;
  }

  #computeMargins(): void {
    const { payload, team, kernels, pieces } = this.#context;
    const { memory } = payload;
    for (let worker = team.first; worker < team.end; worker++) {
      pieces.through(worker, (piece, first) => {
        for (let panel = 0; panel < this.#panels && !team.interrupted; panel++) {
          const weights = this.#panelOf(memory.panelWeights, panel);
          const margins = this.#rowsFrom(memory.margins, panel, first);
          const sizes = this.#rowsFrom(memory.alpha, panel, first);
          kernels.gatherPanel(piece, piece.rows, weights, margins, sizes, this.#rows);
        }
      });
    }
    team.barrier();
  }

  #computeImages(): void {
    const { payload, team, kernels, pieces } = this.#context;
    const { memory } = payload;
    for (let worker = team.first; worker < team.end; worker++) {
      const [images, sizes] = [memory.images, memory.imageSizes].map((all) =>
        this.#ofWorker(all, worker).fill(0),
      );
      pieces.through(worker, (piece, first) => {
        for (let panel = 0; panel < this.#panels && !team.interrupted; panel++) {
          const alpha = this.#rowsFrom(memory.alpha, panel, first);
          const [lines, ofTerms] = [images, sizes].map((all) => this.#panelOf(all, panel));
          kernels.scatterPanel(piece, piece.rows, alpha, this.#rows, lines, ofTerms);
        }
      });
    }
    team.barrier();
  }

  #ofWorker(array: Float64Array, worker: number): Float64Array {
    const length = array.length / this.#context.team.shared.workers;
    return array.subarray(worker * length, (worker + 1) * length);
  }

  /** P, its rounding errors, and a dual point that is feasible but for its scale. */
  #measure(slot: number): void {
    const { payload, team } = this.#context;
    const { memory } = payload;
    const { objective, certifier } = this.#open(slot);
    const { weights, certificate } = memory;
    const margins = this.#ofSlot(memory.margins, slot);
    const sizes = this.#ofSlot(memory.alpha, slot);
    this.#copyColumns(slot, weights);
    objective.ownRows(certificate.marginSizes).set(objective.ownRows(sizes));
    team.barrier();
    const primal = objective.primal(weights, margins);
    const allowance = certifier.allowanceOf({ weights, margins });
    objective.dualPoint(margins, certificate.alpha);
    // The conjugate of the loss is finite everywhere, and with an intercept Σα is the slope of P by it.
    const isFeasible = certifier.makeFeasible(true);
    objective.ownRows(sizes).set(objective.ownRows(certificate.alpha));
    if (team.index === 0) {
      memory.isFeasible[slot] = Number(isFeasible);
      memory.results.set([primal, allowance, 0], 3 * (this.#first + slot));
    }
    team.barrier();
  }

  #prove(slot: number): void {
    const { payload, team } = this.#context;
    const { memory } = payload;
    const { objective, certifier } = this.#open(slot);
    this.#collectImage(slot, objective);
    team.barrier();
    const alpha = this.#ofSlot(memory.alpha, slot);
    const found = certifier.boundOf(alpha, memory.isFeasible[slot] === 1);
    const at = 3 * (this.#first + slot);
    const [primal, allowance] = memory.results.subarray(at);
    // A bound above P has come from numbers that are not finite.
    const bound = found.dual - allowance;
    team.barrier();
    if (team.index === 0) {
      memory.results.set([primal, bound <= primal ? bound : -Infinity, found.scale ?? 0], at);
    }
    team.barrier();
  }

  #ofSlot(array: Float64Array, slot: number): Float64Array {
    return array.subarray(slot * this.#rows, (slot + 1) * this.#rows);
  }

  /** The weights of a solution, block by block. */
  #copyColumns(slot: number, target: Float64Array): void {
    const { payload, team } = this.#context;
    const { columnStarts } = payload.problem.grid.partition;
    const at = (this.#first + slot) * payload.problem.columns;
    const [from, to] = [columnStarts[team.first], columnStarts[team.end]];
    target.set(payload.memory.solutions.subarray(at + from, at + to), from);
  }

  /** The image of a dual point: the sum over the workers, in order. */
  #collectImage(slot: number, objective: Objective): void {
    const { payload, team } = this.#context;
    const { memory, problem, shared } = payload;
    const { columnStarts } = problem.grid.partition;
    const panel = Math.floor(slot / panelWidth);
    const pairs = [
      [memory.images, objective.scratchImage],
      [memory.imageSizes, memory.certificate.imageSizes],
    ] as const;
    for (const [source, target] of pairs) {
      target.fill(0, columnStarts[team.first], columnStarts[team.end]);
      for (let worker = 0; worker < shared.workers; worker++) {
        const lines = this.#panelOf(this.#ofWorker(source, worker), panel);
        for (let j = columnStarts[team.first]; j < columnStarts[team.end]; j++) {
          target[j] += lines[j * panelWidth + (slot % panelWidth)];
        }
      }
      for (let j = columnStarts[team.first]; j < columnStarts[team.end]; j++) {
        target[j] *= 1 / this.#totalWeight;
      }
    }
  }

  /** Sets a problem up: strengths of its λ, and no weight for the rows that are held out. */
  #open(slot: number): Open {
    const { payload, team, certifierOf } = this.#context;
    const { memory } = payload;
    const { lambda, heldOut } = this.#problems[slot];
    const { strength, l1, l2, penalty, rowWeights, grid } = payload.problem;
    const { columnStarts, rowStarts } = grid.partition;
    for (let j = columnStarts[team.first]; j < columnStarts[team.end]; j++) {
      strength[j] = lambda * memory.factors[j];
      l1[j] = strength[j] * penalty.l1;
      l2[j] = strength[j] * penalty.l2;
    }
    if (heldOut !== this.#heldOut) {
      for (let i = rowStarts[team.first]; i < rowStarts[team.end]; i++) {
        rowWeights[i] = memory.folds[i] === heldOut ? 0 : memory.baseWeights[i];
      }
      this.#heldOut = heldOut;
    }
    team.barrier();
    this.#totalWeight = payload.totalWeights[heldOut + 1];
    const problem = { ...payload.problem, lambda, totalWeight: this.#totalWeight };
    return { problem, ...certifierOf(problem) };
  }
}
