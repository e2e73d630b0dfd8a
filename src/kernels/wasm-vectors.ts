import type { VectorKernels } from '../solvers/kernels/kernels.ts';

type Exports = Record<string, (...values: number[]) => number>;

/**
 * The vector kernels of a WebAssembly module; see wasm.ts. Those of weights in a box take its
 * arrays last, which a function without a box does not look at.
 */
export function wasmVectorKernels(wasm: Exports): VectorKernels {
  return {
    extrapolate: (now, start, previous, beta) => {
      const { length } = now;
      wasm.extrapolate(now.byteOffset, start.byteOffset, previous.byteOffset, length, beta);
    },
    interpolate: (target, from, to, share) => {
      const { length } = target;
      wasm.interpolate(target.byteOffset, from.byteOffset, to.byteOffset, length, share);
    },
    scaleInto: (source, target, factor) => {
      wasm.scaleInto(source.byteOffset, target.byteOffset, target.length, factor);
    },
    penaltySum: (weights, l1, l2) =>
      wasm.penaltySum(weights.byteOffset, l1.byteOffset, l2.byteOffset, weights.length),
    penaltyConjugateSum: (image, l1, l2) =>
      wasm.penaltyConjugateSum(image.byteOffset, l1.byteOffset, l2.byteOffset, image.length),
    boundedConjugateSum: (image, l1, l2, { low, high }, scale) =>
      wasm.boundedConjugateSum(
        image.byteOffset,
        l1.byteOffset,
        l2.byteOffset,
        low.byteOffset,
        high.byteOffset,
        image.length,
        scale,
      ),
    penaltySlope: (from, to, l1, l2, share) =>
      wasm.penaltySlope(
        from.byteOffset,
        to.byteOffset,
        l1.byteOffset,
        l2.byteOffset,
        from.length,
        share,
      ),
    changeAlong: (from, to) => wasm.changeAlong(from.byteOffset, to.byteOffset, from.length),
    changeSquare: (from, to) => wasm.changeSquare(from.byteOffset, to.byteOffset, from.length),
    mapWeights: (map, weights) => {
      const { box } = map;
      (box ? wasm.mapBounded : wasm.mapWeights)(
        map.image.byteOffset,
        map.threshold.byteOffset,
        map.inverse.byteOffset,
        map.shift.byteOffset,
        weights.byteOffset,
        weights.length,
        box?.low.byteOffset ?? 0,
        box?.high.byteOffset ?? 0,
      );
    },
    mappedSlope: (map, start, share) => {
      const { box } = map;
      return (box ? wasm.boundedSlope : wasm.mappedSlope)(
        map.image.byteOffset,
        map.threshold.byteOffset,
        map.inverse.byteOffset,
        map.shift.byteOffset,
        start.byteOffset,
        start.length,
        share,
        box?.low.byteOffset ?? 0,
        box?.high.byteOffset ?? 0,
      );
    },
    dealRuns: (runs, length, skip, now, start, active) =>
      wasm.dealRuns(
        runs.byteOffset,
        runs.length,
        length,
        active.length,
        skip.byteOffset,
        now.byteOffset,
        start.byteOffset,
        active.byteOffset,
      ),
  };
}
