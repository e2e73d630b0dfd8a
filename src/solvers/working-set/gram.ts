import type { ColumnSet } from './column-set.ts';
import { mostTogether, smallSet } from './memory.ts';
import type { Model } from './model.ts';
import { SmallProgram } from './small-program.ts';

/** Whether W is small enough for solveExactly. */
export function isSmall({ size }: ColumnSet): boolean {
  return size <= smallSet;
}

/**
 * Solves the model of a small W by its matrix X_Wᵀ h X_W/W, until no step is longer than `small` in
 * units of the gradient. Returns the non-zeros touched.
 */
export function solveExactly(model: Model, small: number): number {
  const { set } = model;
  const { context, memory, scale, size } = set;
  const { now, gradients, deltas, l1, l2, counts } = memory.set;
  const gram = symmetric(sumOfProducts(set), size);
  for (let a = 0; a < gram.length; a++) gram[a] *= scale;
  for (let a = 0; a < size; a++) gram[a * size + a] += l2[a];
  set.multiply(({ rows }) => rows.moved, deltas);
  context.team.barrier();
  const before = now.slice(0, size);
  const slopes = before.map((z, a) => (gradients[a] + deltas[a]) * scale + l2[a] * z);
  const program = new SmallProgram(gram, l1.slice(0, size), before.slice(), slopes.slice());
  program.solve(small);
  const { z, gradient } = program;
  for (let a = 0; a < size; a++) {
    const change = z[a] - before[a];
    if (change === 0) continue;
    const penalty = l1[a] * (Math.abs(z[a]) - Math.abs(before[a]));
    model.gain -= 0.5 * change * (slopes[a] + gradient[a]) + penalty;
  }
  set.onFirst(() => {
    now.set(z);
    for (let a = 0; a < size; a++) deltas[a] = z[a] - before[a];
  });
  let work = 0;
  for (let a = 0; a < size; a++) work += counts[a];
  for (const { packed, rows } of set.parts) {
    const { curvatures, moved } = rows;
    context.kernels.moveColumns(packed.columns, 0, size, deltas, curvatures, moved);
  }
  return 4 * work;
}

/** Σ h_i x_ia x_ib over all rows, b ≤ a, by rows of `size` numbers. */
function sumOfProducts(set: ColumnSet): Float64Array {
  const { context, memory, size, isAlone } = set;
  const { kernels, team, problem } = context;
  const { first } = problem.grid.partition;
  const length = size * size;
  const gramOf = (worker: number) =>
    memory.gram.subarray((worker - first) * smallSet * smallSet).subarray(0, length);
  for (const { worker, packed, rows } of set.parts) {
    kernels.packRows(packed.columns, size, packed.rows);
    const whole = {
      ...packed.rows,
      rows: packed.rows.offsets.length - 1,
      blocks: 1,
      starts: memory.starts,
    };
    kernels.addRowProducts(whole, 0, rows.curvatures, gramOf(worker).fill(0), size);
  }
  if (isAlone) return gramOf(first).slice();
  const sum = new Float64Array(length);
  for (let a = 0; a < size; a++) {
    for (let b = 0; b <= a; b += mostTogether) {
      const from = a * size + b;
      const count = Math.min(mostTogether, a + 1 - b);
      const found = team.reduce(count, (worker, values) => {
        values.set(gramOf(worker).subarray(from, from + count));
      });
      sum.set(found, from);
    }
  }
  return sum;
}

/** A matrix whose lower triangle is given, completed in place. */
function symmetric(gram: Float64Array, size: number): Float64Array {
  for (let a = 0; a < size; a++) {
    for (let b = 0; b < a; b++) gram[b * size + a] = gram[a * size + b];
  }
  return gram;
}
