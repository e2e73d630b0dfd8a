/** `verify` confirms what training claims, and nothing else. */
import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../../src/data/dataset.ts';
import { DataError, UsageError } from '../../../src/errors.ts';
import { exportModel, importModel } from '../../../src/model/export/index.ts';
import type { Certificate, Model } from '../../../src/model/model.ts';
import { losses } from '../../../src/problem/losses/index.ts';
import { penalties } from '../../../src/problem/penalties/index.ts';
import { solvers } from '../../../src/solvers/index.ts';
import type { TrainOptions } from '../../../src/train/options/options.ts';
import { train } from '../../../src/train/train.ts';
import { verify } from '../../../src/train/verify/verify.ts';
import { datasetOf, sample, sampleFor } from '../../support/data.ts';

const { dataset: plain } = sample({ rows: 80, columns: 6, noise: 0.5 });
const regression = sample({ rows: 80, columns: 6, task: 'regression' }).dataset;
const common: TrainOptions = { lambda: 0.01, threads: 1, epochs: 400, keepDual: true };

async function trained(dataset: Dataset, options: TrainOptions = {}) {
  return train(dataset, { ...common, ...options });
}

/** Trains and verifies, with the dual point that was kept. */
async function verified(dataset: Dataset, options: TrainOptions = {}) {
  const { model, dual } = await trained(dataset, options);
  const { penaltyFactors, loss } = options;
  return verify(model, dataset, { dual, penaltyFactors, loss, threads: 1 });
}

function claiming(model: Model, claim: Partial<Certificate>): Model {
  return { ...model, certificate: { ...model.certificate, ...claim } };
}

describe.each(Object.entries(losses))('%s', (_, makeLoss) => {
  const loss = makeLoss();
  const { dataset } = sampleFor(loss, { rows: 60, columns: 5 });
  const flat = { l1: penalties.l1(), l2: penalties.l2(), elastic: penalties.elasticNet() };
  test.each(Object.entries(flat))('%s: the certificate is confirmed', async (name, penalty) => {
    for (const intercept of [false, true]) {
      const found = await verified(dataset, { loss, penalty, intercept });
      expect(found).toMatchObject({ confirmed: true, from: 'dual-point' });
      // Rounding is all that is between them.
      expect(found.proved.dual).toBeGreaterThanOrEqual(found.claimed.dual);
      expect(found.proved.primal).toBeCloseTo(found.claimed.primal, 10);
      expect(found.proved.relativeGap, name).toBeLessThanOrEqual(found.claimed.relativeGap);
      expect(found.proved.relativeGap).toBeGreaterThan(0.99 * found.claimed.relativeGap - 1e-12);
    }
  });
});

test.each([
  ['dso', solvers.dso()],
  ['ring rows', solvers.ring({ mode: 'rows' })],
  ['ring columns', solvers.ring({ mode: 'columns' })],
  ['lbfgs', solvers.lbfgs()],
  ['admm', solvers.admm()],
  ['sgd', solvers.sgd()],
  ['psgd', solvers.psgd()],
  ['dcd', solvers.dcd()],
])('solver %s: the certificate is confirmed', async (_, solver) => {
  const options = { solver, loss: losses.logistic(), epochs: 30, seed: 3 };
  expect(await verified(plain, options)).toMatchObject({ confirmed: true, from: 'dual-point' });
});

test('a dual point by hand: P = D = ¼ at ½', async () => {
  const dataset = datasetOf([[1]], [1]);
  const { model } = await trained(dataset, { loss: losses.square(), lambda: 1, epochs: 1 });
  const exactly = { ...model, weights: Float64Array.of(0.5) };
  const claim = { primal: 0.25, dual: 0.25, gap: 0, relativeGap: 0 };
  const dual = { alpha: Float64Array.of(0.5), scales: [1] };
  expect(await verify(claiming(exactly, claim), dataset, { dual })).toEqual({
    confirmed: true,
    from: 'dual-point',
    claimed: claim,
    proved: claim,
  });
  // D = ¼ − ½ (α − ½)² (1 + 1)
  const other = { alpha: Float64Array.of(0.75), scales: [1] };
  const found = await verify(claiming(exactly, claim), dataset, { dual: other });
  expect(found).toMatchObject({ confirmed: false, proved: { dual: 0.1875 } });
});

describe('what decides the problem is that of the training', () => {
  const several = datasetOf(
    Array.from({ length: 60 }, (_, k) => [Math.sin(k), Math.cos(k), (k % 7) / 7, 1 + (k % 3)]).map(
      (row) => row.map(Math.fround),
    ),
    Array.from({ length: 60 }, (_, k) => k % 3),
  );
  const weighted: Dataset = {
    ...plain,
    parts: plain.parts.map((part) => ({
      ...part,
      weights: part.labels.map((_, row) => (row % 4) / 2),
    })),
  };
  const factors = Float64Array.of(1, 2, 0.5, 3, 1e-3, 7);
  const cases: [string, Dataset, TrainOptions][] = [
    ['three classes', several, { intercept: true }],
    ['row weights', weighted, { loss: losses.logistic() }],
    ['balanced classes', weighted, { classWeights: 'balanced', intercept: true }],
    ['class weights', plain, { classWeights: { '1': 2.5, '-1': 0.3 } }],
    ['a class with a comma', withTexts(plain), { classWeights: { 'ham,eggs': 3, 'a=1': 0.5 } }],
    [
      'weights that are huge',
      scaled(regression, 1e130),
      { loss: losses.square(), penalty: penalties.l1() },
    ],
    ['row weights that are tiny', lightened(plain, 1e-260), { loss: losses.logistic() }],
    ['columns over their deviation', plain, { scale: 'std', loss: losses.logistic() }],
    ['columns over their largest value', plain, { scale: 'max', penalty: penalties.l1() }],
    ['rows of length 1', plain, { scale: 'unit-rows' }],
    ['rows held out', plain, { holdout: 0.3, seed: 9 }],
    ['stopped early', plain, { holdout: 0.3, earlyStop: 2, tolerance: 1e-9 }],
    ['penalty factors', plain, { penaltyFactors: factors, penalty: penalties.l1() }],
    [
      'weights in a box',
      plain,
      { penalty: penalties.bounded(penalties.l2(), { low: 0, high: 0.2 }) },
    ],
    ['weights of one sign, L1', plain, { penalty: penalties.nonNegative(penalties.l1()) }],
    ['calibrated', plain, { calibrate: { method: 'platt' } }],
    ['a default lambda', weighted, { lambda: undefined as unknown as number }],
    ['labels far from 0', shifted(regression, 1e9), { loss: losses.square(), intercept: true }],
    ['an epoch', plain, { epochs: 1 }],
  ];

  test.each(cases)('%s', async (_, dataset, options) => {
    const { lambda, ...rest } = { ...common, ...options };
    const all = lambda === undefined ? rest : { ...rest, lambda };
    const { model, dual } = await train(dataset, all);
    const { penaltyFactors } = options;
    const found = await verify(model, dataset, { dual, penaltyFactors, threads: 1 });
    expect(found).toMatchObject({ confirmed: true, from: 'dual-point' });
    expect(found.vectors?.length).toBe(model.certificates?.length);
    const weaker = await verify(model, dataset, { penaltyFactors, threads: 1 });
    expect(weaker).toMatchObject({ confirmed: true, from: 'weights' });
  });
});

/** The two classes under other names. */
function withTexts(dataset: Dataset): Dataset {
  const parts = dataset.parts.map((part) => ({
    ...part,
    labels: part.labels.map((label) => Number(label > 0)),
  }));
  return { ...dataset, parts, labelNames: ['a=1', 'ham,eggs'] };
}

function scaled(dataset: Dataset, factor: number): Dataset {
  const parts = dataset.parts.map((part) => ({
    ...part,
    labels: part.labels.map((label) => factor * label),
    values: part.values.map((value) => value / 1e30),
  }));
  return { ...dataset, parts };
}

function lightened(dataset: Dataset, weight: number): Dataset {
  const parts = dataset.parts.map((part) => ({
    ...part,
    weights: new Float64Array(part.labels.length).fill(weight),
  }));
  return { ...dataset, parts };
}

function weightedRows(rows: number[][], labels: number[], weights: number[]): Dataset {
  const { parts, ...rest } = datasetOf(
    rows.map((row) => row.map(Math.fround)),
    labels,
  );
  return {
    ...rest,
    parts: parts.map((part) => ({ ...part, weights: Float64Array.from(weights) })),
  };
}

function shifted(dataset: Dataset, offset: number): Dataset {
  const parts = dataset.parts.map((part) => ({
    ...part,
    labels: part.labels.map((label) => label + offset),
  }));
  return { ...dataset, parts };
}

describe('a claim that is not proved is not confirmed', () => {
  test.each([
    ['a bound 10⁻⁹ higher', (model: Model) => ({ dual: raised(model, 1e-9) })],
    ['half of the gap', ({ certificate: { gap } }: Model) => ({ gap: gap / 2 })],
    [
      'half of the relative gap',
      ({ certificate: { relativeGap } }: Model) => ({ relativeGap: relativeGap / 2 }),
    ],
    [
      'an objective 10⁻⁹ lower',
      ({ certificate: { primal } }: Model) => ({ primal: primal * (1 - 1e-9) }),
    ],
    [
      'an objective 10⁻⁹ higher',
      ({ certificate: { primal } }: Model) => ({ primal: primal * (1 + 1e-9) }),
    ],
  ])('%s', async (_, claim) => {
    const { model, dual } = await trained(plain, { loss: losses.logistic() });
    const found = await verify(claiming(model, claim(model)), plain, { dual });
    expect(found.confirmed).toBe(false);
  });

  function raised({ certificate: { primal, dual } }: Model, share: number): number {
    return dual + share * primal;
  }

  test('with an intercept a dual point must sum to 0, however the weights are', async () => {
    const { model, dual } = await trained(plain, { intercept: true });
    const alpha = dual!.alpha.map((a) => 0.5 * a + 0.25);
    const found = await verify(model, plain, { dual: { alpha, scales: [1] } });
    expect(found.confirmed).toBe(false);
    expect(found.proved.dual).toBeLessThan(found.claimed.dual);
  });

  test('one vector of three, which is named', async () => {
    const labels = Array.from({ length: 60 }, (_, k) => k % 3);
    const several = datasetOf(
      labels.map((label, k) => [label === 1 ? 1 : 0, Math.fround(Math.sin(k))]),
      labels,
    );
    const { model, dual } = await trained(several);
    const certificates = model.certificates!.map((one, k) =>
      k === 1 ? { ...one, dual: one.primal } : one,
    );
    const found = await verify({ ...model, certificates }, several, { dual });
    expect(found.vectors?.map(({ proves }) => proves)).toEqual([true, false, true]);
    expect(found.confirmed).toBe(false);
  });

  test('no bound, and yet a gap', async () => {
    const { model, dual } = await trained(plain);
    const claim = { dual: -Infinity, gap: 0, relativeGap: 1e-9 };
    expect((await verify(claiming(model, claim), plain, { dual })).confirmed).toBe(false);
  });

  test('a bound that is not proved, with a gap that is', async () => {
    // Two large weights cancel, so that P in doubles may be anything up to 10⁻⁸.
    const rows = [
      [1, 1e8, 1e8],
      [-1, -1e8, -1e8],
    ];
    const dataset = datasetOf(rows, [1, -1]);
    const { model } = await trained(dataset, { lambda: 1e-30, epochs: 1 });
    const weights = Float64Array.of(1, 1000, -1000);
    const claim = { primal: 1e-4, dual: 1e-4 - 1e-19, gap: 1e-19, relativeGap: 1e-15 };
    const dual = { alpha: new Float64Array(2), scales: [1] };
    const found = await verify(claiming({ ...model, weights }, claim), dataset, { dual });
    expect(found.confirmed).toBe(false);
  });

  test('figures that do not fit each other, without a dual point', async () => {
    const { model } = await trained(plain);
    const { primal } = model.certificate;
    for (const claim of [{ dual: 2 * primal, gap: 0 }, { gap: 0 }, { relativeGap: 0 }]) {
      expect((await verify(claiming(model, claim), plain)).confirmed).toBe(false);
    }
  });

  test.each([penalties.l1(), penalties.l2()])('an image that overflows, $name', async (penalty) => {
    const dataset = weightedRows([[3e38], [1e38]], [1, -1], [1e300, 1e300]);
    const { model } = await trained(dataset, { penalty, epochs: 1, lambda: 1e-3 });
    const claim = { primal: 1, dual: 1, gap: 0, relativeGap: 0 };
    const forged = claiming({ ...model, weights: Float64Array.of(0) }, claim);
    const dual = { alpha: Float64Array.of(1e300, -1e300), scales: [1] };
    expect((await verify(forged, dataset, { dual })).confirmed).toBe(false);
  });

  test('a penalty so small that the conjugate overflows', async () => {
    const dataset = datasetOf([[1e12], [-1e12]], [1, -1]);
    const { model } = await trained(dataset, { lambda: 1e-299, epochs: 1 });
    const claim = { primal: 1, dual: 1, gap: 0, relativeGap: 0 };
    const forged = claiming({ ...model, weights: Float64Array.of(0) }, claim);
    const dual = { alpha: Float64Array.of(1, -1), scales: [1] };
    for (const given of [dual, undefined]) {
      const found = await verify(forged, dataset, { dual: given });
      expect(found.proved.dual).toBeLessThanOrEqual(0);
      if (given) expect(found.confirmed).toBe(false);
    }
  });

  test('without a dual point: another weight', async () => {
    const { model } = await trained(plain);
    const weights = model.weights.map((w, j) => (j === 2 ? w + 1e-6 : w));
    expect((await verify(model, plain)).confirmed).toBe(true);
    expect((await verify({ ...model, weights }, plain)).confirmed).toBe(false);
  });
});

describe('what does not belong together is refused', () => {
  test('other data', async () => {
    const { model, dual } = await trained(plain);
    const other = sample({ rows: 80, columns: 6, noise: 0.5, seed: 2 }).dataset;
    await expect(verify(model, other, { dual })).rejects.toThrow(/its hash is .* expected/);
    await expect(verify(model, other, { dual })).rejects.toBeInstanceOf(DataError);
    const wider = sample({ rows: 80, columns: 7 }).dataset;
    await expect(verify(model, wider)).rejects.toThrow('7 columns; expected 6');
  });

  test('penalty factors', async () => {
    const penaltyFactors = Float64Array.of(1, 2, 3, 4, 5, 6);
    const { model } = await trained(plain, { penaltyFactors });
    const without = (await trained(plain)).model;
    await expect(verify(model, plain)).rejects.toBeInstanceOf(UsageError);
    await expect(verify(without, plain, { penaltyFactors })).rejects.toBeInstanceOf(UsageError);
    const others = penaltyFactors.map((factor) => factor + 1);
    await expect(verify(model, plain, { penaltyFactors: others })).rejects.toBeInstanceOf(
      DataError,
    );
  });

  test('options that no training accepts, as a fault of the model', async () => {
    const { model, dual } = await trained(plain);
    const forged: Model[] = [
      { ...model, lambda: -0.001 },
      { ...model, seed: 1.5 },
      { ...model, unitRows: true },
      { ...model, provenance: { ...model.provenance!, options: { holdout: 'x' } } },
      { ...model, provenance: { ...model.provenance!, options: { 'class-weight': 'x' } } },
    ];
    for (const one of forged) {
      const attempt = verify(one, plain, { dual });
      await expect(attempt).rejects.toThrow('the options in the model: ');
      await expect(attempt).rejects.toBeInstanceOf(DataError);
    }
  });

  test('a dual point of another form', async () => {
    const { model, dual } = await trained(plain);
    const others = [{}, { ...dual, scales: [Number.NaN] }, { ...dual, alpha: new Float64Array(3) }];
    for (const other of others) {
      const attempt = verify(model, plain, { dual: other as typeof dual });
      await expect(attempt).rejects.toThrow('dual: expected 80 numbers in alpha');
    }
  });

  test('a model without a certificate', async () => {
    const { model } = await trained(plain);
    const imported = importModel(Buffer.from(exportModel(model, 'liblinear')), 'x');
    await expect(verify(imported, plain)).rejects.toThrow('imported and claims nothing');
  });

  test('bmrm has no dual point to keep', async () => {
    await expect(trained(plain, { solver: solvers.bmrm() })).rejects.toThrow(
      'bmrm proves its bound without one',
    );
  });
});
