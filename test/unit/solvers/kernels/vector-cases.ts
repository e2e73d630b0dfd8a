/** Random arguments for the loops over whole vectors. */

import type { Arena } from '../../../../src/engine/arena.ts';
import type { Random } from '../../../../src/math/random.ts';
import type { Kernels } from '../../../../src/solvers/kernels/kernels.ts';
import { bytes, doubles, drawBox, drawMap, integers, number } from './draw.ts';

type VectorCase = (arena: Arena, random: Random) => (kernels: Kernels) => number | undefined;

/** Two vectors, some of whose entries agree. */
function drawPair(arena: Arena, random: Random) {
  const length = random.below(20);
  const drawn = Array.from({ length }, () => number(random));
  const from = doubles(arena, length, (k) => drawn[k]);
  const to = doubles(arena, length, (k) => (random.below(3) === 0 ? drawn[k] : number(random)));
  return { length, from, to };
}

/** λ l1 f and λ l2 f of columns, some without one or both. */
function drawPenalty(arena: Arena, random: Random, length: number) {
  const perhaps = () => (random.below(3) === 0 ? 0 : random.uniform());
  return { l1: doubles(arena, length, perhaps), l2: doubles(arena, length, perhaps) };
}

/** 0 and 1, where the segments end, and shares between and beyond. */
const drawShare = (random: Random) =>
  [0, 1, random.uniform(), 2 * random.uniform()][random.below(4)];

function interpolateCase(target: 'other' | 'from' | 'to'): VectorCase {
  return (arena, random) => {
    const { length, from, to } = drawPair(arena, random);
    const other = doubles(arena, length, () => number(random));
    const share = drawShare(random);
    return (kernels) => {
      kernels.interpolate({ other, from, to }[target], from, to, share);
      return undefined;
    };
  };
}

function scaleCase(inPlace: boolean): VectorCase {
  return (arena, random) => {
    const { from, to } = drawPair(arena, random);
    const factor = number(random);
    return (kernels) => {
      kernels.scaleInto(from, inPlace ? from : to, factor);
      return undefined;
    };
  };
}

function mapCase(bounded: boolean): VectorCase {
  return (arena, random) => {
    const columns = random.below(20);
    const map = drawMap(arena, random, columns, bounded);
    const weights = doubles(arena, columns, () => number(random));
    return (kernels) => {
      kernels.mapWeights(map, weights);
      return undefined;
    };
  };
}

function slopeCase(bounded: boolean): VectorCase {
  return (arena, random) => {
    const columns = random.below(20);
    const map = drawMap(arena, random, columns, bounded);
    const start = doubles(arena, columns, () => number(random));
    const share = drawShare(random);
    return (kernels) => kernels.mappedSlope(map, start, share);
  };
}

function combineCase(target: 'other' | 'from' | 'to'): VectorCase {
  return (arena, random) => {
    const { length, from, to } = drawPair(arena, random);
    const other = doubles(arena, length, () => number(random));
    const factor = number(random);
    return (kernels) => {
      kernels.combine({ other, from, to }[target], from, factor, to);
      return undefined;
    };
  };
}

export const vectorCases: Readonly<Record<string, VectorCase>> = {
  extrapolate: (arena, random) => {
    const { length, from: now, to: previous } = drawPair(arena, random);
    const start = doubles(arena, length, () => number(random));
    const beta = random.below(4) === 0 ? 0 : random.uniform();
    return (kernels) => {
      kernels.extrapolate(now, start, previous, beta);
      return undefined;
    };
  },
  'interpolate: into another vector': interpolateCase('other'),
  'interpolate: into the first': interpolateCase('from'),
  'interpolate: into the second': interpolateCase('to'),
  'scaleInto: another vector': scaleCase(false),
  'scaleInto: itself': scaleCase(true),
  'combine: into another vector': combineCase('other'),
  'combine: into the first': combineCase('from'),
  'combine: into the second': combineCase('to'),
  multiplyInto: (arena, random) => {
    const { length, from, to } = drawPair(arena, random);
    const other = doubles(arena, length, () => number(random));
    return (kernels) => {
      kernels.multiplyInto(from, to, other);
      return undefined;
    };
  },
  penaltySum: (arena, random) => {
    const { length, from } = drawPair(arena, random);
    const { l1, l2 } = drawPenalty(arena, random, length);
    return (kernels) => kernels.penaltySum(from, l1, l2);
  },
  penaltyConjugateSum: (arena, random) => {
    const { length, from } = drawPair(arena, random);
    const { l1, l2 } = drawPenalty(arena, random, length);
    return (kernels) => kernels.penaltyConjugateSum(from, l1, l2);
  },
  boundedConjugateSum: (arena, random) => {
    const { length, from } = drawPair(arena, random);
    const { l1, l2 } = drawPenalty(arena, random, length);
    const box = drawBox(arena, random, length);
    const scale = drawShare(random);
    return (kernels) => kernels.boundedConjugateSum(from, l1, l2, box, scale);
  },
  penaltySlope: (arena, random) => {
    const { length, from, to } = drawPair(arena, random);
    const { l1, l2 } = drawPenalty(arena, random, length);
    const share = drawShare(random);
    return (kernels) => kernels.penaltySlope(from, to, l1, l2, share);
  },
  changeAlong: (arena, random) => {
    const { from, to } = drawPair(arena, random);
    return (kernels) => kernels.changeAlong(from, to);
  },
  changeSquare: (arena, random) => {
    const { from, to } = drawPair(arena, random);
    return (kernels) => kernels.changeSquare(from, to);
  },
  mapWeights: mapCase(false),
  'mapWeights: bounded': mapCase(true),
  mappedSlope: slopeCase(false),
  'mappedSlope: bounded': slopeCase(true),
  listUnits: (arena, random) => {
    const { length: units, from: now, to: start } = drawPair(arena, random);
    const run = 1 + random.below(6);
    const order = Int32Array.from({ length: Math.ceil(units / run) }, (_, k) => k);
    random.shuffle(order, order.length);
    const runs = integers(arena, order.length, (k) => order[k]);
    const skip = bytes(arena, units, () => random.below(8));
    const active = integers(arena, units, () => -1);
    return (kernels) => kernels.listUnits(runs, run, skip, now, start, active);
  },
};
