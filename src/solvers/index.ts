import { closest, UsageError } from '../errors.ts';
import {
  type DsoSettings,
  entryOf,
  type PlainName,
  type RingSettings,
  ringRule,
  type SettingsOf,
  type SettingsRule,
  type Solver,
  solverEntries,
} from './registry.ts';

export { defaultGrid } from './auto.ts';
export type { Solver } from './registry.ts';
export { fewRotations } from './ring/damping.ts';

function checked<Settings extends object>(
  { defaults, checks }: SettingsRule<Settings>,
  given: Partial<Settings>,
): Settings {
  for (const name of Object.keys(checks) as (keyof Settings & string)[]) {
    const value = given[name];
    const expected = value === undefined ? undefined : checks[name]?.(value);
    const found = typeof value === 'string' ? `'${value}'` : String(value);
    if (expected) throw new UsageError(`${name} is ${found}; it must be ${expected}`);
  }
  return { ...defaults, ...given };
}

/** A function that makes the solver of this name. */
function factory<Name extends PlainName>(name: Name) {
  const rule = solverEntries[name] as unknown as SettingsRule<SettingsOf<Name>>;
  return (settings: Partial<SettingsOf<Name>> = {}) =>
    ({ name, settings: checked(rule, settings) }) as unknown as Solver;
}

/** The configuration of the paper's appendix: AdaGrad, SVRG, boxes, twenty passes to start from. */
export const paperSettings: DsoSettings = { ...solverEntries.dso.defaults, initialize: 20 };

/** Algorithm 1 as printed: steps η₀/√t and nothing else. One η₀ serves w and α. */
export function algorithm1Settings(stepSize?: number): Partial<DsoSettings> {
  const steps = stepSize === undefined ? {} : { stepSize, dualStepSize: stepSize };
  return { step: 'sqrt', svrg: false, initialize: 0, boxes: false, average: false, ...steps };
}

const dso = factory('dso');

export const solvers = {
  /** Picks by loss and penalty, and says why. */
  auto: (): Solver => ({ name: 'auto' }),
  /** Exact coordinate steps pipelined round the ring. */
  ring: (settings: Partial<RingSettings> = {}): Solver => ({
    name: 'ring',
    settings: checked(ringRule, settings),
  }),
  /** The paper's solver with all of its options. */
  dso,
  paper: (): Solver => dso(paperSettings),
  algorithm1: ({ stepSize }: { readonly stepSize?: number } = {}): Solver =>
    dso(algorithm1Settings(stepSize)),
  /** Algorithm 1 without its inner iterations in step; its order of visits can be replayed. */
  dsoAsync: factory('dso-async'),
  /** Stochastic gradient descent, serial. */
  sgd: factory('sgd'),
  /** Parallel stochastic gradient descent: every worker by itself, weights averaged. */
  psgd: factory('psgd'),
  /** The bundle method for regularized risk minimization. */
  bmrm: factory('bmrm'),
  /** Limited-memory BFGS; OWL-QN where the penalty has an L1 part. */
  lbfgs: factory('lbfgs'),
  /** Newton's method with conjugate gradients, for smooth losses with L2. */
  newton: factory('newton'),
  /** Consensus ADMM over the row blocks. */
  admm: factory('admm'),
  /** A primal-dual interior point method, where the data has few rows or few columns. */
  interiorPoint: factory('interior-point'),
  /** The proximal point method on the dual with Newton steps, for losses with kinks. */
  proximalPoint: factory('proximal-point'),
  /** Proximal Newton on a working set of columns, for smooth losses with an L1 part. */
  workingSet: factory('working-set'),
  /** Dual coordinate descent, serial. */
  dcd: factory('dcd'),
} as const;

/** Solvers by the names of the command line, with their default settings. */
const {
  auto,
  ring,
  dso: _,
  paper,
  algorithm1,
  dsoAsync,
  interiorPoint,
  proximalPoint,
  workingSet,
  ...others
} = solvers;
const byName = {
  auto,
  ring,
  dso,
  paper,
  'algorithm-1': algorithm1,
  'dso-async': dsoAsync,
  'interior-point': interiorPoint,
  'proximal-point': proximalPoint,
  'working-set': workingSet,
  ...others,
} as const;

export type SolverName = keyof typeof byName;

/** The names of the command line, in the order of its help. */
export const solverNames = Object.keys(byName) as readonly SolverName[];

export function solverByName(name: string, settings: object = {}): Solver {
  if (Object.hasOwn(byName, name))
    return (byName[name as SolverName] as (settings: object) => Solver)(settings);
  const meant = closest(name, solverNames);
  throw new UsageError(
    `no solver '${name}'; ${meant ? `did you mean '${meant}'? There` : 'there'} are ${solverNames.join(', ')}`,
  );
}

/** Whether a solver has no use for a grid or a second thread. */
export function isSerial({ name }: Solver): boolean {
  return Object.hasOwn(solverEntries, name) && entryOf({ name: name as PlainName }).serial === true;
}
