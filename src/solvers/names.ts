/** The names of the command line, apart from the solvers: `dso --help` needs these alone. */
export const solverNames = [
  'auto',
  'ring',
  'dso',
  'paper',
  'dso-async',
  'sgd',
  'psgd',
  'bmrm',
  'lbfgs',
  'admm',
  'dcd',
] as const;

export type SolverName = (typeof solverNames)[number];
