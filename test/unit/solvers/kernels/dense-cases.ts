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

  addColumnProducts: (arena, random) => {
    const { rows, columns, rowCount, columnCount } = drawBothWays(arena, random);
    const begin = random.below(columnCount + 1);
    const end = begin + random.below(columnCount - begin + 1);
    const stride = columnCount + random.below(3);
    const scales = doubles(arena, rowCount, () => (random.below(4) === 0 ? 0 : random.uniform()));
    const gram = doubles(arena, (end - begin) * stride, () => number(random));
    return (kernels) => {
      kernels.addColumnProducts(rows, columns, scales, begin, end, gram, stride);
      return undefined;
    };
  },
  solveRows: (arena, random) => {
    const size = 1 + drawSize(random);
    const matrix = doubles(arena, size * size, () => number(random));
    const first = random.below(size);
    const end = first + random.below(size - first + 1);
    const from = end + random.below(size - end + 1);
    const to = from + random.below(size - from + 1);
    return (kernels) => {
      kernels.solveRows(matrix, size, first, end, from, to);
      return undefined;
    };
  },
  solveFactor: (arena, random) => {
    const size = 1 + drawSize(random);
    const matrix = doubles(arena, size * size, () => number(random));
    const x = doubles(arena, size, () => number(random));
    return (kernels) => {
      kernels.solveFactor(matrix, size, x);
      return undefined;
    };
  },
};

/** The same entries by rows, whose columns are in order, and by columns. */
function drawBothWays(arena: Arena, random: Random) {
  const [rowCount, columnCount] = [random.below(12), 1 + random.below(9)];
  const entries = Array.from({ length: rowCount }, (_, row) =>
    Array.from({ length: columnCount }, (_unused, column) => ({ row, column, value: 0 })),
  )
    .flat()
    .filter(() => random.below(3) === 0)
    .map((entry, place) => ({ ...entry, place, value: Math.fround(number(random)) }));
  const byColumn = entries.toSorted((a, b) => a.column - b.column || a.row - b.row);
  // The first pass only adds up what is needed: its arrays are empty.
  const fill = <Numbers extends Int32Array | Float32Array>(array: Numbers, values: number[]) => {
    for (let k = 0; k < array.length; k++) array[k] = values[k];
    return array;
  };
  const ints = (values: number[]) => fill(arena.int32(values.length), values);
  const floats = (values: number[]) => fill(arena.float32(values.length), values);
  const offsets = (count: number, of: (entry: (typeof entries)[number]) => number) =>
    ints(Array.from({ length: count + 1 }, (_, k) => entries.filter((e) => of(e) < k).length));
  return {
    rowCount,
    columnCount,
    rows: {
      offsets: offsets(rowCount, ({ row }) => row),
      indices: ints(entries.map(({ column }) => column)),
      values: floats(entries.map(({ value }) => value)),
    },
    columns: {
      offsets: offsets(columnCount, ({ column }) => column),
      indices: ints(byColumn.map(({ row }) => row)),
      values: floats(byColumn.map(({ value }) => value)),
      places: ints(byColumn.map(({ place }) => place)),
    },
  };
}
