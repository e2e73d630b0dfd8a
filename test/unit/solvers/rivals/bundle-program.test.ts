/** BMRM's inner program against every support tried in turn, and against its optimality conditions. */
import { describe, expect, test } from 'vitest';
import { stream } from '../../../../src/math/random.ts';
import { BundleProgram } from '../../../../src/solvers/rivals/bundle-program.ts';

interface Plane {
  readonly slope: readonly number[];
  readonly offset: number;
}

const product = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, x, k) => sum + x * b[k], 0);

function planesOf(count: number, length: number, seed: number): Plane[] {
  const random = stream(seed, 9);
  return Array.from({ length: count }, () => ({
    slope: Array.from({ length }, () => random.normal()),
    offset: random.normal(),
  }));
}

function add(program: BundleProgram, planes: readonly Plane[], plane: Plane): void {
  const products = [...planes, plane].map(({ slope }) => product(slope, plane.slope));
  program.add(products, plane.offset);
}

function programOf(planes: readonly Plane[], capacity = planes.length): BundleProgram {
  const program = new BundleProgram(capacity);
  planes.forEach((plane, k) => {
    add(program, planes.slice(0, k), plane);
  });
  return program;
}

/** f(β) = ⟨b, β⟩ − ½ |Σ β_k a_k|² */
function valueAt(planes: readonly Plane[], shares: ArrayLike<number>): number {
  const sum = planes[0].slope.map((_, j) =>
    planes.reduce((total, { slope }, k) => total + shares[k] * slope[j], 0),
  );
  const offset = planes.reduce((total, plane, k) => total + shares[k] * plane.offset, 0);
  return offset - product(sum, sum) / 2;
}

/** Gaussian elimination with pivoting; undefined when singular. */
function solveDense(rows: number[][]): number[] | undefined {
  const size = rows.length;
  for (let k = 0; k < size; k++) {
    let pivot = k;
    for (let r = k; r < size; r++) if (Math.abs(rows[r][k]) > Math.abs(rows[pivot][k])) pivot = r;
    [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
    if (Math.abs(rows[k][k]) < 1e-9) return undefined;
    for (let r = 0; r < size; r++) {
      const factor = r === k ? 0 : rows[r][k] / rows[k][k];
      for (let c = k; c <= size; c++) rows[r][c] -= factor * rows[k][c];
    }
  }
  return rows.map((row, k) => row[size] / row[k]);
}

/** The largest f over all supports whose optimum is unique: one of them has the maximum. */
function bruteForce(planes: readonly Plane[]): number {
  let best = -Infinity;
  for (let mask = 1; mask < 2 ** planes.length; mask++) {
    const support = [...planes.keys()].filter((k) => mask & (1 << k));
    const rows = support.map((k) => [
      ...support.map((l) => product(planes[k].slope, planes[l].slope)),
      1,
      planes[k].offset,
    ]);
    rows.push([...support.map(() => 1), 0, 1]);
    const solution = solveDense(rows);
    if (!solution || solution.slice(0, -1).some((share) => share < 0)) continue;
    const shares = new Float64Array(planes.length);
    support.forEach((k, at) => {
      shares[k] = solution[at];
    });
    best = Math.max(best, valueAt(planes, shares));
  }
  return best;
}

function expectSimplex({ shares, size }: BundleProgram): void {
  const used = shares.subarray(0, size);
  expect(Math.min(...used)).toBeGreaterThanOrEqual(0);
  expect(used.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 13);
}

describe('the maximum', () => {
  test('of one plane and of two, as one writes it down', () => {
    const one = programOf([{ slope: [3], offset: 2 }]);
    expect(one.solve(0)).toBe(0);
    expect([...one.shares]).toEqual([1]);
    // ½ (β₀ − β₁)² is least at ½, and the offsets move that by a quarter of their difference.
    const two = programOf([
      { slope: [1], offset: 1 },
      { slope: [-1], offset: 0 },
    ]);
    two.solve(1e-15);
    expect(two.shares[0]).toBeCloseTo(0.75, 14);
    expect(two.offset()).toBeCloseTo(0.75, 14);
  });

  const cases = [1, 2, 3, 5, 8].flatMap((count) => [1, 2, 4, 9].map((length) => [count, length]));

  test.each(cases)('of %i planes in %i dimensions is that of brute force', (count, length) => {
    for (let seed = 1; seed <= 20; seed++) {
      const planes = planesOf(count, length, seed);
      const program = programOf(planes);
      expect(program.solve(0)).toBeLessThan(1e-9);
      expectSimplex(program);
      expect(valueAt(planes, program.shares)).toBeCloseTo(bruteForce(planes), 9);
    }
  });

  test('is found among planes that repeat, that are zero, and that differ in the offset', () => {
    const [plane, other] = planesOf(2, 3, 4);
    const zero = { slope: [0, 0, 0], offset: -1 };
    const planes = [zero, plane, plane, other, { ...other, offset: other.offset + 1 }, zero];
    const program = programOf(planes);
    expect(program.solve(0)).toBeLessThan(1e-12);
    expectSimplex(program);
    expect(valueAt(planes, program.shares)).toBeCloseTo(bruteForce(planes), 11);
    const flat = programOf([zero, { ...zero, offset: 3 }, zero]);
    expect(flat.solve(0)).toBe(0);
    expect([...flat.shares]).toEqual([0, 1, 0]);
  });

  test.each([
    { count: 60, length: 10 },
    { count: 60, length: 100 },
    { count: 200, length: 40 },
  ])('of $count planes in $length dimensions meets its conditions', ({ count, length }) => {
    const planes = planesOf(count, length, 3);
    const program = programOf(planes);
    program.solve(0);
    expectSimplex(program);
    const values = planes.map(({ slope, offset }, k) => {
      const pull = planes.map((plane, l) => program.shares[l] * product(slope, plane.slope));
      return { share: program.shares[k], value: offset - pull.reduce((sum, x) => sum + x, 0) };
    });
    const top = Math.max(...values.map(({ value }) => value));
    for (const { share, value } of values) if (share > 0) expect(top - value).toBeLessThan(1e-9);
  });
});

describe('the gap that is returned', () => {
  test('meets the tolerance and bounds what is missing', () => {
    const planes = planesOf(40, 12, 5);
    const exact = programOf(planes);
    exact.solve(0);
    const maximum = valueAt(planes, exact.shares);
    let rounds = 0;
    for (const tolerance of [10, 1, 0.1, 0.01]) {
      const program = programOf(planes);
      const gap = program.solve(tolerance);
      const missing = maximum - valueAt(planes, program.shares);
      expect(gap).toBeLessThanOrEqual(tolerance);
      expect(missing).toBeLessThanOrEqual(gap + 1e-12);
      if (missing > 1e-9) rounds++;
    }
    // The tolerance does spare work: not every run went to the end.
    expect(rounds).toBeGreaterThan(1);
  });
});

describe('a bundle over time', () => {
  test('never loses what it has when planes come, go and are merged', () => {
    const random = stream(8, 1);
    const program = new BundleProgram(12);
    let planes: Plane[] = [];
    let value = -Infinity;
    let merged = 0;
    for (const plane of planesOf(100, 20, 6)) {
      if (planes.length === 12) {
        const idle = planes.findIndex((_, k) => program.shares[k] === 0);
        let gone = idle;
        if (idle >= 0) program.remove(idle);
        else {
          const into = random.below(12);
          gone = (into + 1 + random.below(11)) % 12;
          const [a, b] = [planes[into], planes[gone]];
          const s = program.merge(into, gone);
          const mix = (x: number, y: number) => (1 - s) * x + s * y;
          const slope = a.slope.map((x, j) => mix(x, b.slope[j]));
          planes[into] = { slope, offset: mix(a.offset, b.offset) };
          merged++;
        }
        planes[gone] = planes[11];
        planes = planes.slice(0, 11);
        expect(valueAt(planes, program.shares)).toBeCloseTo(value, 11);
      }
      add(program, planes, plane);
      planes.push(plane);
      expect(program.solve(0)).toBeLessThan(1e-9);
      expectSimplex(program);
      const next = valueAt(planes, program.shares);
      expect(next).toBeGreaterThanOrEqual(value - 1e-11);
      expect(next).toBeCloseTo(maximumAfresh(planes), 9);
      value = next;
    }
    expect(merged).toBeGreaterThan(0);
  });
});

/** A second program that has seen nothing of the first one's history. */
function maximumAfresh(planes: readonly Plane[]): number {
  const program = programOf(planes);
  program.solve(0);
  return valueAt(planes, program.shares);
}
