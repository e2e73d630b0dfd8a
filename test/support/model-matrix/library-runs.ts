/** Training by the library: losses, penalties, solvers and their settings. */
import {
  type Loss,
  losses,
  openDataset,
  type Penalty,
  penalties,
  readDataset,
  type Solver,
  solverByName,
  solvers,
  type TrainOptions,
  train,
} from '../../../src/index.ts';
import { dataset, type LabelKind } from './data.ts';
import { hashOfModels, type ModelRun, shortRun, training } from './run.ts';

const allLosses: readonly Loss[] = [
  losses.hinge(),
  losses.squaredHinge(),
  losses.smoothedHinge({ smoothing: 0.5 }),
  losses.logistic(),
  losses.square(),
  losses.huber({ delta: 0.3 }),
  losses.absolute({ epsilon: 0.1 }),
  losses.squaredAbsolute({ epsilon: 0.1 }),
  losses.quantile({ quantile: 0.7 }),
  losses.poisson(),
];

const allPenalties: readonly Penalty[] = [
  penalties.l2(),
  penalties.l1(),
  penalties.elasticNet({ l1Ratio: 0.3 }),
];

/** All but dso-async, whose result depends on timing. */
const solverNames = ['auto', 'ring', 'dso', 'paper', 'sgd', 'psgd', 'bmrm', 'lbfgs', 'admm', 'dcd'];

const sparse = dataset('sparse', 'sign');
const dense = dataset('dense', 'sign');
const logistic = losses.logistic();
const hinge = losses.hinge();

function labelsFor({ name, task }: Loss): LabelKind {
  if (task === 'classification') return 'sign';
  return name === 'poisson' ? 'count' : 'value';
}

function lossRuns(): ModelRun[] {
  return allLosses.flatMap((loss) => {
    const rows = dataset('sparse', labelsFor(loss));
    return allPenalties.flatMap((penalty) =>
      [1, 3].map((grid) =>
        training(`losses/${loss.name}/${penalty.name}/grid-${grid}`, rows, { loss, penalty, grid }),
      ),
    );
  });
}

/** Two solvers are serial and take no grid. */
function named(name: string, grid = 3): TrainOptions {
  const serial = name === 'sgd' || name === 'dcd';
  return { solver: solverByName(name), ...(!serial && { grid }) };
}

function solverRuns(): ModelRun[] {
  return solverNames.flatMap((name) => {
    const options = { ...named(name), loss: logistic };
    const pairs = [true, false].flatMap((intercept) => {
      const ending = intercept ? 'intercept' : 'no-intercept';
      return [
        training(`solvers/${name}/dense/${ending}`, dense, { ...options, intercept }),
        training(`solvers/${name}/sparse/${ending}`, sparse, { ...options, intercept }),
      ];
    });
    const other = (ending: string, more: TrainOptions) =>
      training(`solvers/${name}/sparse/${ending}`, sparse, { ...options, ...more });
    return [
      ...pairs,
      other('hinge', { loss: hinge }),
      other('hinge-intercept', { loss: hinge, intercept: true }),
      other('l1', { penalty: penalties.l1() }),
      other('non-negative', { penalty: penalties.nonNegative(penalties.l2()) }),
      other('grid-1', name === 'sgd' || name === 'dcd' ? { seed: 2 } : { grid: 1 }),
    ];
  });
}

const settings: Readonly<Record<string, Solver>> = {
  'ring-rows': solvers.ring({ mode: 'rows' }),
  'ring-columns': solvers.ring({ mode: 'columns' }),
  'ring-rows-one-rotation': solvers.ring({ mode: 'rows', rotations: 1 }),
  'ring-rows-four-rotations': solvers.ring({ mode: 'rows', rotations: 4 }),
  'ring-columns-one-rotation': solvers.ring({ mode: 'columns', rotations: 1 }),
  'ring-columns-twenty-rotations': solvers.ring({ mode: 'columns', rotations: 20 }),
  'dso-sqrt': solvers.dso({ step: 'sqrt' }),
  'dso-no-svrg': solvers.dso({ svrg: false }),
  'dso-initialize': solvers.dso({ initialize: 3 }),
  'dso-no-boxes': solvers.dso({ boxes: false }),
  'dso-average': solvers.dso({ average: true, svrg: false }),
  'dso-step-sizes': solvers.dso({ stepSize: 0.1, dualStepSize: 0.2 }),
  'psgd-sqrt': solvers.psgd({ step: 'sqrt' }),
  'psgd-last': solvers.psgd({ average: false, stepSize: 0.1 }),
  'bmrm-inner': solvers.bmrm({ innerTolerance: 0.01 }),
  'lbfgs-history': solvers.lbfgs({ history: 2 }),
  'admm-rho': solvers.admm({ rho: 0.5 }),
  'admm-passes': solvers.admm({ passes: 3 }),
};

const serialSettings: Readonly<Record<string, Solver>> = {
  'sgd-sqrt': solvers.sgd({ step: 'sqrt' }),
  'sgd-last': solvers.sgd({ average: false }),
  'dcd-no-shrink': solvers.dcd({ shrink: false }),
};

function settingRuns(): ModelRun[] {
  const parallel = Object.entries(settings).map(([name, solver]) =>
    training(`settings/${name}`, sparse, { solver, loss: logistic, grid: 4 }),
  );
  const serial = Object.entries(serialSettings).map(([name, solver]) =>
    training(`settings/${name}`, sparse, { solver, loss: logistic }),
  );
  return [...parallel, ...serial];
}

const parallelSolvers: Readonly<Record<string, Solver>> = {
  'ring-rows': solvers.ring({ mode: 'rows' }),
  'ring-columns': solvers.ring({ mode: 'columns' }),
  dso: solvers.dso(),
  psgd: solvers.psgd(),
  bmrm: solvers.bmrm(),
  lbfgs: solvers.lbfgs(),
  admm: solvers.admm(),
};

function threadRuns(): ModelRun[] {
  return Object.entries(parallelSolvers).flatMap(([name, solver]) => {
    // The bundle method has no intercept.
    const options = { solver, loss: logistic, intercept: name !== 'bmrm', grid: 4 };
    const one = `threads/${name}/1`;
    return [
      training(one, sparse, { ...options, threads: 1 }),
      training(`threads/${name}/2`, sparse, { ...options, threads: 2 }, one),
    ];
  });
}

/** Solvers that do not train on entries left on disk. */
const memoryOnly = ['ring-columns', 'psgd', 'admm'];

/** The same data in memory and left on disk. */
function diskRuns(): ModelRun[] {
  return Object.entries(parallelSolvers).flatMap(([name, solver]) => {
    const equals = memoryOnly.includes(name) ? undefined : `disk/${name}/in-memory`;
    const options = { solver, loss: logistic, grid: 2 };
    const onDisk = { ...options, scratch: '.' };
    return [
      training(`disk/${name}/in-memory`, () => readDataset('sign.dsob'), options),
      training(`disk/${name}/on-disk`, () => openDataset('sign.dsob'), onDisk, equals),
    ];
  });
}

/** A run that ended early, saved in a folder, and continued from there. */
function resumeRuns(): ModelRun[] {
  return solverNames.slice(1).flatMap((name) => {
    const options = { ...named(name), loss: logistic };
    const whole = `resume/${name}/uninterrupted`;
    const folder = `kept-${name}`;
    const resumed = async () => {
      const every = { epochs: 2 };
      const first = { ...shortRun, ...options, epochs: 7, checkpoint: { folder, every } };
      await train(sparse, first);
      return { ...options, resume: folder };
    };
    return [
      training(whole, sparse, options),
      training(`resume/${name}/resumed`, sparse, resumed, whole),
    ];
  });
}

/** The order of an asynchronous run is up to timing; the same order must give the same bits. */
function replayRun(): ModelRun {
  const value = async () => {
    const options = { ...shortRun, loss: hinge, grid: 4, threads: 2, epochs: 6 };
    const first = await train(sparse, { ...options, solver: solvers.dsoAsync() });
    const order = first.visits!;
    const again = await train(sparse, { ...options, solver: solvers.dsoAsync({ order }) });
    return hashOfModels(first.model) === hashOfModels(again.model) ? 'equal' : 'different';
  };
  return { name: 'replay/dso-async', value };
}

export function libraryRuns(): ModelRun[] {
  return [
    ...lossRuns(),
    ...solverRuns(),
    ...settingRuns(),
    ...threadRuns(),
    ...diskRuns(),
    ...resumeRuns(),
    replayRun(),
  ];
}
