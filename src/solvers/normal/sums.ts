import type { Team } from '../../engine/team.ts';
import type { Kernels, WholeRows } from '../kernels/kernels.ts';
import type { Problem } from '../objective/problem.ts';
import type { NormalMemory } from './memory.ts';
import { partOfThread, type RowPieces } from './row-pieces.ts';

/** Rows that are unpacked at a time where most of their entries are not 0. */
export const rowsTogether = 64;
/** The share of entries from which on rows are unpacked. */
const denseFrom = 0.3;

interface SumsContext {
  readonly problem: Problem;
  readonly kernels: Kernels;
  readonly team: Team;
  readonly pieces: RowPieces;
}

/** XᵀCX, its lower triangle, XᵀCy and yᵀCy of one part of the rows. */
export interface PartSums {
  readonly gram: Float64Array;
  readonly linear: Float64Array;
  readonly square: Float64Array;
}

/** The sums of one worker over one part of the rows, as views. */
export function sumsOf(
  { gram, linear, square }: NormalMemory,
  columns: number,
  parts: number,
  worker: number,
  part: number,
): PartSums {
  const at = worker * parts + part;
  const view = (array: Float64Array, length: number) =>
    array.subarray(at * length, (at + 1) * length);
  return {
    gram: view(gram, columns * columns),
    linear: view(linear, columns),
    square: view(square, 1),
  };
}

/**
 * Adds up the sums of every part of the rows in one pass: each worker its own rows, then those of all
 * workers in order, so that the result is in the place of the first.
 */
export class Sums {
  readonly #context: SumsContext;
  readonly #memory: NormalMemory;
  readonly #parts: number;
  readonly #isDense: boolean;
  readonly #unpacked: Float64Array;
  readonly #scales: Float64Array;

  constructor(context: SumsContext, memory: NormalMemory, parts: number) {
    const { problem, team } = context;
    this.#context = context;
    this.#memory = memory;
    this.#parts = parts;
    this.#isDense = problem.nonzeros > denseFrom * problem.rows * problem.columns;
    const { threads } = team.shared;
    this.#unpacked = partOfThread(memory.unpacked, team.index, threads);
    this.#scales = partOfThread(memory.scales, team.index, threads);
  }

  compute(): void {
    const { pieces, team } = this.#context;
    for (let worker = team.first; worker < team.end; worker++) {
      pieces.through(worker, (piece, first) => {
        if (!team.interrupted) this.#addPiece(worker, piece, first);
      });
    }
    team.barrier();
    this.#addWorkers();
    team.barrier();
  }

  /** Row by row, so that every part gets its own; rows of weight 0 are in none. */
  #addPiece(worker: number, piece: WholeRows, first: number): void {
    const { folds, baseWeights } = this.#memory;
    for (let part = 0; part < this.#parts; part++) {
      const rows: number[] = [];
      for (let i = 0; i < piece.rows; i++) {
        if (folds[first + i] === part && baseWeights[first + i] !== 0) rows.push(i);
      }
      const sums = sumsOf(this.#memory, this.#context.problem.columns, this.#parts, worker, part);
      this.#addLinear(piece, rows, first, sums);
      if (this.#isDense) this.#addDense(piece, rows, first, sums.gram);
      else this.#addSparse(piece, rows, first, sums.gram);
    }
  }

  #addLinear(
    { offsets, indices, values }: WholeRows,
    rows: readonly number[],
    first: number,
    { linear, square }: PartSums,
  ): void {
    const { labels } = this.#context.problem;
    for (const i of rows) {
      const weight = this.#memory.baseWeights[first + i];
      const y = labels[first + i];
      square[0] += weight * y * y;
      for (let k = offsets[i]; k < offsets[i + 1]; k++)
        linear[indices[k]] += weight * y * values[k];
    }
  }

  #addSparse(piece: WholeRows, rows: readonly number[], first: number, gram: Float64Array): void {
    const { kernels, problem } = this.#context;
    this.#scales.fill(0);
    for (const i of rows) this.#scales[i] = this.#memory.baseWeights[first + i];
    kernels.addRowProducts(piece, 0, this.#scales, gram, problem.columns);
  }

  #addDense(
    { offsets, indices, values }: WholeRows,
    rows: readonly number[],
    first: number,
    gram: Float64Array,
  ): void {
    const { kernels, problem } = this.#context;
    const { columns } = problem;
    for (let from = 0; from < rows.length; from += rowsTogether) {
      const chunk = rows.slice(from, from + rowsTogether);
      this.#unpacked.fill(0);
      for (const [n, i] of chunk.entries()) {
        const root = Math.sqrt(this.#memory.baseWeights[first + i]);
        for (let k = offsets[i]; k < offsets[i + 1]; k++) {
          this.#unpacked[indices[k] * rowsTogether + n] += root * values[k];
        }
      }
      kernels.addProducts(this.#unpacked, rowsTogether, 0, columns, rowsTogether, gram, columns, 1);
    }
  }

  /** Adds the sums of all workers to those of the first, each thread some of the numbers. */
  #addWorkers(): void {
    const { team } = this.#context;
    const { gram, linear, square } = this.#memory;
    const { threads, workers } = team.shared;
    for (const array of [gram, linear, square]) {
      const length = array.length / workers;
      const [from, to] = [team.index, team.index + 1].map((t) =>
        Math.floor((t * length) / threads),
      );
      for (let worker = 1; worker < workers; worker++) {
        for (let k = from; k < to; k++) array[k] += array[worker * length + k];
      }
    }
  }
}
