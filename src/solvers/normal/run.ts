import { Ring } from '../../engine/ring.ts';
import { Team, type TeamShared } from '../../engine/team.ts';
import { lossByName } from '../../problem/losses/index.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import type { Kernels } from '../kernels/kernels.ts';
import { plainKernels } from '../kernels/plain/index.ts';
import { wasmKernels } from '../kernels/wasm.ts';
import { Certifier } from '../objective/certificate.ts';
import { Objective } from '../objective/objective.ts';
import type { Problem } from '../objective/problem.ts';
import { SharedCertificates } from './certificates.ts';
import type { NormalMemory } from './memory.ts';
import { QuadraticProblem, type SeparableTerms } from './quadratic.ts';
import { partOfThread, RowPieces } from './row-pieces.ts';
import { Sums, sumsOf } from './sums.ts';

/**
 * One of many problems: a λ, and the fold part of the rows that is held out, −1 for none.
 */
export interface NormalProblem {
  readonly lambda: number;
  readonly heldOut: number;
}

/** What threads do next: the sums and all solutions, or the certificates of problems first … end-1. */
export type NormalStage =
  | { readonly name: 'solve' }
  | { readonly name: 'certify'; readonly first: number; readonly end: number };

export interface NormalPayload {
  readonly index: number;
  readonly shared: TeamShared;
  /** That of λ = 1 on all rows: weights of rows and strengths of columns belong to the data. */
  readonly problem: Problem;
  readonly memory: NormalMemory;
  readonly parts: number;
  /** W of all rows, then without each of the fold parts. */
  readonly totalWeights: readonly number[];
  /** Those of a set of rows are next to one another, from the largest λ on. */
  readonly problems: readonly NormalProblem[];
  readonly stage: NormalStage;
  readonly loss: string;
  readonly wasm?: { readonly module: WebAssembly.Module; readonly memory: WebAssembly.Memory };
}

/** What the stages work with, in one thread. */
export interface NormalContext {
  readonly payload: NormalPayload;
  readonly team: Team;
  readonly kernels: Kernels;
  readonly pieces: RowPieces;
  readonly loss: Loss;
  certifierOf(problem: Problem): { readonly objective: Objective; readonly certifier: Certifier };
}

/** One thread's part of a stage. */
export function runNormal(payload: NormalPayload): void {
  const { index, shared, problem, memory, stage, wasm } = payload;
  const loss = lossByName(payload.loss);
  const kernels = wasm ? wasmKernels(wasm.module, wasm.memory, loss.parameter) : plainKernels(loss);
  const team = new Team(shared, index);
  const ring = new Ring(team);
  const pieces = new RowPieces(problem, memory.pieces, index, shared.threads);
  const certifierOf = (one: Problem) => {
    const objective = new Objective(one, kernels, team, ring, memory.objective);
    return {
      objective,
      certifier: new Certifier(objective, team, ring, loss, memory.certificate),
    };
  };
  const context: NormalContext = { payload, team, kernels, pieces, loss, certifierOf };
  if (stage.name === 'certify') new SharedCertificates(context, stage.first, stage.end).compute();
  else {
    new Sums({ problem, kernels, team, pieces }, memory, payload.parts).compute();
    solveAll(context);
  }
}

/** Solves all problems from the sums: each thread those of some sets of rows, one after the other. */
function solveAll({ payload, team, kernels }: NormalContext): void {
  const { problems, memory, shared, problem } = payload;
  const { columns, centre, interceptPosition } = problem;
  const sets = [...new Set(problems.map(({ heldOut }) => heldOut))];
  for (const [turn, heldOut] of sets.entries()) {
    if (turn % shared.threads !== team.index) continue;
    const { linear, square } = collectSums(payload, team.index, heldOut);
    const own = (array: Float64Array) => partOfThread(array, team.index, shared.threads);
    const [matrix, face, step] = [memory.matrix, memory.face, memory.step].map(own);
    const quadratic = new QuadraticProblem({ matrix, face, step }, linear, square, kernels);
    for (const [k, one] of problems.entries()) {
      if (one.heldOut !== heldOut || team.interrupted) continue;
      quadratic.solve(termsOf(payload, one.lambda));
      const solution = memory.solutions.subarray(k * columns, (k + 1) * columns);
      solution.set(quadratic.weights);
      // What the model's intercept will be, which is larger by the centre, is a rounded sum.
      if (centre !== 0) solution[interceptPosition] = solution[interceptPosition] + centre - centre;
    }
  }
  team.barrier();
}

/** What the rows that are not held out add up to, divided by W; XᵀCX in the thread's memory. */
function collectSums(payload: NormalPayload, thread: number, heldOut: number) {
  const { memory, parts, problem, shared, totalWeights } = payload;
  const { columns } = problem;
  const totalWeight = totalWeights[heldOut + 1];
  const matrix = partOfThread(memory.matrix, thread, shared.threads).fill(0);
  const linear = new Float64Array(columns);
  let square = 0;
  for (let part = 0; part < parts; part++) {
    if (part === heldOut) continue;
    const sums = sumsOf(memory, columns, parts, 0, part);
    for (let k = 0; k < matrix.length; k++) matrix[k] += sums.gram[k];
    for (let j = 0; j < columns; j++) linear[j] += sums.linear[j];
    square += sums.square[0];
  }
  for (let i = 0; i < columns; i++) {
    linear[i] /= totalWeight;
    for (let j = 0; j <= i; j++) {
      const value = matrix[i * columns + j] / totalWeight;
      matrix[i * columns + j] = value;
      matrix[j * columns + i] = value;
    }
  }
  return { linear, square: square / totalWeight };
}

/** The penalty of the columns, in the order of all positions. */
function termsOf({ memory, problem }: NormalPayload, lambda: number): SeparableTerms {
  const { penalty, box } = problem;
  return {
    l1: memory.factors.map((factor) => lambda * factor * penalty.l1),
    l2: memory.factors.map((factor) => lambda * factor * penalty.l2),
    ...(box && { low: box.low, high: box.high }),
  };
}
