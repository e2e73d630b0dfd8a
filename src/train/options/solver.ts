/** Options that say how the problem is solved. `solvers` names those that have an option. */
import { solverNames } from '../../solvers/index.ts';
import { flag, optionsWith, toggle } from './option.ts';
import { choice, positive, whole } from './types.ts';

/** Solvers that take gradient steps … */
const gradientSolvers = ['dso', 'dso-async', 'sgd', 'psgd'];
/** … of both the weights and the dual variables. */
const saddlePointSolvers = ['dso', 'dso-async'];

export const solverOptions = optionsWith({ group: 'solver' })({
  solver: flag('--solver <name>', choice(solverNames), {
    library: false,
    common: true,
    sameOnRanks: true,
    progressive: true,
    help: `${solverNames.join(', ')} (default: auto)`,
    doc: "`auto` chooses by loss, penalty and shape; `dso` is the paper's, `paper` is `dso` with the configuration of the paper's appendix (AdaGrad, SVRG, 20 passes of initialization), `algorithm-1` is `dso` as Algorithm 1 is printed (steps η₀/√t and nothing else); for the others see [solvers.md](solvers.md)",
  }),
  grid: flag('--grid <number>', whole(1, 256), {
    affectsModel: true,
    help: 'workers of the logical grid (default: by the data)',
    doc: 'workers of the logical P × P grid, 1 to 256; part of the result; not for `sgd` and `dcd`, which are serial',
    defaultDoc:
      '[by the data](solvers.md#the-grid-and-the-ring): 1, 2, 4, 8, 16; at least 4 for `psgd`, `admm`, `dso-async`',
  }),
  seed: flag('--seed <number>', whole(0), {
    affectsModel: true,
    help: 'seed of all random choices (default: 1)',
  }),
});

export const settingOptions = optionsWith({ group: 'settings', affectsModel: true })({
  paper: toggle('--paper', {
    library: false,
    solvers: [...saddlePointSolvers, 'paper'],
    conflicts: ['step', 'stepSize', 'dualStepSize', 'svrg', 'initialize', 'boxes', 'average'],
    hidden: true,
    help: "the configuration of the paper's appendix; alone the same as --solver paper",
  }),
  step: flag('--step <rule>', choice(['adagrad', 'sqrt']), {
    solvers: gradientSolvers,
    progressive: true,
    help: 'step sizes: adagrad, or sqrt for η₀/√t (default: adagrad)',
  }),
  stepSize: flag('--step-size <number>', positive, {
    solvers: [...gradientSolvers, 'algorithm-1'],
    progressive: true,
    help: 'step size η₀ of the weights',
    defaultDoc:
      '`dso`, adagrad: 0.3, logistic 0.2; sqrt: 0.05 m; `sgd`: [by the data](solvers.md#sgd-and-psgd)',
  }),
  average: toggle('--average', {
    negation: { help: 'return the last iterate', solvers: ['sgd', 'psgd'] },
    solvers: gradientSolvers,
    help: 'return the average of the iterates (default of sgd, psgd)',
    doc: 'return the average of the iterates (`dso`: that of Theorem 1)',
    defaultDoc: '`dso`: the last iterate; `sgd`: the average',
  }),
  dualStepSize: flag('--dual-step-size <number>', positive, {
    solvers: saddlePointSolvers,
    help: 'step size η₀ of the dual variables',
    defaultDoc: 'adagrad: 0.5, logistic 0.15; sqrt: 0.05 m',
  }),
  svrg: toggle('--no-svrg', { solvers: saddlePointSolvers, help: 'no variance reduction' }),
  initialize: flag('--local-descent <passes>', whole(0), {
    aliases: ['--initialize <passes>'],
    solvers: saddlePointSolvers,
    help: 'passes of local dual coordinate descent before the first epoch (default: 0)',
  }),
  boxes: toggle('--no-boxes', {
    solvers: saddlePointSolvers,
    help: "without the appendix's bound on the weights",
  }),
  mode: flag('--mode <name>', choice(['rows', 'columns']), {
    solvers: ['ring'],
    help: 'rows (dual steps) or columns (primal steps, smooth losses) (default: by loss, penalty and shape)',
  }),
  rotations: flag('--rotations <number>', whole(1), {
    solvers: ['ring'],
    help: 'rotations per epoch; 1 suits slow networks (default: chosen from the data)',
    doc: 'rotations of the ring per epoch; [1 to 16](solvers.md#few-rotations) for slow networks',
  }),
  history: flag('--history <number>', whole(1), {
    solvers: ['lbfgs', 'proximal-point'],
    help: 'number of steps remembered (default: lbfgs 10, proximal-point 20)',
  }),
  rho: flag('--rho <number>', positive, {
    solvers: ['admm'],
    help: 'weight of the consensus (default: adapted while training)',
  }),
  localPasses: flag('--local-passes <number>', whole(1), {
    library: 'passes',
    solvers: ['admm'],
    help: 'passes of each worker over its rows per epoch (default: 1)',
  }),
  innerTolerance: flag('--inner-tolerance <number>', positive, {
    solvers: ['bmrm'],
    help: 'tolerance of the inner quadratic program, as a share of the gap (default: 0.1)',
  }),
  shrink: toggle('--no-shrink', {
    solvers: ['dcd'],
    help: 'visit every row in every epoch',
    defaultDoc: 'rows at rest are left out',
  }),
});
