import { UsageError } from '../../../errors.ts';
import { losses } from '../../../problem/losses/index.ts';
import type { Loss } from '../../../problem/losses/loss.ts';
import { type Penalty, penalties } from '../../../problem/penalties/index.ts';
import {
  finite,
  nonNegative,
  type OptionType,
  positive,
  whole,
} from '../../../train/options/types.ts';

/** One of the problems that LIBLINEAR numbers with -s. */
interface LiblinearSolver {
  /** What its model files call it. */
  readonly name: string;
  readonly loss: (epsilon: number) => Loss;
  readonly penalty: () => Penalty;
  /** What -e is when it is not given. */
  readonly stopping: number;
  /** Whether LIBLINEAR solves the dual problem, of which it prints minus the value. */
  readonly dual: boolean;
}

const { logistic, squaredHinge, hinge } = losses;
const svrSquared = (epsilon: number) => losses.squaredAbsolute({ epsilon });
const svrAbsolute = (epsilon: number) => losses.absolute({ epsilon });
const { l1, l2 } = penalties;

/** LIBLINEAR numbers its algorithms: several numbers are the same problem, solved here in one way. */
const solvers: Readonly<Record<number, LiblinearSolver>> = {
  0: { name: 'L2R_LR', loss: logistic, penalty: l2, stopping: 0.01, dual: false },
  1: { name: 'L2R_L2LOSS_SVC_DUAL', loss: squaredHinge, penalty: l2, stopping: 0.1, dual: true },
  2: { name: 'L2R_L2LOSS_SVC', loss: squaredHinge, penalty: l2, stopping: 0.01, dual: false },
  3: { name: 'L2R_L1LOSS_SVC_DUAL', loss: hinge, penalty: l2, stopping: 0.1, dual: true },
  5: { name: 'L1R_L2LOSS_SVC', loss: squaredHinge, penalty: l1, stopping: 0.01, dual: false },
  6: { name: 'L1R_LR', loss: logistic, penalty: l1, stopping: 0.01, dual: false },
  7: { name: 'L2R_LR_DUAL', loss: logistic, penalty: l2, stopping: 0.1, dual: true },
  11: { name: 'L2R_L2LOSS_SVR', loss: svrSquared, penalty: l2, stopping: 0.0001, dual: false },
  12: { name: 'L2R_L2LOSS_SVR_DUAL', loss: svrSquared, penalty: l2, stopping: 0.1, dual: true },
  13: { name: 'L2R_L1LOSS_SVR_DUAL', loss: svrAbsolute, penalty: l2, stopping: 0.1, dual: true },
};

/** The problems that are no sum of a separable penalty and losses of one score each. */
const unsupported: Readonly<Record<number, string>> = {
  4: 'the SVM of Crammer and Singer couples the scores of all classes in one loss; here every class has a problem of its own (-s 1 or -s 3 train one against the rest)',
  21: 'the one-class SVM is not a sum of losses and a separable penalty: its threshold is part of the problem, and its rows have no labels',
};

function liblinearSolver(type: number): LiblinearSolver {
  const solver = solvers[type];
  if (solver) return solver;
  const reason = unsupported[type] ?? `expected one of ${Object.keys(solvers).join(', ')}`;
  throw new UsageError(`-s ${type}: ${reason}`);
}

/** The words behind `dso liblinear-train`, before defaults that depend on others. */
interface Given {
  type: number;
  cost: number;
  /** -p: the insensitive zone of the SVRs. */
  epsilon: number;
  /** -e, in terms of LIBLINEAR's own criterion. */
  stopping?: number;
  /** -B: the value of one more feature in every row; below 0 there is none. */
  bias: number;
  /** -R: its weight is not penalised. */
  freeBias: boolean;
  /** -wi: factors of the cost by label. */
  readonly classWeights: Map<number, number>;
  folds?: number;
  threads?: number;
  quiet: boolean;
  data: string;
  /** Where the model goes; default: the name of the data + .model in the current folder. */
  model?: string;
}

export type LiblinearRequest = Readonly<Omit<Given, 'type' | 'stopping'>> & {
  readonly solver: LiblinearSolver;
  readonly stopping: number;
};

/** Solvers with which LIBLINEAR takes -R. */
const primal = [0, 2, 5, 6, 11];

/**
 * Reads the words as LIBLINEAR does: options come first, a value is the word behind its option,
 * even if it begins with a dash, and the rest names the data and perhaps the model.
 */
export function readLiblinearArguments(words: readonly string[]): LiblinearRequest {
  const given: Given = {
    type: 1,
    cost: 1,
    epsilon: 0.1,
    bias: -1,
    freeBias: false,
    classWeights: new Map(),
    quiet: false,
    data: '',
  };
  let next = 0;
  while (next < words.length && isOption(words[next])) {
    next += readOption(given, words[next], words[next + 1]);
  }
  const [data, model, ...rest] = words.slice(next);
  if (data === undefined) {
    throw new UsageError('no training set file; expected [options] training_set_file [model_file]');
  }
  const extra = model !== undefined && isOption(model) ? model : rest[0];
  if (extra !== undefined) {
    throw new UsageError(
      `${extra} behind the training set file; options come first, then training_set_file [model_file]`,
    );
  }
  return completed({ ...given, data, ...(model !== undefined && { model }) });
}

function isOption(word: string): boolean {
  return word.startsWith('-') && word !== '-';
}

const unsupportedOptions: Readonly<Record<string, string>> = {
  '-C': 'use dso search for the parameters, and dso cv for C: its lambda is 1 / (C rows)',
  '-M': 'several classes are always trained one against the rest',
};

type NumberName = 'type' | 'cost' | 'epsilon' | 'stopping' | 'bias' | 'folds' | 'threads';

const numberOptions: Readonly<Record<string, readonly [NumberName, OptionType<number>]>> = {
  '-s': ['type', finite],
  '-c': ['cost', positive],
  '-p': ['epsilon', nonNegative],
  '-e': ['stopping', positive],
  '-B': ['bias', finite],
  '-v': ['folds', whole(2)],
  '-m': ['threads', whole(1)],
};

/** Takes one option, and its value if it has one; returns the number of words. */
function readOption(given: Given, option: string, value: string | undefined): number {
  if (option === '-q' || option === '-R') {
    given[option === '-q' ? 'quiet' : 'freeBias'] = true;
    return 1;
  }
  if (unsupportedOptions[option]) throw new UsageError(`${option}: ${unsupportedOptions[option]}`);
  // `-w-1 5`: the label is part of the option's name. A label named twice has both factors.
  const label = /^-w([+-]?[0-9]+)$/.exec(option)?.[1];
  if (label !== undefined) {
    const { classWeights } = given;
    const weight = numberOf(option, value, nonNegative);
    classWeights.set(Number(label), (classWeights.get(Number(label)) ?? 1) * weight);
  } else if (numberOptions[option]) {
    const [name, type] = numberOptions[option];
    given[name] = numberOf(option, value, type);
  } else {
    throw new UsageError(
      `unknown option ${option}; expected -s, -c, -p, -e, -B, -R, -w<label>, -v, -m or -q`,
    );
  }
  return 2;
}

function numberOf(option: string, value: string | undefined, type: OptionType<number>): number {
  if (value === undefined) throw new UsageError(`${option}: no value behind it`);
  const number = finite.parse(value);
  if (number === undefined) throw new UsageError(`${option} ${value}: expected a number`);
  if (type.accepts(number)) return number;
  throw new UsageError(`${option} ${number}: expected ${type.expected}`);
}

function completed({ type, stopping, ...given }: Given): LiblinearRequest {
  const solver = liblinearSolver(type);
  if (given.freeBias && !(given.bias === 1 && primal.includes(type))) {
    throw new UsageError(`-R goes with -B 1 and -s ${primal.join(', ')}`);
  }
  return { ...given, solver, stopping: stopping ?? solver.stopping };
}

/** What `dso liblinear-train --help` says of the options. */
export const liblinearHelp = `Options, each with its value as the next word, all in front of the files:
  -s type        1 by default
                   0, 7       L2-regularized logistic regression
                   1, 2       L2-regularized L2-loss (squared hinge) SVM
                   3          L2-regularized L1-loss (hinge) SVM
                   5          L1-regularized L2-loss SVM
                   6          L1-regularized logistic regression
                   11, 12     L2-regularized L2-loss support vector regression
                   13         L2-regularized L1-loss support vector regression
  -c cost        C, which multiplies the losses (default: 1)
  -p epsilon     insensitive zone of support vector regression (default: 0.1)
  -e epsilon     when to stop, in LIBLINEAR's terms (default: by type, as there)
  -B bias        one more feature of this value in every row; none below 0 (default: -1)
  -R             its weight is not penalized; with -B 1 and -s 0, 2, 5, 6, 11
  -wi weight     factor of C for the rows with label i: -w1 5 -w-1 0.5
  -v n           cross validation with n folds, and no model
  -m threads     worker threads (default: all cores)
  -q             print nothing

Types 4 and 21, -C and -M are refused, with the reason.

Example:
  dso liblinear-train -s 0 -c 4 -B 1 train.svm train.liblinear
  liblinear-predict test.svm train.liblinear predictions`;
