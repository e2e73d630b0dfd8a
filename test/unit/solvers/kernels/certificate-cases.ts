/** Random arguments for the sums of certificates and the bounds on their errors. */
import type { Arena } from '../../../../src/engine/arena.ts';
import type { Random } from '../../../../src/math/random.ts';
import { kindOfLoss } from '../../../../src/solvers/kernels/certificate.ts';
import type { KernelCase } from './cases.ts';
import { doubles, drawBox, drawCell, drawRows, integers, number } from './draw.ts';

const perhaps = (random: Random) => () => (random.below(3) === 0 ? 0 : random.uniform());

/** Columns with and without parts of a penalty, whose image is near its bound; now and then one is left out. */
function drawBoundedColumns(arena: Arena, random: Random, isBounded: boolean) {
  const length = random.below(12);
  const columns = {
    image: doubles(arena, length, () => number(random)),
    errors: doubles(arena, length, () => 10 ** -random.below(20)),
    l1: doubles(arena, length, perhaps(random)),
    l2: doubles(arena, length, perhaps(random)),
    skip: random.below(length + 1) - 1,
  };
  return { columns, box: isBounded ? drawBox(arena, random, length) : undefined };
}

const drawFound = (arena: Arena) => doubles(arena, 3, () => 7);

const drawScale = (random: Random) => (random.below(2) === 0 ? 1 : random.uniform());

function bounded(make: (isBounded: boolean) => KernelCase, name: string) {
  return { [name]: make(false), [`${name}: bounded`]: make(true) };
}

function cellCase(name: 'addSquares' | 'addExactly'): KernelCase {
  return (arena, random) => {
    const { units, others, cell, begin, end } = drawCell(arena, random);
    const byRow = random.below(2) === 0;
    const [rows, columns] = byRow ? [units, others] : [others, units];
    const source = doubles(arena, rows, () => number(random));
    const first = doubles(arena, columns, () => number(random));
    const second = doubles(arena, columns, () => number(random));
    return (kernels) => {
      kernels[name](cell, begin, end, byRow, source, first, second);
      return undefined;
    };
  };
}

export const certificateCases: Readonly<Record<string, KernelCase>> = {
  lossErrors: (arena, random, loss) => {
    const rows = random.below(15);
    const { labels, rowWeights } = drawRows(arena, random, loss, rows);
    const margins = doubles(arena, rows, () => number(random));
    const sizes = doubles(arena, rows, () => 10 ** random.below(12));
    const counts = integers(arena, rows, () => random.below(50));
    const found = drawFound(arena);
    const adding = random.below(2) === 0 ? 0 : random.uniform();
    const kind = kindOfLoss(loss);
    return (kernels) => {
      kernels.lossErrors(margins, labels, rowWeights, sizes, counts, 5, adding, kind, found);
      return undefined;
    };
  },
  conjugateErrors: (arena, random, loss) => {
    const { labels, rowWeights, alpha } = drawRows(arena, random, loss, random.below(15));
    const found = drawFound(arena);
    const scale = [0, 1, random.uniform()][random.below(3)];
    return (kernels) => {
      kernels.conjugateErrors(alpha, labels, rowWeights, scale, kindOfLoss(loss), found);
      return undefined;
    };
  },
  curvatureSum: (arena, random, loss) => {
    const rows = random.below(15);
    const { labels, rowWeights } = drawRows(arena, random, loss, rows);
    const margins = doubles(arena, rows, () => number(random));
    return (kernels) => kernels.curvatureSum(margins, labels, rowWeights);
  },
  imageErrors: (arena, random) => {
    const length = random.below(12);
    const image = doubles(arena, length, () => number(random));
    const sizes = doubles(arena, length, () => random.uniform());
    const counts = integers(arena, length, () => random.below(50));
    const exactly = random.below(2) === 0;
    return (kernels) => {
      kernels.imageErrors(image, sizes, counts, 7, exactly);
      return undefined;
    };
  },
  ...bounded(
    (isBounded) => (arena, random) => {
      const { columns, box } = drawBoundedColumns(arena, random, isBounded);
      const found = drawFound(arena);
      const scale = drawScale(random);
      return (kernels) => {
        kernels.penaltyBounds(columns, box, scale, 1 + 2 ** -40, found);
        return undefined;
      };
    },
    'penaltyBounds',
  ),
  ...bounded(
    (isBounded) => (arena, random) => {
      const { columns, box } = drawBoundedColumns(arena, random, isBounded);
      return (kernels) => kernels.greatestRatio(columns, box);
    },
    'greatestRatio',
  ),
  ...bounded(
    (isBounded) => (arena, random) => {
      const { columns, box } = drawBoundedColumns(arena, random, isBounded);
      const scale = drawScale(random);
      return (kernels) => {
        kernels.columnRooms(columns, box, scale);
        return undefined;
      };
    },
    'columnRooms',
  ),
  addSquares: cellCase('addSquares'),
  addExactly: cellCase('addExactly'),
};
