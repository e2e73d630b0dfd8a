/** Options of training, and what the library does with models and with many of them. */
import {
  compare,
  crossValidateAndTrain,
  type ExportFormat,
  evaluate,
  exportModel,
  loadLoss,
  losses,
  type Model,
  penalties,
  predict,
  searchAndTrain,
  solvers,
  startFromModel,
  type TrainOptions,
  train,
  trainPath,
} from '../../../src/index.ts';
import { dataset, factors, type LabelKind } from './data.ts';
import { hashOfReport } from './report.ts';
import { hashOf, hashOfModels, type ModelRun, shortRun, training } from './run.ts';

const binary = dataset('sparse', 'sign');
const weighted = dataset('sparse', 'sign', true);
const classes = dataset('sparse', 'class');
const numbers = dataset('sparse', 'value');
const test = dataset('test', 'sign');
const logistic = losses.logistic();

async function modelOf(kind: LabelKind, more: TrainOptions = {}): Promise<Model> {
  const loss = kind === 'value' ? losses.square() : logistic;
  return (await train(dataset('sparse', kind), { ...shortRun, loss, ...more })).model;
}

const options: Readonly<Record<string, TrainOptions>> = {
  'penalty-factors': { penaltyFactors: factors },
  'bounds-l2': { penalty: penalties.bounded(penalties.l2(), { low: -0.2, high: 0.3 }) },
  'bounds-l1': { penalty: penalties.bounded(penalties.l1(), { high: 0.2 }) },
  'non-negative-l1': { penalty: penalties.nonNegative(penalties.l1()) },
  'class-weights-balanced': { classWeights: 'balanced' },
  'class-weights': { classWeights: { '1': 3 } },
  'scale-max': { scale: 'max' },
  'scale-std': { scale: 'std', intercept: true },
  'scale-unit-rows': { scale: 'unit-rows' },
  'calibrate-platt': { calibrate: { method: 'platt' } },
  'calibrate-isotonic': { calibrate: { method: 'isotonic', folds: 3 } },
  holdout: { holdout: 0.25 },
  'early-stop': { test, earlyStop: 2, lambda: 1e-5, epochs: 200 },
  'early-stop-latest': { holdout: 0.2, earlyStop: 2, lambda: 1e-5, testOn: 'latest' },
  seed: { seed: 7 },
  converged: { tolerance: 1e-3, epochs: 10_000 },
};

function plainRuns(): ModelRun[] {
  const choices = {
    'ring-rows': { solver: solvers.ring({ mode: 'rows' }), grid: 2 },
    'ring-columns': { solver: solvers.ring({ mode: 'columns' }), grid: 2 },
    dso: { solver: solvers.dso(), grid: 3 },
  } as const;
  return Object.entries(choices).flatMap(([solver, choice]) => {
    const common: TrainOptions = { ...choice, loss: logistic };
    const given = (more: TrainOptions) => ({ ...common, ...more });
    const from = async (more: TrainOptions) => {
      const model = await modelOf('sign', { lambda: 0.1 });
      return given({ start: startFromModel(model, binary), ...more });
    };
    return [
      ...Object.entries(options).map(([name, more]) =>
        training(`options/${solver}/${name}`, binary, given(more)),
      ),
      training(`options/${solver}/row-weights`, weighted, common),
      training(`options/${solver}/row-weights-intercept`, weighted, given({ intercept: true })),
      training(`options/${solver}/warm-start`, binary, () => from({})),
      training(`options/${solver}/warm-start-one-epoch`, binary, () => from({ epochs: 1 })),
      training(`options/${solver}/classes`, classes, common),
      training(`options/${solver}/classes-intercept`, classes, given({ intercept: true })),
      training(
        `options/${solver}/classes-calibrated`,
        classes,
        given({ scale: 'max', calibrate: { method: 'platt' } }),
      ),
      // Without a second derivative there are no steps over columns.
      training(`options/${solver}/custom-loss`, numbers, async () =>
        given({ loss: await loadLoss('pinball.mjs'), intercept: true }),
      ),
    ];
  });
}

const folds = { folds: 3, lambdas: [0.1, 0.01, 0.001], grid: 2, epochs: 30, tolerance: 1e-6 };
const searched = {
  losses: [losses.hinge(), logistic],
  penalties: [penalties.l2(), penalties.l1()],
};

function selectionRuns(): ModelRun[] {
  const path = async (penalty = penalties.l1()) => {
    const given = { loss: logistic, penalty, count: 6, grid: 2, epochs: 30, tolerance: 1e-6 };
    return hashOfModels(...(await trainPath(binary, given)).map(({ model }) => model));
  };
  const validated = async (rows = binary) => {
    const { model, validation } = await crossValidateAndTrain(rows, { ...folds, loss: logistic });
    return hashOf(hashOfModels(model), hashOfReport(validation));
  };
  const found = async () => {
    const { model, search } = await searchAndTrain(binary, { ...folds, ...searched });
    const ranking = search.ranking.map(({ loss, penalty, validation }) => [
      loss.name,
      penalty.name,
      validation,
    ]);
    return hashOf(hashOfModels(model), hashOfReport(ranking));
  };
  const compared = async () => {
    const names = { ring: solvers.ring(), dso: solvers.dso(), lbfgs: solvers.lbfgs() };
    const entrants = Object.entries(names).map(([name, solver]) => ({ name, solver }));
    const given = { entrants, losses: [logistic], lambdas: [0.01], test, grid: 2, warmUp: false };
    return hashOfReport(await compare(binary, { ...given, epochs: 15, tolerance: 1e-6 }));
  };
  return [
    { name: 'select/path-l1', value: () => path() },
    { name: 'select/path-l2', value: () => path(penalties.l2()) },
    { name: 'select/cross-validation', value: () => validated() },
    { name: 'select/cross-validation-classes', value: () => validated(classes) },
    { name: 'select/search', value: found },
    { name: 'select/compare', value: compared },
  ];
}

/** The seventh, TypeScript, is left out: its code may change without a change of any prediction. */
const formats: readonly ExportFormat[] = [
  'onnx',
  'liblinear',
  'vw-readable',
  'json',
  'pmml',
  'csv',
];

function useRuns(): ModelRun[] {
  return (['sign', 'class', 'value'] as const).flatMap((kind) => {
    const rows = dataset('test', kind);
    const outputs = ['scores', 'labels', ...(kind === 'value' ? [] : ['probabilities'])] as const;
    return [
      ...formats.map((format) => ({
        name: `export/${kind}/${format}`,
        value: async () => hashOf(exportModel(await modelOf(kind), format)),
      })),
      ...outputs.map((output) => ({
        name: `predict/${kind}/${output}`,
        value: async () =>
          hashOfReport(
            predict(await modelOf(kind), rows, { output: output as 'labels' | 'scores' }),
          ),
      })),
      {
        name: `evaluate/${kind}`,
        value: async () => hashOfReport(evaluate(await modelOf(kind), rows)),
      },
    ];
  });
}

export function optionRuns(): ModelRun[] {
  return [...plainRuns(), ...selectionRuns(), ...useRuns()];
}
