import { softThreshold } from '../../../math/scalars.ts';
import type { Loss } from '../../../problem/losses/loss.ts';
import type { Cell } from '../kernels.ts';
import {
  workingStat as stat,
  type WorkingColumns,
  type WorkingSetKernels,
} from '../working-set-kernels.ts';

/** How much farther than its model asks for a step on α goes. */
const longer = 1.3;

/** Up to this change of a margin the model error is told from the slope alone. */
const nearby = 0.5;

/** Σ x_i a_i in four sums side by side. */
function dot({ offsets, indices, values }: Cell, a: number, source: Float64Array): number {
  const last = offsets[a + 1];
  let k = offsets[a];
  let first = 0;
  let second = 0;
  let third = 0;
  let fourth = 0;
  for (; k + 3 < last; k += 4) {
    first += values[k] * source[indices[k]];
    second += values[k + 1] * source[indices[k + 1]];
    third += values[k + 2] * source[indices[k + 2]];
    fourth += values[k + 3] * source[indices[k + 3]];
  }
  let rest = 0;
  for (; k < last; k++) rest += values[k] * source[indices[k]];
  return first + second + (third + fourth) + rest;
}

/** target_i += δ x_i h_i */
function move(
  { offsets, indices, values }: Cell,
  a: number,
  delta: number,
  curvatures: Float64Array,
  target: Float64Array,
): void {
  for (let k = offsets[a]; k < offsets[a + 1]; k++) {
    const i = indices[k];
    target[i] += delta * values[k] * curvatures[i];
  }
}

/** argmin_z of the model in one weight; returns its change. */
function step(
  a: number,
  product: number,
  columns: WorkingColumns,
  scale: number,
  stats: Float64Array,
): number {
  const z = columns.now[a];
  const l1 = columns.l1[a];
  const l2 = columns.l2[a];
  const h = columns.hessians[a] * scale + l2;
  const g = (columns.gradients[a] + product) * scale + l2 * z;
  stats[stat.work] += columns.counts[a];
  columns.violations[a] = 0;
  if (!(h > 0)) return 0;
  const next = softThreshold(h * z - g, l1) / h;
  const delta = next - z;
  const violation = l1 > 0 ? h * Math.abs(delta) : 0;
  columns.violations[a] = violation;
  if (violation > stats[stat.worst]) stats[stat.worst] = violation;
  if (delta === 0) return 0;
  stats[stat.work] += columns.counts[a];
  stats[stat.gain] -= g * delta + 0.5 * h * delta * delta + l1 * (Math.abs(next) - Math.abs(z));
  columns.now[a] = next;
  return delta;
}

/** How far α has to go along h ∘ x_a. */
function retreat(
  a: number,
  product: number,
  { hessians, l1, counts }: WorkingColumns,
  { allowed, scale }: { readonly allowed: number; readonly scale: number },
  stats: Float64Array,
): number {
  const v = product * scale;
  const h = hessians[a] * scale;
  const over = Math.abs(v) - l1[a];
  stats[stat.work] += counts[a];
  if (over <= allowed * l1[a] || !(h > 0)) return 0;
  stats[stat.work] += counts[a];
  stats[stat.worst]++;
  return (longer * (v > 0 ? -over : over)) / h;
}

/** Columns of a working set. Twin of assembly/working-set.ts. */
export function plainWorkingSetKernels(loss: Loss): WorkingSetKernels {
  const { parameter } = loss;
  return {
    ...packing,
    ...sums,
    ...weightSums,

    modelRows(margins, labels, rowWeights, known, derivatives, slopes, curvatures) {
      let largest = 0;
      for (let i = 0; i < margins.length; i++) {
        const [u, y, c] = [margins[i], labels[i], rowWeights[i]];
        if (!known) derivatives[i] = loss.derivative(u, y, parameter);
        const slope = derivatives[i];
        let curvature = loss.curvature(u, y, parameter, slope);
        if (loss.conjugateCurvature) {
          const most = 1 / loss.conjugateCurvature(slope, y, parameter);
          const [low, high] = [loss.conjugateLow(y, parameter), loss.conjugateHigh(y, parameter)];
          const isAtEnd = slope <= low || slope >= high;
          const isStraight = isAtEnd || (slope === 0 && curvature < most);
          curvature = isStraight ? 0 : Math.min(curvature, most);
        }
        slopes[i] = c * slope;
        curvatures[i] = curvature;
        if (c > 0 && curvature > largest) largest = curvature;
      }
      return largest;
    },

    searchSlope(next, labels, rowWeights, inverses, moved, derivatives) {
      let sum = 0;
      for (let i = 0; i < next.length; i++) {
        const q = moved[i];
        if (q === 0) continue;
        const slope = loss.derivative(next[i], labels[i], parameter);
        derivatives[i] = slope;
        sum += q * inverses[i] * (rowWeights[i] * slope);
      }
      return sum;
    },

    modelError(margins, labels, rowWeights, slopes, inverses, moved, isOpen) {
      const bendOf = isOpen ? loss.conjugateCurvature : undefined;
      let sum = 0;
      for (let i = 0; i < margins.length; i++) {
        const q = moved[i];
        if (q === 0) continue;
        const t = q * inverses[i];
        const [s, c, y] = [slopes[i], rowWeights[i], labels[i]];
        if (bendOf && t < nearby && t > -nearby) {
          sum += 0.5 * t * ((t * c) / bendOf((s + q) / c, y, parameter) - q);
        } else {
          sum += t * (c * loss.derivative(margins[i] + t, y, parameter) - s - q);
        }
      }
      return sum;
    },

    sweepWorkingSet(packed, begin, end, curvatures, moved, columns, scale, above, stats) {
      for (let a = begin; a < end; a++) {
        if (columns.violations[a] <= above) continue;
        const delta = step(a, dot(packed, a, moved), columns, scale, stats);
        if (delta !== 0) move(packed, a, delta, curvatures, moved);
      }
    },

    stepWorkingSet(begin, end, dots, columns, scale, above, deltas, stats) {
      for (let a = begin; a < end; a++) {
        const isMeant = !(columns.violations[a] <= above);
        deltas[a - begin] = isMeant ? step(a, dots[a - begin], columns, scale, stats) : 0;
      }
    },

    sweepDual(packed, begin, end, curvatures, alpha, columns, allowed, scale, stats) {
      const rule = { allowed, scale };
      for (let a = begin; a < end; a++) {
        const delta = retreat(a, dot(packed, a, alpha), columns, rule, stats);
        if (delta !== 0) move(packed, a, delta, curvatures, alpha);
      }
    },

    stepDual(begin, end, dots, columns, allowed, scale, deltas, stats) {
      const rule = { allowed, scale };
      for (let a = begin; a < end; a++) {
        deltas[a - begin] = retreat(a, dots[a - begin], columns, rule, stats);
      }
    },
  };
}

type Packing = 'packColumns' | 'packRows' | 'sumColumns' | 'dotColumns';
type Sharing = 'countSharing' | 'sumTogether';

const packing: Pick<WorkingSetKernels, Packing | Sharing | 'moveColumns'> = {
  packColumns({ offsets, indices, values }, order, begin, end, packed) {
    for (let a = begin; a < end; a++) {
      const [first, last] = [offsets[order[a]], offsets[order[a] + 1]];
      const at = packed.offsets[a];
      packed.indices.set(indices.subarray(first, last), at);
      packed.values.set(values.subarray(first, last), at);
      packed.offsets[a + 1] = at + last - first;
    }
  },

  packRows({ offsets, indices, values }, columns, byRows) {
    const starts = byRows.offsets;
    const rows = starts.length - 1;
    starts.fill(0);
    for (let k = offsets[0]; k < offsets[columns]; k++) starts[indices[k] + 1]++;
    for (let i = 0; i < rows; i++) starts[i + 1] += starts[i];
    for (let j = 0; j < columns; j++) {
      for (let k = offsets[j]; k < offsets[j + 1]; k++) {
        const at = starts[indices[k]]++;
        byRows.indices[at] = j;
        byRows.values[at] = values[k];
      }
    }
    starts.copyWithin(1, 0, rows);
    starts[0] = 0;
  },

  sumColumns({ offsets, indices, values }, begin, end, slopes, curvatures, gradients, hessians) {
    for (let a = begin; a < end; a++) {
      const last = offsets[a + 1];
      const g = [0, 0];
      const h = [0, 0];
      let k = offsets[a];
      for (; k + 1 < last; k += 2) {
        for (const side of [0, 1]) {
          const [i, x] = [indices[k + side], values[k + side]];
          g[side] += x * slopes[i];
          h[side] += x * x * curvatures[i];
        }
      }
      let [gradient, hessian] = [g[0] + g[1], h[0] + h[1]];
      if (k < last) {
        gradient += values[k] * slopes[indices[k]];
        hessian += values[k] * values[k] * curvatures[indices[k]];
      }
      gradients[a - begin] = gradient;
      hessians[a - begin] = hessian;
    }
  },

  countSharing({ offsets, indices }, begin, end, sharing, shares) {
    const [first, last] = [offsets[begin], offsets[end]];
    for (let k = first; k < last; k++) sharing[indices[k]]++;
    for (let k = first; k < last; k++) shares[k] = sharing[indices[k]];
    for (let k = first; k < last; k++) sharing[indices[k]] = 0;
  },

  sumTogether(
    { offsets, indices, values },
    ...[begin, end, slopes, curvatures, shares, gradients, hessians]
  ) {
    for (let a = begin; a < end; a++) {
      let gradient = 0;
      let hessian = 0;
      for (let k = offsets[a]; k < offsets[a + 1]; k++) {
        const i = indices[k];
        gradient += values[k] * slopes[i];
        hessian += values[k] * values[k] * curvatures[i] * shares[k];
      }
      gradients[a - begin] = gradient;
      hessians[a - begin] = hessian;
    }
  },

  dotColumns(packed, begin, end, source, result) {
    for (let a = begin; a < end; a++) result[a - begin] = dot(packed, a, source);
  },

  moveColumns(packed, begin, end, deltas, curvatures, target) {
    for (let a = begin; a < end; a++) {
      if (deltas[a - begin] !== 0) move(packed, a, deltas[a - begin], curvatures, target);
    }
  },
};

/** Σ of the even and of the odd terms, then the last of an odd number. */
function inPairs(count: number, term: (k: number) => number): number {
  let even = 0;
  let odd = 0;
  let k = 0;
  for (; k + 1 < count; k += 2) {
    even += term(k);
    odd += term(k + 1);
  }
  return k < count ? even + odd + term(k) : even + odd;
}

type Sums = 'productOfSum' | 'productOfThree' | 'scaledChange' | 'addScaled' | 'addMultiple';

const sums: Pick<WorkingSetKernels, Sums | 'boundCurvatures'> = {
  boundCurvatures(curvatures, rowWeights, least, inverses) {
    for (let i = 0; i < curvatures.length; i++) {
      const h = rowWeights[i] * Math.max(curvatures[i], least);
      curvatures[i] = h;
      inverses[i] = h > 0 ? 1 / h : 0;
    }
  },
  productOfSum: (a, b, c) => inPairs(a.length, (k) => a[k] * (b[k] + c[k])),
  productOfThree: (a, b, c) => inPairs(a.length, (k) => a[k] * b[k] * c[k]),
  scaledChange(from, to, factor, target) {
    for (let k = 0; k < target.length; k++) target[k] = (to[k] - from[k]) * factor[k];
  },
  addScaled(target, share, factor, source) {
    for (let k = 0; k < target.length; k++) target[k] += share * factor[k] * source[k];
  },
  addMultiple(target, share, source) {
    for (let k = 0; k < target.length; k++) target[k] += share * source[k];
  },
};

type OfWeights =
  | 'cornerSum'
  | 'penaltySlopeBefore'
  | 'bendDirection'
  | 'moveWeights'
  | 'measureViolations';

const weightSums: Pick<WorkingSetKernels, OfWeights> = {
  cornerSum(p, z, l1, side) {
    let sum = 0;
    for (let a = 0; a < p.length; a++) {
      sum += l1[a] * (z[a] > 0 ? p[a] : z[a] < 0 ? -p[a] : side * Math.abs(p[a]));
    }
    return sum;
  },

  penaltySlopeBefore(from, to, l1, l2, share) {
    let sum = 0;
    for (let a = 0; a < from.length; a++) {
      const change = to[a] - from[a];
      if (change === 0) continue;
      const z = share === 1 ? to[a] : from[a] + share * change;
      const corner = z > 0 ? change : z < 0 ? -change : -Math.abs(change);
      sum += l1[a] * corner + l2[a] * z * change;
    }
    return sum;
  },

  bendDirection(now, direction, l1, bent, { units, deltas }) {
    let number = 0;
    for (let a = 0; a < bent.length; a++) {
      const [z, p] = [now[a], direction[a]];
      const isCut = p !== 0 && l1[a] !== 0 && (z === 0 || (z + p) * z < 0);
      bent[a] = isCut ? -z : p;
      if (!isCut) continue;
      units[number] = a;
      deltas[number++] = -z - p;
    }
    return number;
  },

  moveWeights(now, direction, share, hit) {
    for (let a = 0; a < direction.length; a++) {
      const [z, p] = [now[a], direction[a]];
      if (p === 0) continue;
      now[a] = a === hit || (share === 1 && p === -z) ? 0 : z + share * p;
    }
  },

  measureViolations(weights, image, l1, l2, level, found) {
    let [worst, norm, cost, ratio] = [0, 0, 0, 0];
    for (let j = 0; j < weights.length; j++) {
      if (l1[j] === 0) continue;
      const bound = level * l1[j];
      const w = weights[j];
      const pull = image[j] - level * l2[j] * w;
      const over = Math.abs(pull) - bound;
      const excess = over > 0 ? over : 0;
      const off = w === 0 ? excess : Math.abs(pull - (w > 0 ? bound : -bound));
      if (off > worst) worst = off;
      const size = Math.abs(image[j]) / l1[j];
      if (size > ratio) ratio = size;
      norm += Math.abs(w);
      cost += Math.abs(w) * excess;
    }
    found.set([worst, norm, cost, ratio]);
  },
};
