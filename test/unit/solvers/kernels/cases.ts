/** Random arguments for every kernel, the same for both implementations. */

import type { Arena } from '../../../../src/engine/arena.ts';
import type { Random } from '../../../../src/math/random.ts';
import type { Loss } from '../../../../src/problem/losses/loss.ts';
import { type Kernels, saddleStride } from '../../../../src/solvers/kernels/kernels.ts';
import { certificateCases } from './certificate-cases.ts';
import { denseCases } from './dense-cases.ts';
import {
  doubles,
  drawCell,
  drawColumns,
  drawMap,
  drawMargins,
  drawPending,
  drawRowState,
  drawRows,
  drawSegment,
  drawStats,
  drawStep,
  drawWholeRows,
  number,
} from './draw.ts';
import { panelCases } from './panel-cases.ts';
import { segmentCases } from './segment-cases.ts';
import { sgdCases } from './sgd-cases.ts';
import { stageCases } from './stage-cases.ts';
import { vectorCases } from './vector-cases.ts';
import { workingSetCases } from './working-set-cases.ts';

/** Takes memory, fills it from `random` and returns a call; its result is compared too. */
export type KernelCase = (
  arena: Arena,
  random: Random,
  loss: Loss,
) => (kernels: Kernels) => number | undefined;

function saddleCase(adagrad: boolean, svrg: boolean): KernelCase {
  return (arena, random, loss) => {
    const { units, others, cell, order, begin, end } = drawCell(arena, random);
    const { labels, rowWeights, alpha } = drawRows(arena, random, loss, units);
    const low = doubles(arena, units, () => [-0, 0, -1, -2 * random.uniform()][random.below(4)]);
    const high = doubles(arena, units, () => [-0, 0, Infinity, random.uniform()][random.below(4)]);
    const rows = {
      labels,
      rowWeights,
      alpha,
      low,
      high,
      accumulators: doubles(arena, units, () => (random.below(2) === 0 ? 0 : random.uniform())),
      inverseCounts: doubles(arena, units, () => random.uniform()),
      snapshot: doubles(arena, units, () => random.uniform() - 0.5),
      snapshotGradient: doubles(arena, units, () => 0.1 * random.normal()),
    };
    const bound = () => [0, Infinity, random.uniform(), 2 * random.uniform()][random.below(4)];
    // {w, accumulator, λf/|Ω̄|, w⁰, ∇⁰, low, high, unused}
    const line = [
      () => [0, -0, random.normal(), random.normal()][random.below(4)],
      () => (random.below(2) === 0 ? 0 : random.uniform()),
      () => (random.below(4) === 0 ? 0 : random.uniform()),
      () => (random.below(3) === 0 ? 0 : random.normal()),
      () => 0.1 * random.normal(),
      () => -bound(),
      bound,
      () => 0,
    ];
    const columns = doubles(arena, saddleStride * others, (k) => line[k % saddleStride]());
    const step = {
      weightStep: random.uniform(),
      alphaStep: random.uniform(),
      adagrad,
      svrg,
      l1: random.below(2) === 0 ? 0 : random.uniform(),
      l2: random.below(3) === 0 ? 0 : random.uniform(),
      inverseTotalWeight: 1 / (1 + random.below(50)),
    };
    return (kernels) => {
      kernels.saddleRows(cell, order, begin, end, rows, columns, step);
      return undefined;
    };
  };
}

function scatterMappedCase(bounded: boolean): KernelCase {
  return (arena, random) => {
    const shape = drawCell(arena, random);
    const { pending, count } = drawPending(arena, random, shape);
    const map = drawMap(arena, random, shape.others, bounded);
    const weights = doubles(arena, shape.others, () => number(random));
    return (kernels) => {
      kernels.scatterMapped(shape.cell, pending, count, map, weights);
      return undefined;
    };
  };
}

function sweepRowsMappedCase(bounded: boolean): KernelCase {
  return (arena, random, loss) => {
    const { units, others, cell, order, begin, end } = drawCell(arena, random);
    const rows = drawRowState(arena, random, loss, units);
    const step = drawStep(random);
    const map = drawMap(arena, random, others, bounded);
    const weights = doubles(arena, others, () => number(random));
    const stats = drawStats(arena, random);
    return (kernels) => {
      kernels.sweepRowsMapped(cell, order, begin, end, rows, step, map, weights, stats);
      return undefined;
    };
  };
}

function stepColumnsCase(bounded: boolean): KernelCase {
  return (arena, random) => {
    const shape = drawCell(arena, random);
    const { pending } = drawPending(arena, random, shape);
    const columns = drawColumns(arena, random, shape.units, bounded);
    const inverseTotalWeight = 1 / (1 + random.below(50));
    const stats = drawStats(arena, random);
    const { order, begin, end } = shape;
    return (kernels) =>
      kernels.stepColumns(order, begin, end, columns, inverseTotalWeight, pending, stats);
  };
}

function sweepColumnsCase(bounded: boolean): KernelCase {
  return (arena, random, loss) => {
    const { units, others, cell, order, begin, end } = drawCell(arena, random);
    const rows = drawMargins(arena, random, loss, others);
    const columns = drawColumns(arena, random, units, bounded);
    const damping = 3 * random.uniform();
    const inverse = 1 / (1 + random.below(50));
    const stats = drawStats(arena, random);
    return (kernels) => {
      kernels.sweepColumns(cell, order, begin, end, rows, columns, damping, inverse, stats);
      return undefined;
    };
  };
}

/** By kernel; a name before a colon is the kernel's, what follows tells variants apart. */
export const kernelCases: Readonly<Record<string, KernelCase>> = {
  ...vectorCases,
  ...denseCases,
  ...segmentCases,
  ...panelCases,
  ...workingSetCases,
  ...sgdCases,
  ...certificateCases,
  ...stageCases,
  gather: (arena, random) => {
    const { units, others, cell, order, begin, end } = drawCell(arena, random);
    const source = doubles(arena, others, () => number(random));
    const result = doubles(arena, units, () => number(random));
    const fresh = random.below(2) === 0;
    return (kernels) => {
      kernels.gather(cell, order, begin, end, fresh, source, result);
      return undefined;
    };
  },
  scatter: (arena, random) => {
    const shape = drawCell(arena, random);
    const { pending, count } = drawPending(arena, random, shape);
    const target = doubles(arena, shape.others, () => number(random));
    return (kernels) => {
      kernels.scatter(shape.cell, pending, count, target);
      return undefined;
    };
  },
  gatherSizes: (arena, random) => {
    const { units, others, cell, order, begin, end } = drawCell(arena, random);
    const source = doubles(arena, others, () => number(random));
    const result = doubles(arena, units, () => number(random));
    return (kernels) => {
      kernels.gatherSizes(cell, order, begin, end, source, result);
      return undefined;
    };
  },
  gatherBoth: (arena, random) => {
    const { units, others, cell, order, begin, end } = drawCell(arena, random);
    const source = doubles(arena, others, () => number(random));
    const result = doubles(arena, units, () => number(random));
    const sizes = doubles(arena, units, () => random.uniform());
    return (kernels) => {
      kernels.gatherBoth(cell, order, begin, end, source, result, sizes);
      return undefined;
    };
  },
  scatterSizes: (arena, random) => {
    const shape = drawCell(arena, random);
    const { pending, count } = drawPending(arena, random, shape);
    const target = doubles(arena, shape.others, () => number(random));
    return (kernels) => {
      kernels.scatterSizes(shape.cell, pending, count, target);
      return undefined;
    };
  },
  scatterBoth: (arena, random) => {
    const shape = drawCell(arena, random);
    const { pending, count } = drawPending(arena, random, shape);
    const target = doubles(arena, shape.others, () => number(random));
    const sizes = doubles(arena, shape.others, () => random.uniform());
    return (kernels) => {
      kernels.scatterBoth(shape.cell, pending, count, target, sizes);
      return undefined;
    };
  },
  scatterMapped: scatterMappedCase(false),
  'scatterMapped: bounded': scatterMappedCase(true),
  rowNorms: (arena, random) => {
    const { units, others, cell } = drawCell(arena, random);
    const a = doubles(arena, others, () => random.uniform());
    const b = doubles(arena, others, () => random.uniform());
    const norms = doubles(arena, units, () => random.uniform());
    const collisions = doubles(arena, units, () => random.uniform());
    return (kernels) => {
      kernels.rowNorms(cell, units, a, b, norms, collisions);
      return undefined;
    };
  },
  stepRows: (arena, random, loss) => {
    const shape = drawCell(arena, random);
    const { pending } = drawPending(arena, random, shape);
    const margins = doubles(arena, shape.units, () => number(random));
    const rows = drawRowState(arena, random, loss, shape.units);
    const step = drawStep(random);
    const stats = drawStats(arena, random);
    const { order, begin, end } = shape;
    return (kernels) => kernels.stepRows(order, begin, end, margins, rows, step, pending, stats);
  },
  sweepRows: (arena, random, loss) => {
    const { units, others, cell, order, begin, end } = drawCell(arena, random);
    const rows = drawRowState(arena, random, loss, units);
    const step = drawStep(random);
    const weights = doubles(arena, others, () => number(random));
    const stats = drawStats(arena, random);
    return (kernels) => {
      kernels.sweepRows(cell, order, begin, end, rows, step, weights, stats);
      return undefined;
    };
  },
  sweepRowsMapped: sweepRowsMappedCase(false),
  'sweepRowsMapped: bounded': sweepRowsMappedCase(true),
  sweepWholeRows: (arena, random, loss) => {
    const { whole, columns, counts, order, begin, end } = drawWholeRows(arena, random);
    const norms = doubles(arena, whole.rows, () =>
      random.below(6) === 0 ? 0 : 50 * random.uniform(),
    );
    const rows = { ...drawRows(arena, random, loss, whole.rows), norms, counts };
    const inverseTotalWeight = 1 / (1 + random.below(100));
    const inverse = doubles(arena, columns, () => 100 * random.uniform());
    const weights = doubles(arena, columns, () => number(random));
    const stats = drawStats(arena, random);
    return (kernels) => {
      kernels.sweepWholeRows(
        whole,
        order,
        begin,
        end,
        rows,
        inverseTotalWeight,
        inverse,
        weights,
        stats,
      );
      return undefined;
    };
  },
  stepWholeRows: (arena, random, loss) => {
    const { whole, columns, counts, order, begin, end } = drawWholeRows(arena, random);
    const rows = { ...drawRowState(arena, random, loss, whole.rows), counts };
    const margins = doubles(arena, whole.rows, () => number(random));
    const step = drawStep(random);
    const pull = doubles(arena, columns, () => 100 * random.uniform());
    const drift = doubles(arena, columns, () => number(random));
    const pending = {
      units: arena.int32(whole.rows),
      deltas: doubles(arena, whole.rows, () => number(random)),
    };
    const stats = drawStats(arena, random);
    return (kernels) =>
      kernels.stepWholeRows(
        whole,
        order,
        begin,
        end,
        margins,
        rows,
        step,
        pull,
        drift,
        pending,
        stats,
      );
  },
  scatterColumns: (arena, random, loss) => {
    const shape = drawCell(arena, random);
    const { pending, count } = drawPending(arena, random, shape);
    const rows = drawMargins(arena, random, loss, shape.others);
    return (kernels) => {
      kernels.scatterColumns(shape.cell, pending, count, rows);
      return undefined;
    };
  },
  gatherColumns: (arena, random, loss) => {
    const { units, others, cell, order, begin, end } = drawCell(arena, random);
    const rows = drawMargins(arena, random, loss, others);
    const columns = drawColumns(arena, random, units);
    const fresh = random.below(2) === 0;
    const damping = 3 * random.uniform();
    return (kernels) => {
      kernels.gatherColumns(cell, order, begin, end, fresh, rows, columns, damping);
      return undefined;
    };
  },
  stepColumns: stepColumnsCase(false),
  'stepColumns: bounded': stepColumnsCase(true),
  sweepColumns: sweepColumnsCase(false),
  'sweepColumns: bounded': sweepColumnsCase(true),
  'saddleRows: η₀/√t': saddleCase(false, false),
  'saddleRows: AdaGrad': saddleCase(true, false),
  'saddleRows: SVRG': saddleCase(false, true),
  'saddleRows: AdaGrad and SVRG': saddleCase(true, true),
  lossSum: (arena, random, loss) => {
    const { labels, rowWeights, to } = drawSegment(arena, random, loss);
    return (kernels) => kernels.lossSum(to, labels, rowWeights);
  },
  conjugateSum: (arena, random, loss) => {
    const { labels, rowWeights, from } = drawSegment(arena, random, loss);
    const scale = random.below(2) === 0 ? 1 : random.uniform();
    return (kernels) => kernels.conjugateSum(from, labels, rowWeights, scale);
  },
  conjugateSlope: (arena, random, loss) => {
    const { labels, rowWeights, from, to } = drawSegment(arena, random, loss);
    const eta = 2 * random.uniform();
    return (kernels) => kernels.conjugateSlope(from, to, labels, rowWeights, eta);
  },
  lossSlope: (arena, random, loss) => {
    const { labels, rowWeights, from, to } = drawSegment(arena, random, loss);
    const eta = 2 * random.uniform();
    return (kernels) => kernels.lossSlope(from, to, labels, rowWeights, eta);
  },
  dualPoint: (arena, random, loss) => {
    const { labels, rowWeights, from, to } = drawSegment(arena, random, loss);
    return (kernels) => {
      kernels.dualPoint(to, labels, rowWeights, from);
      return undefined;
    };
  },
  expandLoss: (arena, random, loss) => {
    const { labels, rowWeights, from, to } = drawSegment(arena, random, loss);
    const alpha = doubles(arena, to.length, () => 0);
    const isBent = loss.openEnds;
    return (kernels) => kernels.expandLoss(to, labels, rowWeights, isBent, alpha, from);
  },
  dualSlopes: (arena, random, loss) => {
    const { labels, rowWeights, from, to } = drawSegment(arena, random, loss);
    return (kernels) => {
      kernels.dualSlopes(from, labels, rowWeights, to);
      return undefined;
    };
  },
  proximalAlong: (arena, random, loss) => {
    const { labels, rowWeights, from, to } = drawSegment(arena, random, loss);
    const centre = doubles(arena, 15, () => number(random));
    const target = doubles(arena, 15, () => 0);
    const [share, width] = [2 * random.uniform(), random.below(3) * random.uniform()];
    const rows = { labels, rowWeights, centre };
    return (kernels) => {
      kernels.proximalAlong(from, to, share, rows, width, target);
      return undefined;
    };
  },
  proximalPoint: (arena, random, loss) => {
    const { labels, rowWeights, from, to } = drawSegment(arena, random, loss);
    const centre = doubles(arena, 15, () => random.uniform() - 0.5);
    const target = doubles(arena, 15, () => 0);
    const [flat, width] = [random.below(2) === 0, 0.01 + random.uniform()];
    const rows = { labels, rowWeights, centre };
    return (kernels) => {
      kernels.proximalPoint(from, rows, width, flat, to, target);
      return undefined;
    };
  },
  shiftAlpha: (arena, random, loss) => {
    const { labels, rowWeights, from, to, shift } = drawSegment(arena, random, loss);
    return (kernels) => kernels.shiftAlpha(from, labels, rowWeights, shift, to);
  },
};
