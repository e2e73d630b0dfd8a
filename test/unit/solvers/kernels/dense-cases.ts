/** Random arguments for products into dense matrices. */
import type { Arena } from '../../../../src/engine/arena.ts';
import type { Random } from '../../../../src/math/random.ts';
import type { Kernels } from '../../../../src/solvers/kernels/kernels.ts';
import { doubles, drawWholeRows, number } from './draw.ts';

type DenseCase = (arena: Arena, random: Random) => (kernels: Kernels) => undefined;

/** Sizes around those of a tile, of a strip of the result, and odd ones. */
const drawSize = (random: Random) => [random.below(9), 60 + random.below(12)][random.below(2)];

/** The matrix has room behind each row, which must stay as it is. */
function productsCase(odd: boolean): DenseCase {
  return (arena, random) => {
    const rows = 1 + drawSize(random);
    const count = 2 * random.below(8) + (odd ? 1 : 0);
    const stride = count + random.below(3);
    const a = doubles(arena, rows * stride, () => number(random));
    const begin = random.below(rows);
    const end = begin + random.below(rows - begin + 1);
    const rowStride = rows + random.below(3);
    const c = doubles(arena, (end - begin) * rowStride, () => number(random));
    const sign = random.below(2) === 0 ? 1 : -1;
    return (kernels) => {
      kernels.addProducts(a, stride, begin, end, count, c, rowStride, sign);
      return undefined;
    };
  };
}

export const denseCases: Record<string, DenseCase> = {
  addProducts: productsCase(false),
  'addProducts: an odd number of terms': productsCase(true),
  addRowProducts: (arena, random) => {
    const { whole, bounds } = drawWholeRows(arena, random);
    // Columns of a block come in any order.
    for (let k = 0; k + 1 < whole.offsets.length; k++) {
      const [from, to] = [whole.offsets[k], whole.offsets[k + 1]];
      if (to > from) whole.indices.subarray(from, to).reverse();
    }
    const block = random.below(whole.blocks);
    const [begin, end] = bounds.slice(block);
    const stride = end + random.below(3);
    const scales = doubles(arena, whole.rows, () => (random.below(4) === 0 ? 0 : random.uniform()));
    const gram = doubles(arena, (end - begin) * stride, () => number(random));
    return (kernels) => {
      kernels.addRowProducts(whole, block, scales, gram, stride);
      return undefined;
    };
  },
};
