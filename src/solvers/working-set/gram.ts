import type { ColumnSet } from './column-set.ts';
import { mostTogether, smallSet } from './memory.ts';
import { SmallProgram } from './small-program.ts';

/** Whether W is small enough for solveExactly. */
export function isSmall({ size }: ColumnSet): boolean {
  return size <= smallSet;
}

/**
 * Solves the model of a small W by its matrix X_Wᵀ h X_W/W, until no step is longer than `small` in
 * units of the gradient. Returns the non-zeros touched.
 */
export function solveExactly(set: ColumnSet, small: number): number {
  const { context, memory, scale, size } = set;
  const { now, before, gradients, deltas, l1, l2, counts } = memory.set;
  const gram = sumOfProducts(set);
  set.multiply(({ rows }) => rows.moved, deltas);
  set.onFirst(() => {
    complete(gram, size, scale);
    for (let a = 0; a < size; a++) {
      gram[a * size + a] += l2[a];
      gradients[a] = (gradients[a] + deltas[a]) * scale + l2[a] * now[a];
    }
    before.set(now.subarray(0, size));
    const [z, gradient, bounds] = [now, gradients, l1].map((all) => all.subarray(0, size));
    const program = new SmallProgram(context.kernels, {
      gram,
      l1: bounds,
      z,
      gradient,
      factor: memory.factor.subarray(0, size * size),
      step: memory.set.direction.subarray(0, size),
    });
    program.solve(small);
    for (let a = 0; a < size; a++) deltas[a] = now[a] - before[a];
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
  set.packRows();
  for (const { worker, packed, rows } of set.parts) {
    const whole = {
      ...packed.rows,
      rows: packed.rows.offsets.length - 1,
      blocks: 1,
      starts: memory.starts,
    };
    kernels.addRowProducts(whole, 0, rows.curvatures, gramOf(worker).fill(0), size);
  }
  if (isAlone) return gramOf(first);
  const sum = memory.sum.subarray(0, length);
  for (let a = 0; a < size; a++) {
    for (let b = 0; b <= a; b += mostTogether) {
      const from = a * size + b;
      const count = Math.min(mostTogether, a + 1 - b);
      const found = team.reduce(count, (worker, values) => {
        values.set(gramOf(worker).subarray(from, from + count));
      });
      if (team.index === 0) sum.set(found, from);
    }
  }
  return sum;
}

/** Scales a matrix whose lower triangle is given, and completes it. */
function complete(gram: Float64Array, size: number, scale: number): void {
  for (let a = 0; a < size; a++) {
    for (let b = 0; b <= a; b++) {
      const product = scale * gram[a * size + b];
      gram[a * size + b] = product;
      gram[b * size + a] = product;
    }
  }
}
