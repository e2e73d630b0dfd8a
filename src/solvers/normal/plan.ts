import type { Arena } from '../../engine/arena.ts';
import { Budget } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import type { Penalty } from '../../problem/penalties/index.ts';
import { panelWidth } from '../kernels/dense.ts';
import type { DataShape } from '../solver.ts';
import { allocateNormal, type NormalShape } from './memory.ts';

/** Columns at most: a matrix takes 32 MB. */
const mostColumns = 2000;
/** Rows for each column, at least: fewer leave the shorter side to other methods. */
const rowsPerColumn = 2;
/** Bytes of the sums and matrices, and of the margins and images of a group of problems, at most. */
const mostBytes = 2 ** 30;
const groupBytes = 2 ** 29;
/** From this share of non-zeros on rows are unpacked for their products. */
const denseFrom = 0.3;

/** Nanoseconds: measured, see docs/solvers.md. A solution takes a few factors of a part of the columns. */
const cost = {
  product: 0.4,
  denseProduct: 0.12,
  solution: 0.2,
  certificate: 1.5,
  ordinary: 50,
} as const;

/**
 * Whether it pays to solve many problems from XᵀX: by the shape alone. An ordinary solver takes tens of
 * passes for each.
 */
function pays({ rows: m, columns: d, nonzeros: z }: DataShape, problems: number): boolean {
  if (d > mostColumns || m < rowsPerColumn * d) return false;
  const isDense = z > denseFrom * m * d;
  const sums = isDense ? cost.denseProduct * m * d * d : (cost.product * z * z) / m;
  const together = sums + problems * (cost.solution * d ** 3 + cost.certificate * z);
  return together <= problems * cost.ordinary * z;
}

/** Only the square loss has the same curvature everywhere. */
function isSquare({ name, module }: Loss): boolean {
  return name === 'square' && module === undefined;
}

interface NormalRequest {
  readonly loss: Loss;
  readonly penalty: Penalty;
  readonly shape: DataShape;
  readonly partition: Partition;
  readonly parts: number;
  readonly problems: number;
  readonly threads: number;
}

/** What to reserve to solve problems together; undefined where that is not possible or does not pay. */
export function planNormal({
  loss,
  penalty,
  shape,
  partition,
  ...sizes
}: NormalRequest): NormalShape | undefined {
  if (!isSquare(loss) || sizes.problems === 0 || !pays(shape, sizes.problems)) return undefined;
  const bytes = (panels: number, threads = sizes.threads) => {
    const budget = new Budget();
    allocateNormal(budget, partition, penalty, { ...sizes, threads, panels });
    return budget.bytes;
  };
  // The machine and its threads must not decide.
  if (bytes(0, partition.size) > mostBytes) return undefined;
  const perPanel = bytes(1) - bytes(0);
  const most = Math.max(1, Math.floor(groupBytes / perPanel));
  return { ...sizes, panels: Math.min(Math.ceil(sizes.problems / panelWidth), most) };
}

/** Memory of its own, so that the data may take all that kernels can reach. */
export function bytesOfNormal(shape: NormalShape, partition: Partition, penalty: Penalty): number {
  const budget: Arena & { bytes: number } = new Budget();
  allocateNormal(budget, partition, penalty, shape);
  return budget.bytes;
}
