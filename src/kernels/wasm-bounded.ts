import type { Box, Kernels, SgdStep } from '../solvers/kernels/kernels.ts';

type Exports = Record<string, (...values: number[]) => number>;

type Mapped = 'scatterMapped' | 'sweepRowsMapped' | 'stepColumns' | 'sweepColumns';

/** Each with the box that the kernel of the same name finds in its map or its columns. */
type BoundedKernels = {
  readonly [Name in Mapped]: (
    box: Box,
    ...values: Parameters<Kernels[Name]>
  ) => ReturnType<Kernels[Name]>;
} & {
  sgdRows(bounds: NonNullable<SgdStep['bounds']>, ...values: Parameters<Kernels['sgdRows']>): void;
};

/**
 * The kernels of weights that are kept in a box. They are functions of their own in the module, so
 * that those without a box do not pay for it.
 */
export function wasmBoundedKernels(wasm: Exports, parameter: number): BoundedKernels {
  return {
    scatterMapped: (box, cell, pending, count, map, weights) => {
      wasm.scatterBounded(
        cell.offsets.byteOffset,
        cell.indices.byteOffset,
        cell.values.byteOffset,
        pending.units.byteOffset,
        pending.deltas.byteOffset,
        count,
        map.image.byteOffset,
        map.threshold.byteOffset,
        map.inverse.byteOffset,
        map.shift.byteOffset,
        weights.byteOffset,
        box.low.byteOffset,
        box.high.byteOffset,
      );
    },
    sweepRowsMapped: (box, cell, order, begin, end, rows, step, map, weights, stats) => {
      wasm.sweepRowsBounded(
        cell.offsets.byteOffset,
        cell.indices.byteOffset,
        cell.values.byteOffset,
        order.byteOffset,
        begin,
        end,
        rows.labels.byteOffset,
        rows.importance.byteOffset,
        rows.alpha.byteOffset,
        rows.norms.byteOffset,
        rows.collisions.byteOffset,
        rows.counts.byteOffset,
        rows.level.byteOffset,
        rows.skip.byteOffset,
        step.damping,
        step.inverseMass,
        step.deltaScale,
        step.shrink,
        parameter,
        map.image.byteOffset,
        map.threshold.byteOffset,
        map.inverse.byteOffset,
        map.shift.byteOffset,
        weights.byteOffset,
        stats.byteOffset,
        box.low.byteOffset,
        box.high.byteOffset,
      );
    },
    stepColumns: (box, order, begin, end, columns, inverseMass, pending, stats) =>
      wasm.stepColumnsBounded(
        order.byteOffset,
        begin,
        end,
        columns.weights.byteOffset,
        columns.gradients.byteOffset,
        columns.hessians.byteOffset,
        columns.l1.byteOffset,
        columns.l2.byteOffset,
        columns.counts.byteOffset,
        columns.level.byteOffset,
        columns.skip.byteOffset,
        inverseMass,
        pending.units.byteOffset,
        pending.deltas.byteOffset,
        stats.byteOffset,
        box.low.byteOffset,
        box.high.byteOffset,
      ),
    sweepColumns: (box, cell, order, begin, end, rows, columns, damping, inverseMass, stats) => {
      wasm.sweepColumnsBounded(
        cell.offsets.byteOffset,
        cell.indices.byteOffset,
        cell.values.byteOffset,
        order.byteOffset,
        begin,
        end,
        rows.labels.byteOffset,
        rows.importance.byteOffset,
        rows.margins.byteOffset,
        rows.slopes.byteOffset,
        rows.curvatures.byteOffset,
        rows.dirty.byteOffset,
        rows.density.byteOffset,
        columns.weights.byteOffset,
        columns.gradients.byteOffset,
        columns.hessians.byteOffset,
        columns.l1.byteOffset,
        columns.l2.byteOffset,
        columns.counts.byteOffset,
        columns.level.byteOffset,
        columns.skip.byteOffset,
        damping,
        inverseMass,
        parameter,
        stats.byteOffset,
        box.low.byteOffset,
        box.high.byteOffset,
      );
    },
    sgdRows: ({ low, high }, whole, order, begin, end, rows, lines, pace, step) => {
      wasm.sgdRowsBounded(
        whole.rows,
        whole.blocks,
        whole.offsets.byteOffset,
        whole.indices.byteOffset,
        whole.values.byteOffset,
        whole.starts.byteOffset,
        order.byteOffset,
        begin,
        end,
        rows.labels.byteOffset,
        rows.importance.byteOffset,
        rows.alpha.byteOffset,
        lines.byteOffset,
        pace.byteOffset,
        step.adagrad ? 1 : 0,
        step.stepSize,
        step.aging,
        step.rowShare,
        parameter,
        low,
        high,
      );
    },
  };
}
