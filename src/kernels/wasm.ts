import { readFileSync } from 'node:fs';
import type { Kernels } from '../solvers/kernels/kernels.ts';
import { wasmBoundedKernels } from './wasm-bounded.ts';
import { wasmVectorKernels } from './wasm-vectors.ts';

/** The functions of a kernel module: addresses and numbers in, a number or nothing out. */
type Exports = Record<string, (...values: number[]) => number>;

const folder = new URL(
  import.meta.url.endsWith('.ts') ? '../../wasm/' : '../wasm/',
  import.meta.url,
);

/** Compiled modules by loss; a module is posted to worker threads rather than compiled there. */
const compiled = new Map<string, WebAssembly.Module>();

export function kernelModule(lossName: string): WebAssembly.Module {
  let module = compiled.get(lossName);
  if (!module) {
    module = new WebAssembly.Module(readFileSync(new URL(`${lossName}.wasm`, folder)));
    compiled.set(lossName, module);
  }
  return module;
}

/**
 * Binds a kernel module to the memory that holds all arrays. Callers pass views on that memory;
 * only their addresses cross the border. Each is written out, because a spread would cost as much
 * as a short visit.
 */
export function wasmKernels(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
  parameter: number,
): Kernels {
  const wasm = new WebAssembly.Instance(module, { env: { memory } }).exports as Exports;
  const bounded = wasmBoundedKernels(wasm, parameter);
  return {
    name: 'wasm',
    ...wasmVectorKernels(wasm),
    gather: (cell, order, begin, end, fresh, weights, margins) => {
      wasm.gather(
        cell.offsets.byteOffset,
        cell.indices.byteOffset,
        cell.values.byteOffset,
        order.byteOffset,
        begin,
        end,
        fresh ? 1 : 0,
        weights.byteOffset,
        margins.byteOffset,
      );
    },
    scatter: (cell, pending, count, target) => {
      wasm.scatter(
        cell.offsets.byteOffset,
        cell.indices.byteOffset,
        cell.values.byteOffset,
        pending.units.byteOffset,
        pending.deltas.byteOffset,
        count,
        target.byteOffset,
      );
    },
    scatterMapped: (cell, pending, count, map, weights) => {
      if (map.box) return bounded.scatterMapped(map.box, cell, pending, count, map, weights);
      wasm.scatterMapped(
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
      );
    },
    rowNorms: (cell, units, a, b, norms, collisions) => {
      wasm.rowNorms(
        cell.offsets.byteOffset,
        cell.indices.byteOffset,
        cell.values.byteOffset,
        units,
        a.byteOffset,
        b.byteOffset,
        norms.byteOffset,
        collisions.byteOffset,
      );
    },
    stepRows: (order, begin, end, margins, rows, step, pending, stats) =>
      wasm.stepRows(
        order.byteOffset,
        begin,
        end,
        margins.byteOffset,
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
        pending.units.byteOffset,
        pending.deltas.byteOffset,
        stats.byteOffset,
      ),
    sweepRows: (cell, order, begin, end, rows, step, weights, stats) => {
      wasm.sweepRows(
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
        weights.byteOffset,
        stats.byteOffset,
      );
    },
    sweepRowsMapped: (cell, order, begin, end, rows, step, map, weights, stats) => {
      if (map.box) {
        return bounded.sweepRowsMapped(
          map.box,
          cell,
          order,
          begin,
          end,
          rows,
          step,
          map,
          weights,
          stats,
        );
      }
      wasm.sweepRowsMapped(
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
      );
    },
    sweepWholeRows: (whole, order, begin, end, rows, inverseMass, inverse, weights, stats) => {
      wasm.sweepWholeRows(
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
        rows.norms.byteOffset,
        rows.counts.byteOffset,
        inverseMass,
        inverse.byteOffset,
        weights.byteOffset,
        parameter,
        stats.byteOffset,
      );
    },
    stepWholeRows: (whole, order, begin, end, margins, rows, step, pull, drift, pending, stats) =>
      wasm.stepWholeRows(
        whole.rows,
        whole.blocks,
        whole.offsets.byteOffset,
        whole.indices.byteOffset,
        whole.values.byteOffset,
        whole.starts.byteOffset,
        order.byteOffset,
        begin,
        end,
        margins.byteOffset,
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
        pull.byteOffset,
        drift.byteOffset,
        pending.units.byteOffset,
        pending.deltas.byteOffset,
        stats.byteOffset,
      ),
    scatterColumns: (cell, pending, count, rows) => {
      wasm.scatterColumns(
        cell.offsets.byteOffset,
        cell.indices.byteOffset,
        cell.values.byteOffset,
        pending.units.byteOffset,
        pending.deltas.byteOffset,
        count,
        rows.margins.byteOffset,
        rows.dirty.byteOffset,
      );
    },
    gatherColumns: (cell, order, begin, end, fresh, rows, columns, damping) => {
      wasm.gatherColumns(
        cell.offsets.byteOffset,
        cell.indices.byteOffset,
        cell.values.byteOffset,
        order.byteOffset,
        begin,
        end,
        fresh ? 1 : 0,
        rows.labels.byteOffset,
        rows.importance.byteOffset,
        rows.margins.byteOffset,
        rows.slopes.byteOffset,
        rows.curvatures.byteOffset,
        rows.dirty.byteOffset,
        rows.density.byteOffset,
        columns.gradients.byteOffset,
        columns.hessians.byteOffset,
        damping,
        parameter,
      );
    },
    stepColumns: (order, begin, end, columns, inverseMass, pending, stats) => {
      const { box } = columns;
      if (box)
        return bounded.stepColumns(box, order, begin, end, columns, inverseMass, pending, stats);
      return wasm.stepColumns(
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
      );
    },
    sweepColumns: (cell, order, begin, end, rows, columns, damping, inverseMass, stats) => {
      const { box } = columns;
      if (box) {
        return bounded.sweepColumns(
          box,
          cell,
          order,
          begin,
          end,
          rows,
          columns,
          damping,
          inverseMass,
          stats,
        );
      }
      wasm.sweepColumns(
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
      );
    },
    saddleRows: (cell, order, begin, end, rows, columns, step) => {
      wasm.saddleRows(
        cell.offsets.byteOffset,
        cell.indices.byteOffset,
        cell.values.byteOffset,
        order.byteOffset,
        begin,
        end,
        rows.labels.byteOffset,
        rows.importance.byteOffset,
        rows.alpha.byteOffset,
        rows.accumulators.byteOffset,
        rows.inverseCounts.byteOffset,
        rows.low.byteOffset,
        rows.high.byteOffset,
        rows.snapshot.byteOffset,
        rows.snapshotGradient.byteOffset,
        columns.byteOffset,
        step.weightStep,
        step.alphaStep,
        step.adagrad ? 1 : 0,
        step.svrg ? 1 : 0,
        step.l1,
        step.l2,
        step.inverseMass,
        parameter,
      );
    },
    sgdRows: (whole, order, begin, end, rows, lines, pace, step) => {
      const { bounds } = step;
      if (bounds) return bounded.sgdRows(bounds, whole, order, begin, end, rows, lines, pace, step);
      wasm.sgdRows(
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
      );
    },
    sgdSettle: (lines, held, pace) => {
      wasm.sgdSettle(lines.byteOffset, held.byteOffset, held.length, pace.byteOffset);
    },
    lossSum: (margins, labels, importance, begin, end) =>
      wasm.lossSum(
        margins.byteOffset,
        labels.byteOffset,
        importance.byteOffset,
        begin,
        end,
        parameter,
      ),
    conjugateSum: (alpha, labels, importance, begin, end, scale) =>
      wasm.conjugateSum(
        alpha.byteOffset,
        labels.byteOffset,
        importance.byteOffset,
        begin,
        end,
        scale,
        parameter,
      ),
    conjugateSlope: (from, to, labels, importance, begin, end, eta) =>
      wasm.conjugateSlope(
        from.byteOffset,
        to.byteOffset,
        labels.byteOffset,
        importance.byteOffset,
        begin,
        end,
        eta,
        parameter,
      ),
    lossSlope: (from, to, labels, importance, begin, end, eta) =>
      wasm.lossSlope(
        from.byteOffset,
        to.byteOffset,
        labels.byteOffset,
        importance.byteOffset,
        begin,
        end,
        eta,
        parameter,
      ),
    dualPoint: (margins, labels, importance, begin, end, alpha) => {
      wasm.dualPoint(
        margins.byteOffset,
        labels.byteOffset,
        importance.byteOffset,
        begin,
        end,
        alpha.byteOffset,
        parameter,
      );
    },
    dualSlopes: (alpha, labels, importance, begin, end, target) => {
      wasm.dualSlopes(
        alpha.byteOffset,
        labels.byteOffset,
        importance.byteOffset,
        begin,
        end,
        target.byteOffset,
        parameter,
      );
    },
    shiftAlpha: (alpha, labels, importance, begin, end, shift, target) =>
      wasm.shiftAlpha(
        alpha.byteOffset,
        labels.byteOffset,
        importance.byteOffset,
        begin,
        end,
        shift,
        target.byteOffset,
        parameter,
      ),
  };
}
