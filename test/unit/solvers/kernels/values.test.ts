/** Kernel results worked out by hand; numbers are chosen so that no step rounds. */
import { describe, expect, test } from 'vitest';
import { losses } from '../../../../src/problem/losses/index.ts';
import { stat } from '../../../../src/solvers/kernels/kernels.ts';
import { Desk } from './desk.ts';

describe.each(['plain', 'wasm'] as const)('%s kernels', (name) => {
  test('gather adds ⟨w, x⟩ to the margins of the listed rows, or starts from 0', () => {
    const desk = new Desk();
    const cell = desk.cell([0, 2, 2, 3], [0, 2, 1], [2, -1, 4]);
    const weights = desk.doubles(3, 5, 7);
    const margins = desk.doubles(100, 200, 300);
    const kernels = desk.kernels(name, losses.hinge());
    kernels.gather(cell, desk.ints(2, 0, 1), 0, 2, false, weights, margins);
    expect([...margins]).toEqual([99, 200, 320]);
    kernels.gather(cell, desk.ints(2, 0, 1), 1, 3, true, weights, margins);
    expect([...margins]).toEqual([-1, 0, 320]);
  });

  test('a mapped scatter moves the image and soft-thresholds it into the weight', () => {
    const desk = new Desk();
    const cell = desk.cell([0, 2], [0, 1], [2, 4]);
    const map = {
      image: desk.doubles(0, -1, 9),
      threshold: desk.doubles(0.5, 0.5, 0.5),
      inverse: desk.doubles(2, 2, 2),
      shift: desk.doubles(0.25, 0, 0),
    };
    const weights = desk.doubles(7, 7, 7);
    const pending = { units: desk.ints(0), deltas: desk.doubles(0.5) };
    desk.kernels(name, losses.hinge()).scatterMapped(cell, pending, 1, map, weights);
    expect([...map.image]).toEqual([1, 1, 9]);
    expect([...weights]).toEqual([1.5, 1, 7]);
  });

  test('row norms weigh squared entries', () => {
    const desk = new Desk();
    const cell = desk.cell([0, 2, 2], [0, 1], [3, -2]);
    const norms = desk.doubles(1, 5);
    const collisions = desk.doubles(0, 6);
    desk
      .kernels(name, losses.hinge())
      .rowNorms(cell, 2, desk.doubles(1, 10), desk.doubles(0.5, 0.25), norms, collisions);
    expect([...norms]).toEqual([50, 5]);
    expect([...collisions]).toEqual([5.5, 6]);
  });

  test('hinge: a dual step goes to α + (1 − y u)/q, cut to [0, 1]; a resting row is skipped', () => {
    const desk = new Desk();
    const rows = {
      labels: desk.doubles(1, -1, 1, 1),
      rowWeights: desk.doubles(1, 1, 1, 1),
      alpha: desk.doubles(0.25, -0.5, 0.75, 0),
      norms: desk.doubles(6, 6, 6, 6),
      collisions: desk.doubles(1, 1, 1, 1),
      counts: desk.ints(3, 4, 5, 6),
      level: desk.bytes(2, 2, 2, 2),
      skip: desk.bytes(0, 0, 0, 0),
    };
    const pending = { units: desk.ints(9, 9, 9, 9), deltas: desk.doubles(9, 9, 9, 9) };
    const stats = desk.doubles(...new Array(stat.length).fill(0));
    // q = (6 + 2·1)/2 = 4
    const step = { damping: 2, inverseTotalWeight: 0.5, deltaScale: 8, shrink: 1 };
    const count = desk
      .kernels(name, losses.hinge())
      .stepRows(desk.ints(0, 1, 2, 3), 0, 4, desk.doubles(0, 0, -3, 2), rows, step, pending, stats);
    expect([...rows.alpha]).toEqual([0.5, -0.75, 1, 0]);
    expect(count).toBe(3);
    expect([...pending.units]).toEqual([0, 1, 2, 9]);
    expect([...pending.deltas]).toEqual([2, -2, 2, 9]);
    // Row 3 rests at 0, far on the right side: its level rises from 2 to 3, for 7 epochs.
    expect([...rows.level]).toEqual([0, 0, 0, 3]);
    expect([...rows.skip]).toEqual([0, 0, 0, 7]);
    expect(stats[stat.work]).toBe(2 * (3 + 4 + 5) + 6);
    expect(stats[stat.effective]).toBe(3);
  });

  test('a row rests only when its gradient is more than 0.05 beyond the bound', () => {
    const desk = new Desk();
    const rows = {
      labels: desk.doubles(1, 1, -1, -1),
      rowWeights: desk.doubles(1, 1, 1, 1),
      alpha: desk.doubles(0, 0, 0, -1),
      norms: desk.doubles(1, 1, 1, 1),
      collisions: desk.doubles(0, 0, 0, 0),
      counts: desk.ints(1, 1, 1, 1),
      level: desk.bytes(0, 1, 1, 0),
      skip: desk.bytes(0, 0, 0, 0),
    };
    const pending = { units: desk.ints(0, 0, 0, 0), deltas: desk.doubles(0, 0, 0, 0) };
    const stats = desk.doubles(...new Array(stat.length).fill(0));
    const margins = desk.doubles(1.0625, 1.046875, -1.0625, -0.9375);
    const step = { damping: 0, inverseTotalWeight: 1, deltaScale: 1, shrink: 1 };
    const order = desk.ints(0, 1, 2, 3);
    const kernels = desk.kernels(name, losses.hinge());
    expect(kernels.stepRows(order, 0, 4, margins, rows, step, pending, stats)).toBe(0);
    expect([...rows.level]).toEqual([1, 0, 2, 1]);
    expect([...rows.skip]).toEqual([1, 0, 3, 1]);
    margins[1] = 1.055;
    kernels.stepRows(order, 1, 2, margins, rows, step, pending, stats);
    expect(rows.level[1]).toBe(1);
    const still = { ...step, shrink: 0 };
    kernels.stepRows(order, 0, 4, margins, rows, still, pending, stats);
    expect([...rows.level]).toEqual([1, 1, 2, 1]);
  });

  test('a column rests only when its gradient is below 0.9 of the threshold', () => {
    const desk = new Desk();
    const columns = {
      weights: desk.doubles(0, 0, 0),
      gradients: desk.doubles(0.88, -0.92, 0),
      hessians: desk.doubles(1, 1, 0),
      l1: desk.doubles(1, 1, 1),
      l2: desk.doubles(0, 0, 0),
      counts: desk.ints(2, 2, 2),
      level: desk.bytes(1, 1, 1),
      skip: desk.bytes(0, 0, 0),
    };
    const pending = { units: desk.ints(0, 0, 0), deltas: desk.doubles(0, 0, 0) };
    const stats = desk.doubles(...new Array(stat.length).fill(0));
    const kernels = desk.kernels(name, losses.square());
    const count = kernels.stepColumns(desk.ints(0, 1, 2), 0, 3, columns, 1, pending, stats);
    expect(count).toBe(0);
    // The last one has neither data nor a quadratic penalty: it is left alone.
    expect([...columns.level]).toEqual([2, 0, 1]);
    expect([...columns.skip]).toEqual([3, 0, 0]);
    expect(stats[stat.work]).toBe(4);
  });

  test('square: a column step is soft(h w − g, λ l1)/(h + λ l2)', () => {
    const desk = new Desk();
    // Two rows, u = (1, 0), y = (3, 1): ℓ' = (−2, −1), ℓ'' = 1; the column holds 2 and 4.
    const cell = desk.cell([0, 2], [0, 1], [2, 4]);
    const rows = {
      labels: desk.doubles(3, 1),
      rowWeights: desk.doubles(1, 1),
      margins: desk.doubles(1, 0),
      slopes: desk.doubles(0, 0),
      curvatures: desk.doubles(0, 0),
      dirty: desk.bytes(1, 1),
      density: desk.doubles(0, 0),
    };
    const columns = {
      weights: desk.doubles(0.5),
      gradients: desk.doubles(0),
      hessians: desk.doubles(0),
      l1: desk.doubles(1),
      l2: desk.doubles(6),
      counts: desk.ints(2),
      level: desk.bytes(0),
      skip: desk.bytes(0),
    };
    const stats = desk.doubles(...new Array(stat.length).fill(0));
    desk
      .kernels(name, losses.square())
      .sweepColumns(cell, desk.ints(0), 0, 1, rows, columns, 0, 0.5, stats);
    // g = (−4 − 4)/2, h = (4 + 16)/2: w = (10·½ + 4 − 1)/(10 + 6) = ½: it was there already.
    expect([...columns.gradients]).toEqual([-8]);
    expect([...columns.hessians]).toEqual([20]);
    expect([...columns.weights]).toEqual([0.5]);
    expect([...rows.margins]).toEqual([1, 0]);
    columns.weights[0] = -1.5;
    rows.dirty.fill(1);
    desk
      .kernels(name, losses.square())
      .sweepColumns(cell, desk.ints(0), 0, 1, rows, columns, 0, 0.5, stats);
    // h w − g = −15 + 4 = −11, thresholded −10, divided by 16; margins follow by the change 0.875.
    expect([...columns.weights]).toEqual([-0.625]);
    expect([...rows.margins]).toEqual([2.75, 3.5]);
  });

  test('a column steps no further than its box, rests at its end, and comes back into it', () => {
    const desk = new Desk();
    const column = (weight: number, gradient: number, l1: number, low: number, high: number) => ({
      weights: desk.doubles(weight),
      gradients: desk.doubles(gradient),
      hessians: desk.doubles(2),
      l1: desk.doubles(l1),
      l2: desk.doubles(2),
      counts: desk.ints(5),
      level: desk.bytes(1),
      skip: desk.bytes(0),
      box: { low: desk.doubles(low), high: desk.doubles(high) },
    });
    const stats = desk.doubles(...new Array(stat.length).fill(0));
    const pending = { units: desk.ints(0), deltas: desk.doubles(0) };
    const step = (columns: ReturnType<typeof column>) =>
      desk
        .kernels(name, losses.square())
        .stepColumns(desk.ints(0), 0, 1, columns, 1, pending, stats);
    // w = (2·0 + 8)/4 = 2 without the box
    const capped = column(0, -8, 0, 0, 0.75);
    expect(step(capped)).toBe(1);
    expect([capped.weights[0], pending.deltas[0], capped.level[0]]).toEqual([0.75, 0.75, 0]);
    // At the end it is pushed on by 8 − 1.5: it rests, longer every time.
    expect(step(capped)).toBe(0);
    expect([capped.level[0], capped.skip[0]]).toEqual([1, 1]);
    expect(step(capped)).toBe(0);
    expect([capped.level[0], capped.skip[0]]).toEqual([2, 3]);
    // A push of a twentieth of the gradient is none to rest on: 8 − 2·3.8 = 0.4.
    const barely = column(3.8, -8, 0, 0, 3.8);
    barely.hessians[0] = 0;
    expect(step(barely)).toBe(0);
    expect([barely.level[0], barely.skip[0]]).toEqual([0, 0]);
    // At 0 with L1 the gradient may pull upwards a little and the weight rests all the same.
    const idle = column(0, -0.5, 1, 0, Infinity);
    expect(step(idle)).toBe(0);
    expect(idle.level[0]).toBe(2);
    // Momentum has led out of the box where there is no curvature to step with.
    const flat = column(-0.5, 3, 0, 0, 1);
    flat.hessians[0] = 0;
    flat.l2[0] = 0;
    expect(step(flat)).toBe(1);
    expect([flat.weights[0], pending.deltas[0]]).toEqual([0, 0.5]);
    expect(step(flat)).toBe(0);
  });

  test('equation saddle_grad as printed, for one non-zero', () => {
    const desk = new Desk();
    // m = 4, |Ω_i| = 2, |Ω̄_j| = 2, λ = ½, x = 2, w = 3, α = ¼, η = 1/8, hinge, y = 1, L2.
    const cell = desk.cell([0, 1], [0], [2]);
    const rows = {
      labels: desk.doubles(1),
      rowWeights: desk.doubles(1),
      alpha: desk.doubles(0.25),
      accumulators: desk.doubles(0),
      inverseCounts: desk.doubles(1 / 8),
      low: desk.doubles(-Infinity),
      high: desk.doubles(Infinity),
      snapshot: desk.doubles(0),
      snapshotGradient: desk.doubles(0),
    };
    const columns = desk.doubles(3, 0, 0.5 / 2, 0, 0, -Infinity, Infinity, 0);
    const step = {
      weightStep: 1 / 8,
      alphaStep: 1 / 8,
      adagrad: false,
      svrg: false,
      l1: 0,
      l2: 1,
      inverseTotalWeight: 1 / 4,
    };
    const kernels = desk.kernels(name, losses.hinge());
    kernels.saddleRows(cell, desk.ints(0), 0, 1, rows, columns, step);
    // w ← 3 − ⅛ (½·3/2 − ¼·2/4), α ← ¼ + ⅛ (1/(4·2) − 3·2/4): the old w in both.
    expect(columns[0]).toBe(3 - (0.75 - 0.125) / 8);
    expect(rows.alpha[0]).toBe(0.25 + (0.125 - 1.5) / 8);
  });

  test('the boxes hold what leaves them', () => {
    const desk = new Desk();
    const cell = desk.cell([0, 1], [0], [2]);
    const rows = {
      labels: desk.doubles(1),
      rowWeights: desk.doubles(1),
      alpha: desk.doubles(0.25),
      accumulators: desk.doubles(0),
      inverseCounts: desk.doubles(1),
      low: desk.doubles(0),
      high: desk.doubles(0.5),
      snapshot: desk.doubles(0),
      snapshotGradient: desk.doubles(0),
    };
    const columns = desk.doubles(-1, 0, 0, 0, 0, -2, 1.25, 0);
    const step = {
      weightStep: 1000,
      alphaStep: 1000,
      adagrad: false,
      svrg: false,
      l1: 0,
      l2: 1,
      inverseTotalWeight: 1,
    };
    desk.kernels(name, losses.hinge()).saddleRows(cell, desk.ints(0), 0, 1, rows, columns, step);
    expect(columns[0]).toBe(1.25);
    expect(rows.alpha[0]).toBe(0.5);
  });

  test('sums over rows take the rows of the views', () => {
    const desk = new Desk();
    const kernels = desk.kernels(name, losses.square());
    const labels = desk.doubles(9, 1, 2, 9).subarray(1, 3);
    const ones = desk.doubles(1, 1, 1, 1).subarray(1, 3);
    const a = desk.doubles(9, 3, 2, 9).subarray(1, 3);
    const b = desk.doubles(9, 5, 2, 9).subarray(1, 3);
    expect(kernels.lossSum(a, labels, ones)).toBe(2);
    // ℓ*(s) = s²/2 + s y at s = −a/2
    expect(kernels.conjugateSum(a, labels, ones, 0.5)).toBe(1.125 - 1.5 + 0.5 - 2);
    // (5 − 3) ℓ'(4), (5 − 3) ℓ*'(−4) with ℓ*'(s) = s + y
    expect(kernels.lossSlope(a, b, labels, ones, 0.5)).toBe(6);
    expect(kernels.conjugateSlope(a, b, labels, ones, 0.5)).toBe(-6);
    const target = desk.doubles(0, 0, 0, 0).subarray(1, 3);
    kernels.dualPoint(a, labels, ones, target);
    expect([...target]).toEqual([-2, -0]);
    expect(kernels.shiftAlpha(a, labels, ones, 0.25, target)).toBe(5.5);
    expect([...target]).toEqual([3.25, 2.25]);
  });

  test('a row of weight c: α moves as c rows would together, and without weight not at all', () => {
    const desk = new Desk();
    const rows = {
      labels: desk.doubles(1, -1, 1),
      rowWeights: desk.doubles(4, 0.5, 0),
      alpha: desk.doubles(1, -0.5, 0),
      norms: desk.doubles(6, 6, 6),
      collisions: desk.doubles(1, 1, 1),
      counts: desk.ints(3, 4, 5),
      level: desk.bytes(2, 2, 0),
      skip: desk.bytes(0, 0, 0),
    };
    const pending = { units: desk.ints(9, 9, 9), deltas: desk.doubles(9, 9, 9) };
    const stats = desk.doubles(...new Array(stat.length).fill(0));
    // q = 4: α_0 + (1 − u)/q = 1.25, inside [0, 4]; row 1 is at its end −½ and stays.
    const step = { damping: 2, inverseTotalWeight: 0.5, deltaScale: 8, shrink: 1 };
    const count = desk
      .kernels(name, losses.hinge())
      .stepRows(desk.ints(0, 1, 2), 0, 3, desk.doubles(0, 3, -9), rows, step, pending, stats);
    expect([...rows.alpha]).toEqual([1.25, -0.5, 0]);
    expect(count).toBe(1);
    expect([...pending.deltas]).toEqual([2, 9, 9]);
    expect([...rows.skip]).toEqual([0, 7, 7]);
  });

  test('sums over rows count every row as often as its weight says', () => {
    const desk = new Desk();
    const kernels = desk.kernels(name, losses.square());
    const labels = desk.doubles(1, 2);
    const weights = desk.doubles(4, 0);
    const a = desk.doubles(3, Infinity);
    const b = desk.doubles(5, Infinity);
    const first = <Arrays extends Float64Array[]>(...arrays: Arrays) =>
      arrays.map((array) => array.subarray(0, 1)) as Arrays;
    expect(kernels.lossSum(a, labels, weights)).toBe(8);
    // 4 ℓ*(s) at s = −3/8, ℓ*(s) = s²/2 + s y
    expect(kernels.conjugateSum(a, labels, weights, 0.5)).toBe(4 * (9 / 128 - 3 / 8));
    expect(kernels.lossSlope(...first(a, b, labels, weights), 0.5)).toBe(24);
    // (5 − 3) ℓ*'(−4/4)
    expect(kernels.conjugateSlope(...first(a, b, labels, weights), 0.5)).toBe(0);
    const target = desk.doubles(9, 9);
    kernels.dualPoint(...first(a, labels, weights, target));
    expect([...target]).toEqual([-8, 9]);
    expect(kernels.shiftAlpha(a, labels, weights, 0.25, target)).toBe(4);
    expect([...target]).toEqual([4, 0]);
  });
});
