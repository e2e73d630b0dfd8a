import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import type { Penalty } from '../../problem/penalties/index.ts';
import { panelWidth } from '../kernels/dense.ts';
import { allocateCertificate } from '../objective/certificate.ts';
import { allocateObjective } from '../objective/objective.ts';
import { allocateProblem } from '../objective/problem.ts';
import { allocatePieces, rowsOfPiece } from './row-pieces.ts';
import { rowsTogether } from './sums.ts';

/** What there is to solve: every λ on all rows, or on all but those of each fold. */
export interface NormalShape {
  /** Of the fold parts that sums are kept of: 1 without folds. */
  readonly parts: number;
  /** Problems: a λ on a set of rows. */
  readonly problems: number;
  /** Panels of problems whose margins are kept at the same time. */
  readonly panels: number;
  readonly threads: number;
}

export type NormalMemory = ReturnType<typeof allocateNormal>;

export function allocateNormal(
  arena: Arena,
  partition: Partition,
  penalty: Penalty,
  { parts, problems, panels, threads }: NormalShape,
) {
  const columns = partition.columnPosition.length;
  const rows = partition.rowOrder.length;
  const workers = partition.size;
  const lines = panels * panelWidth;
  return {
    problem: allocateProblem(arena, partition, penalty),
    objective: allocateObjective(arena, partition),
    certificate: allocateCertificate(arena, partition),
    /** The fold of each row, by position. */
    folds: arena.int32(rows),
    /** Weights of the rows and factors of the columns, whichever problem is set up. */
    baseWeights: arena.float64(rows),
    factors: arena.float64(columns),
    pieces: allocatePieces(arena, partition, threads),
    unpacked: arena.float64(threads * columns * rowsTogether),
    scales: arena.float64(threads * rowsOfPiece),
    /** Of each worker and part: XᵀCX, its lower triangle; XᵀCy; yᵀCy. */
    gram: arena.float64(workers * parts * columns * columns),
    linear: arena.float64(workers * parts * columns),
    square: arena.float64(workers * parts),
    /** Of each thread: XᵀCX / W of one set of rows, the factor of a face of it, and a step on that. */
    matrix: arena.float64(threads * columns * columns),
    face: arena.float64(threads * columns * columns),
    step: arena.float64(threads * columns),
    /** By problem, columns in the order of all positions. */
    solutions: arena.float64(problems * columns),
    /** By problem: P, its bound, what the dual point is multiplied by. */
    results: arena.float64(problems * 3),
    /** Of the problems of a group: margins by row, their sizes and then α, lines of panels. */
    weights: arena.float64(partition.bufferLength),
    margins: arena.float64(lines * rows),
    alpha: arena.float64(lines * rows),
    isFeasible: arena.float64(lines),
    panelWeights: arena.float64(lines * columns),
    images: arena.float64(workers * lines * columns),
    imageSizes: arena.float64(workers * lines * columns),
  };
}
