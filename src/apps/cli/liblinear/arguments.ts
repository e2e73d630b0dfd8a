import { type LiblinearSolver, liblinearSolver } from '../../../cli/liblinear/solvers.ts';
import { UsageError } from '../../../errors.ts';

/** What the words behind `dso liblinear-train` ask for. */
export interface LiblinearRequest {
  readonly solver: LiblinearSolver;
  /** -c */
  readonly cost: number;
  /** -p: the insensitive zone of the SVRs. */
  readonly epsilon: number;
  /** -e, in terms of LIBLINEAR's own criterion. */
  readonly stopping: number;
  /** -B: the value of one more feature in every row; below 0 there is none. */
  readonly bias: number;
  /** -R: its weight is not penalised. */
  readonly freeBias: boolean;
  /** -wi: factors of the cost by label. */
  readonly classWeights: ReadonlyMap<number, number>;
  /** -v */
  readonly folds?: number;
  /** -m */
  readonly threads?: number;
  readonly quiet: boolean;
  readonly data: string;
  /** Where the model goes; default: the name of the data + .model in the current folder. */
  readonly model?: string;
}

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

/** What options say, before defaults that depend on others. */
interface Given extends Writable<Omit<LiblinearRequest, 'solver' | 'stopping' | 'classWeights'>> {
  type: number;
  stopping?: number;
  readonly classWeights: Map<number, number>;
}

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
  let place = 0;
  while (place < words.length && isOption(words[place])) {
    place += readOption(given, words[place], words[place + 1]);
  }
  const [data, model, ...rest] = words.slice(place);
  if (data === undefined) {
    throw new UsageError('no training set file; wanted [options] training_set_file [model_file]');
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

/** Takes one option, and its value if it has one; answers how many words that were. */
function readOption(given: Given, option: string, value: string | undefined): number {
  switch (option) {
    case '-q':
      given.quiet = true;
      return 1;
    case '-R':
      given.freeBias = true;
      return 1;
    case '-C':
      throw new UsageError(
        '-C: parameters are looked for by dso search, and C by dso cv, whose lambda is 1 / (C rows)',
      );
    case '-M':
      throw new UsageError('-M: several classes are always told one from the rest');
  }
  const number = numberOf(option, value);
  switch (option) {
    case '-s':
      given.type = number;
      break;
    case '-c':
      given.cost = within(option, number, number > 0, 'a number above 0');
      break;
    case '-p':
      given.epsilon = within(option, number, number >= 0, 'a number of at least 0');
      break;
    case '-e':
      given.stopping = within(option, number, number > 0, 'a number above 0');
      break;
    case '-B':
      given.bias = number;
      break;
    case '-v':
      given.folds = within(option, number, isCount(number, 2), 'a whole number of at least 2');
      break;
    case '-m':
      given.threads = within(option, number, isCount(number, 1), 'a whole number of at least 1');
      break;
    default:
      readClassWeight(given, option, number);
  }
  return 2;
}

const isCount = (number: number, least: number) => Number.isInteger(number) && number >= least;

/** `-w-1 5`: the label is part of the option's name. A label named twice has both factors. */
function readClassWeight({ classWeights }: Given, option: string, weight: number): void {
  const label = Number(/^-w([+-]?[0-9]+)$/.exec(option)?.[1]);
  within(option, weight, weight >= 0, 'a number of at least 0');
  classWeights.set(label, (classWeights.get(label) ?? 1) * weight);
}

const valued = /^-(?:[scpeBvm]|w[+-]?[0-9]+)$/;
const decimal = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?$/i;

function numberOf(option: string, value: string | undefined): number {
  if (!valued.test(option)) {
    throw new UsageError(
      `unknown option ${option}; wanted -s, -c, -p, -e, -B, -R, -w<label>, -v, -m or -q`,
    );
  }
  if (value === undefined) throw new UsageError(`${option}: no value behind it`);
  const number = Number(value);
  if (decimal.test(value) && Number.isFinite(number)) return number;
  throw new UsageError(`${option} ${value}: wanted a number`);
}

function within(option: string, number: number, fits: boolean, wanted: string): number {
  if (fits) return number;
  throw new UsageError(`${option} ${number}: wanted ${wanted}`);
}

function completed({ type, stopping, ...given }: Given): LiblinearRequest {
  const solver = liblinearSolver(type);
  if (given.freeBias && !(given.bias === 1 && primal.includes(type))) {
    throw new UsageError(`-R goes with -B 1 and -s ${primal.join(', ')}`);
  }
  return { ...given, solver, stopping: stopping ?? solver.stopping };
}
