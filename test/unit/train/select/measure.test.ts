import { describe, expect, test } from 'vitest';
import { losses } from '../../../../src/problem/losses/index.ts';
import {
  checkMeasure,
  defaultMeasure,
  type HeldOut,
  isBetter,
  type MeasureName,
  measure,
} from '../../../../src/train/select/measure.ts';

const row = (...values: number[]) => Float64Array.from(values);

const two: HeldOut = {
  scores: [row(2, -1, 0.5, 0)],
  targets: [row(1, 1, -1, -1)],
  weights: row(1, 2, 1, 4),
};

const measured = (name: MeasureName, heldOut: HeldOut, loss = losses.hinge(), several = false) =>
  measure(name, heldOut, loss, several);

describe('measure', () => {
  test('error: the weight of wrong rows; a score of 0 is the negative class', () => {
    expect(measured('error', two)).toBe(3 / 8);
  });

  test('loss: the weighted mean of the loss', () => {
    expect(measured('loss', two)).toBe((0 + 2 * 2 + 1.5 + 4 * 1) / 8);
  });

  test('auc: that of the rows with a weight', () => {
    // Of the four pairs 2 > 0.5, 2 > 0, −1 < 0.5 and −1 < 0 half are right.
    expect(measured('auc', two)).toBe(0.5);
    expect(measured('auc', { ...two, weights: row(1, 0, 1, 1) })).toBe(1);
    expect(measured('auc', { ...two, weights: row(1, 1, 0, 0) })).toBe(0.5);
  });

  test('a large area is better, and so is a small error', () => {
    expect([isBetter('auc', 0.8, 0.7), isBetter('auc', 0.7, 0.8)]).toEqual([true, false]);
    expect([isBetter('error', 0.1, 0.2), isBetter('mse', 2, 2)]).toEqual([true, false]);
  });

  test('several classes: the largest score decides, of equal ones the first', () => {
    const three: HeldOut = {
      scores: [row(1, 0, -1), row(0.5, 0, -2), row(0, -3, -0.5)],
      targets: [row(1, -1, -1), row(-1, 1, -1), row(-1, -1, 1)],
      weights: row(1, 1, 2),
    };
    expect(measured('error', three, losses.hinge(), true)).toBe(1 / 4);
    // Several labels a row: each decision counts.
    expect(measured('error', three)).toBeCloseTo((1 + 1 + 2) / 3 / 4, 14);
  });

  test('mse and mae are of predictions: e^u for the Poisson loss', () => {
    const heldOut = { scores: [row(1, 0)], targets: [row(3, 1)], weights: row(1, 3) };
    expect(measured('mse', heldOut, losses.square())).toBe((4 + 3 * 1) / 4);
    expect(measured('mae', heldOut, losses.square())).toBe((2 + 3 * 1) / 4);
    expect(measured('mae', heldOut, losses.poisson())).toBeCloseTo((3 - Math.E) / 4, 14);
  });

  test('rows without any weight measure nothing', () => {
    expect(measured('error', { ...two, weights: row(0, 0, 0, 0) })).toBe(0);
  });
});

test('the default measure of each task', () => {
  expect(defaultMeasure(losses.logistic())).toBe('error');
  expect(defaultMeasure(losses.square())).toBe('mse');
  expect(defaultMeasure(losses.huber())).toBe('mse');
  expect(defaultMeasure(losses.quantile({ quantile: 0.9 }))).toBe('loss');
  expect(defaultMeasure(losses.poisson())).toBe('loss');
});

test('a measure of the other task is refused', () => {
  expect(() => checkMeasure('mse', losses.hinge())).toThrow('choose error, loss, auc');
  expect(() => checkMeasure('auc', losses.square())).toThrow('choose loss, mse, mae');
  expect(() => checkMeasure('loss', losses.square())).not.toThrow();
  expect(() => checkMeasure('error', losses.hinge())).not.toThrow();
});
