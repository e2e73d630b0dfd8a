import { workerOffsets } from '../../engine/grid.ts';
import { width } from '../../engine/processes/comm-channel.ts';
import { stream } from '../../math/random.ts';
import { intervalOf } from '../../math/vectors.ts';
import type { BlockState } from '../block-state.ts';
import type { WorkingColumns } from '../kernels/working-set-kernels.ts';
import { inChunks } from '../orders.ts';
import type { SolverContext } from '../solver.ts';
import { blockAmongAll, partOfWorker } from '../whole.ts';
import { mostSummed, mostTogether, type PackedColumns, type WorkingSetMemory } from './memory.ts';

/** Columns per call of a kernel. */
const chunk = 1024;
/** Non-zeros per call in a first cycle, which finds in the cache what it has just copied. */
const cached = 16384;
/** Non-zeros of columns that step together, as a share of the rows. */
const shareTogether = 0.25;

/** What a worker knows of the working set. */
export interface Part {
  readonly worker: number;
  readonly packed: PackedColumns;
  /** The rows of the worker. */
  readonly rows: WorkingSetMemory['rows'] & { readonly margins: Float64Array };
  readonly next: Float64Array;
  readonly labels: Float64Array;
  readonly rowWeights: Float64Array;
  readonly sharing: Uint8Array;
  /** For the sums of columns that step together. */
  readonly partial: Float64Array;
}

/** Steps on columns of W for the sums of their non-zeros with the rows of `source`. */
export interface Steps {
  /** What non-zeros are multiplied with, and what moves along h ∘ x. */
  readonly rows: (part: Part) => Float64Array;
  /** One column after the other whose violation is larger than `above`, where one worker has all rows. */
  readonly sweep: (part: Part, begin: number, end: number, above: number) => void;
  /** From sums in `dots` to changes in `deltas`. */
  readonly step: (begin: number, end: number, above: number) => void;
}

/**
 * A list of columns W, copied one after the other, and cycles over them. Numbers of columns are the
 * same in every process: the first thread of each computes them, from sums over all workers.
 */
export class ColumnSet {
  readonly context: SolverContext;
  readonly memory: WorkingSetMemory;
  readonly parts: readonly Part[];
  readonly columns: WorkingColumns;
  /** One worker in one process: a cycle is one sweep. */
  readonly isAlone: boolean;
  /** Whether ℓ' of the present margins is in `derivatives`. */
  isDifferentiated = false;
  /** Σ c_i ℓ(u_i) at the present margins, where it is known. */
  lossSum: number | undefined;
  #isByRows = false;
  /** What is left to the first cycle of a worker that is alone. */
  #pending = { isPacked: true, isSummed: true };

  constructor(state: BlockState, memory: WorkingSetMemory) {
    const { team, problem } = state.context;
    const { partition } = problem.grid;
    const { labels, rowWeights } = problem;
    this.context = state.context;
    this.memory = memory;
    this.columns = memory.set;
    this.isAlone = team.shared.workers === 1 && team.shared.channel === undefined;
    this.parts = state.parts.map((worker) => ({
      worker,
      packed: memory.packed[worker - partition.first],
      rows: state.rowsOf(worker, { ...memory.rows, margins: memory.margins }),
      ...state.rowsOf(worker, { next: memory.next, labels, rowWeights, sharing: memory.sharing }),
      partial: partOfWorker(partition, memory.partial, worker),
    }));
  }

  /** Columns in W. */
  get size(): number {
    return this.memory.size[0];
  }

  get scale(): number {
    return 1 / this.context.problem.totalWeight;
  }

  partOf(worker: number): Part {
    return this.parts[worker - this.context.team.first];
  }

  /** The margins have changed. */
  moved(): void {
    this.isDifferentiated = false;
    this.lossSum = undefined;
  }

  /** Work of the first thread of each process, with what all threads have written before. */
  onFirst(work: () => void): void {
    const { team } = this.context;
    team.barrier();
    if (team.index === 0) work();
    team.barrier();
  }

  /**
   * Makes W of the columns that `belongs` accepts, by their positions among all, in a random order;
   * `level` multiplies their l1 and l2.
   */
  choose(belongs: (column: number) => boolean, id: number, level: number): void {
    const { all, list, set, size } = this.memory;
    const { seed } = this.context;
    this.onFirst(() => {
      let count = 0;
      for (let j = 0; j < all.weights.length; j++) if (belongs(j)) list[count++] = j;
      stream(seed, id).shuffle(list, count);
      size[0] = count;
      for (let a = 0; a < count; a++) {
        const j = list[a];
        set.start[a] = all.weights[j];
        set.now[a] = all.weights[j];
        set.l1[a] = level * all.l1[j];
        set.l2[a] = level * all.l2[j];
        set.counts[a] = all.counts[j];
      }
      this.#formVisits();
      this.#findPlaces();
    });
    if (this.isAlone) {
      this.parts[0].packed.columns.offsets[0] = 0;
      this.#pending.isPacked = false;
    } else for (const part of this.parts) this.#pack(part);
    this.#isByRows = false;
  }

  /** Copies a small W by rows, once. */
  packRows(): void {
    if (this.#isByRows) return;
    for (const { packed } of this.parts) {
      this.context.kernels.packRows(packed.columns, this.size, packed.rows);
    }
    this.#isByRows = true;
  }

  /** The first column of each visit, and the end of the last. */
  #formVisits(): void {
    const { visits, set } = this.memory;
    const { problem, team } = this.context;
    const most = shareTogether * problem.rows;
    const together = team.shared.workers === 1 ? 1 : mostTogether;
    let [number, entries, columns] = [0, 0, together];
    for (let a = 0; a < this.size; a++) {
      if (columns === together || entries + set.counts[a] > most) {
        visits[number++] = a;
        [entries, columns] = [0, 0];
      }
      entries += set.counts[a];
      columns++;
    }
    visits[number] = this.size;
  }

  /** The offsets of a worker's cells are one after the other, and those of a block end with one more. */
  #findPlaces(): void {
    const { list, places } = this.memory;
    const { columnBounds } = this.context.problem.grid.partition;
    for (let a = 0; a < this.size; a++) places[a] = list[a] + intervalOf(columnBounds, list[a]);
  }

  #pack({ worker, packed: { columns, shares }, sharing }: Part): void {
    const { grid } = this.context.problem;
    const { indices, values } = grid.cells[worker * grid.size];
    const cell = { offsets: workerOffsets(grid, worker), indices, values };
    columns.offsets[0] = 0;
    const { places, visits } = this.memory;
    this.context.kernels.packColumns(cell, places, 0, this.size, columns);
    for (let k = 0; visits[k] < this.size; k++) {
      this.context.kernels.countSharing(columns, visits[k], visits[k + 1], sharing, shares);
    }
  }

  /** Σ s_i x_i and Σ h_i x_i² of all columns, the latter for as many as step together. */
  sum(): void {
    if (this.isAlone) {
      this.#pending.isSummed = false;
      return;
    }
    const { visits } = this.memory;
    for (let first = 0; visits[first] < this.size; ) {
      let last = first + 1;
      while (visits[last] < this.size && visits[last + 1] - visits[first] <= mostSummed) last++;
      this.#sumVisits(first, last);
      first = last;
    }
  }

  /** Columns of W with about as many non-zeros as the cache may hold. */
  #columnsCached(): number {
    const { counts } = this.memory.set;
    let entries = 1;
    for (let a = 0; a < this.size; a++) entries += counts[a];
    return Math.min(chunk, Math.ceil((cached * this.size) / entries));
  }

  /** Copies and sums columns of W, as far as that was left to the first cycle. */
  #prepare(begin: number, end: number): void {
    const { context, memory, parts } = this;
    const { kernels, problem } = context;
    const [{ packed, rows }] = parts;
    if (!this.#pending.isPacked) {
      kernels.packColumns(problem.grid.cells[0], memory.list, begin, end, packed.columns);
    }
    if (this.#pending.isSummed) return;
    const { slopes, curvatures } = rows;
    const { gradients, hessians } = memory.set;
    const [g, h] = [gradients.subarray(begin, end), hessians.subarray(begin, end)];
    kernels.sumColumns(packed.columns, begin, end, slopes, curvatures, g, h);
  }

  /** The same of the columns of some visits. */
  #sumVisits(first: number, last: number): void {
    const { kernels } = this.context;
    const { visits, set } = this.memory;
    const [begin, end] = [visits[first], visits[last]];
    for (const { packed, rows, partial } of this.parts) {
      const { slopes, curvatures } = rows;
      const { columns, shares } = packed;
      const sums = partial.subarray(mostSummed);
      kernels.sumTogether(columns, begin, end, slopes, curvatures, shares, partial, sums);
    }
    this.#addUp(0, set.gradients.subarray(begin, end));
    this.#addUp(mostSummed, set.hessians.subarray(begin, end));
    this.context.team.barrier();
  }

  /** target ← the sums of what the workers have from `at` on, in their order; each thread some of them. */
  #addUp(at: number, target: Float64Array): void {
    const { team, problem } = this.context;
    const { partition } = problem.grid;
    const { workers, threads, channel } = team.shared;
    const partOf = (worker: number) => partOfWorker(partition, this.memory.partial, worker);
    if (channel) {
      for (let from = at; from < at + target.length; from += width) {
        const count = Math.min(width, at + target.length - from);
        const found = team.reduce(count, (worker, values) =>
          values.set(partOf(worker).subarray(from, from + count)),
        );
        if (team.index === 0) target.set(found, from - at);
      }
      return;
    }
    team.barrier();
    const bound = (thread: number) => Math.floor((thread * target.length) / threads);
    const [from, to] = [bound(team.index), bound(team.index + 1)];
    const own = target.subarray(from, to);
    own.set(partOf(0).subarray(at + from, at + to));
    for (let worker = 1; worker < workers; worker++) {
      const more = partOf(worker).subarray(at + from, at + to);
      for (let a = 0; a < own.length; a++) own[a] += more[a];
    }
  }

  #forVisits(visit: (begin: number, end: number) => void): void {
    const { visits } = this.memory;
    for (let k = 0; visits[k] < this.size; k++) visit(visits[k], visits[k + 1]);
    this.context.team.barrier();
  }

  /**
   * Steps once on every column whose last violation was larger than `above`; what the steps add to
   * `stats`, from 0.
   */
  cycle(steps: Steps, above = -1): Float64Array {
    const { stats } = this.memory;
    this.onFirst(() => stats.fill(0));
    if (this.isAlone) {
      const [part] = this.parts;
      const isReady = this.#pending.isPacked && this.#pending.isSummed;
      const sweep = (begin: number, end: number) => {
        if (!isReady) this.#prepare(begin, end);
        steps.sweep(part, begin, end, above);
      };
      inChunks(0, this.size, sweep, isReady ? chunk : this.#columnsCached());
      this.#pending = { isPacked: true, isSummed: true };
    } else {
      this.#forVisits((begin, end) => {
        if (this.countAbove(above, begin, end) > 0) this.#stepTogether(begin, end, steps, above);
      });
    }
    const found = stats.slice();
    this.context.team.barrier();
    return found;
  }

  /** Columns with a violation larger than `above`. */
  countAbove(above: number, begin: number, end: number): number {
    const { violations } = this.memory.set;
    let count = 0;
    for (let a = begin; a < end; a++) if (!(violations[a] <= above)) count++;
    return count;
  }

  #stepTogether(begin: number, end: number, { rows, step }: Steps, above: number): void {
    const { kernels, team } = this.context;
    const { dots, set } = this.memory;
    const found = team.reduce(end - begin, (worker, values) => {
      const part = this.partOf(worker);
      kernels.dotColumns(part.packed.columns, begin, end, rows(part), part.partial);
      values.set(part.partial.subarray(0, values.length));
    });
    if (team.index === 0) {
      dots.set(found);
      step(begin, end, above);
    }
    team.barrier();
    for (const part of this.parts) {
      const { packed, rows: own } = part;
      kernels.moveColumns(packed.columns, begin, end, set.deltas, own.curvatures, rows(part));
    }
  }

  /** target_a ← Σ x_ia source_i */
  multiply(source: (part: Part) => Float64Array, target: Float64Array): void {
    const { kernels, team } = this.context;
    if (this.isAlone) {
      const [part] = this.parts;
      kernels.dotColumns(part.packed.columns, 0, this.size, source(part), target);
      return;
    }
    this.#forVisits((begin, end) => {
      const found = team.reduce(end - begin, (worker, values) => {
        const part = this.partOf(worker);
        kernels.dotColumns(part.packed.columns, begin, end, source(part), part.partial);
        values.set(part.partial.subarray(0, values.length));
      });
      if (team.index === 0) target.set(found, begin);
    });
  }

  /** weights_j ← the numbers of W, in the columns of the blocks that this thread is home to. */
  store(weights: Float64Array): void {
    const { team, problem, objective } = this.context;
    const { all, list, set } = this.memory;
    this.onFirst(() => {
      for (let a = 0; a < this.size; a++) all.weights[list[a]] = set.now[a];
    });
    for (let block = team.first; block < team.end; block++) {
      const own = blockAmongAll(problem.grid.partition, all.weights, block);
      objective.columnsOf(weights, block).set(own);
    }
    team.barrier();
  }
}
