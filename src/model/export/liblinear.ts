import { DataError, UsageError } from '../../errors.ts';
import { lossEntry, traitsOf } from '../../problem/losses/index.ts';
import { type Certificate, type Label, type Model, weightsOf } from '../model.ts';
import { numberText } from './text.ts';

/** LIBLINEAR stores labels in a C int. */
const labelLimit = 2 ** 31;

/**
 * The model file of LIBLINEAR. One line per feature, one column per class; of two classes
 * there is one column, whose positive side is the first label. The intercept is the weight of a
 * last feature that is 1 in every row. Numbers have the fewest digits that give the same double.
 */
export function* liblinearModel(model: Model): Generator<string> {
  const { columns, intercepts } = model;
  const labels = labelLine(model);
  const biased = intercepts.some((intercept) => intercept !== 0);
  yield* liblinearText({
    solver: solverType(model),
    ...(labels && { labels }),
    features: columns,
    bias: biased ? 1 : -1,
    vectors: Array.from(intercepts, (_, vector) => weightsOf(model, vector)),
    ...(biased && { biasWeights: intercepts }),
  });
}

/** What a model file of LIBLINEAR says. */
export interface LiblinearContent {
  readonly solver: string;
  /** In classification; of two, the first is the positive side. */
  readonly labels?: readonly Label[];
  readonly features: number;
  /** The value of one more feature, the last; below 0 where there is none. */
  readonly bias: number;
  readonly vectors: readonly Float64Array[];
  /** Its weights, one for each vector. */
  readonly biasWeights?: Float64Array;
}

export function* liblinearText(content: LiblinearContent): Generator<string> {
  const { solver, labels, features, bias, vectors, biasWeights } = content;
  yield `solver_type ${solver}\n`;
  yield `nr_class ${labels?.length ?? 2}\n`;
  if (labels !== undefined) yield `label ${labels.join(' ')}\n`;
  yield `nr_feature ${features}\n`;
  yield `bias ${bias}\n`;
  yield 'w\n';
  for (let column = 0; column < features; column++) {
    let line = '';
    for (const weights of vectors) line += `${numberText(weights[column])} `;
    yield `${line}\n`;
  }
  if (biasWeights) yield `${Array.from(biasWeights, numberText).join(' ')} \n`;
}

function labelLine({ classes, multiLabel }: Model): readonly Label[] | undefined {
  if (classes === undefined) return undefined;
  if (multiLabel) {
    throw new UsageError('--to liblinear: LIBLINEAR has no models that give several labels');
  }
  const unsupported = classes.find(
    (label) => !Number.isInteger(label) || Math.abs(Number(label)) >= labelLimit,
  );
  if (unsupported !== undefined) {
    throw new UsageError(
      `--to liblinear: the class ${JSON.stringify(unsupported)}; ` +
        'LIBLINEAR has whole numbers for labels and nothing else',
    );
  }
  return classes.length === 2 ? [classes[1], classes[0]] : classes;
}

/** For losses that LIBLINEAR does not have. */
const nearestSolvers: Readonly<Record<Model['task'], { l2: string; l1?: string }>> = {
  classification: { l2: 'L2R_L2LOSS_SVC', l1: 'L1R_L2LOSS_SVC' },
  regression: { l2: 'L2R_L2LOSS_SVR' },
};

/** The solver of LIBLINEAR for this problem, or the nearest; for prediction only its kind counts. */
function solverType({ task, loss, penalty }: Model): string {
  if (traitsOf(loss).link === 'log') {
    throw new UsageError(
      `--to liblinear: its predictions are scores, those of the ${loss.name} loss are exp(score)`,
    );
  }
  const sparse = penalty.l1 > 0 && penalty.l2 === 0;
  const nearest = nearestSolvers[task];
  const { l2, l1 = nearest.l1 ?? l2 } = lossEntry(loss.name)?.liblinear ?? nearest;
  return sparse ? l1 : l2;
}

/** The loss and penalty of each solver of LIBLINEAR. ε of the SVRs is not in the file. */
const solvers: Readonly<Record<string, readonly [loss: string, penalty: 'l1' | 'l2']>> = {
  L2R_LR: ['logistic', 'l2'],
  L2R_L2LOSS_SVC_DUAL: ['squared-hinge', 'l2'],
  L2R_L2LOSS_SVC: ['squared-hinge', 'l2'],
  L2R_L1LOSS_SVC_DUAL: ['hinge', 'l2'],
  MCSVM_CS: ['hinge', 'l2'],
  L1R_L2LOSS_SVC: ['squared-hinge', 'l1'],
  L1R_LR: ['logistic', 'l1'],
  L2R_LR_DUAL: ['logistic', 'l2'],
  L2R_L2LOSS_SVR: ['squared-absolute', 'l2'],
  L2R_L2LOSS_SVR_DUAL: ['squared-absolute', 'l2'],
  L2R_L1LOSS_SVR_DUAL: ['absolute', 'l2'],
};
/** One vector per class even if there are two. */
const perClassSolver = 'MCSVM_CS';

/** Nothing is proved about a model that another program trained. */
const noCertificate: Certificate = {
  primal: Infinity,
  dual: -Infinity,
  gap: Infinity,
  relativeGap: Infinity,
  epochs: 0,
  stopped: 'imported',
};

interface Head {
  readonly solver: string;
  readonly task: Model['task'];
  readonly classCount: number;
  readonly labels: readonly number[] | undefined;
  readonly features: number;
  readonly bias: number;
}

/** The lines of a text, one after the other, with their numbers for messages. */
class Lines {
  readonly #text: string;
  readonly #name: string;
  #position = 0;
  #number = 0;

  constructor(text: string, name: string) {
    this.#text = text;
    this.#name = name;
  }

  /** The next line without spaces at its ends; undefined after the last. */
  next(): string | undefined {
    if (this.#position >= this.#text.length) return undefined;
    const found = this.#text.indexOf('\n', this.#position);
    const end = found < 0 ? this.#text.length : found;
    const line = this.#text.slice(this.#position, end).trim();
    this.#position = end + 1;
    this.#number++;
    return line;
  }

  /** Characters after the current line. */
  get left(): number {
    return this.#text.length - this.#position;
  }

  reject(problem: string): never {
    throw new DataError(`${this.#name}: line ${this.#number}: ${problem}`);
  }

  end(expected: string): never {
    throw new DataError(
      `${this.#name}: the file ends after line ${this.#number}; expected ${expected}`,
    );
  }
}

/** Whether a text looks like a model file of LIBLINEAR. */
export function isLiblinearModel(start: string): boolean {
  return /^\s*(?:solver_type|nr_class|label|nr_feature|bias)\s/.test(start);
}

/** The model in a file of `liblinear-train`; `name` is the file, for messages. */
export function parseLiblinearModel(text: string, name: string): Model {
  const lines = new Lines(text, name);
  const head = parseHead(lines);
  const { solver, task, features, bias } = head;
  const { classes, vectors } = arrange(head, parseWeights(lines, head));
  const weights = new Float64Array(vectors.length * features);
  for (const [index, vector] of vectors.entries()) {
    weights.set(vector.subarray(0, features), index * features);
  }
  const intercepts = Float64Array.from(vectors, (vector) =>
    bias >= 0 ? vector[features] * bias : 0,
  );
  const tooLarge = intercepts.find((intercept) => !Number.isFinite(intercept));
  if (tooLarge !== undefined) {
    throw new DataError(
      `${name}: its weight times bias ${bias} is ${tooLarge}, too large a number`,
    );
  }
  const [loss, penalty] = solvers[solver];
  const l1 = penalty === 'l1' ? 1 : 0;
  return {
    task,
    loss: { name: loss, parameter: 0 },
    penalty: { name: penalty, l1, l2: 1 - l1 },
    lambda: 0,
    ...(classes && { classes }),
    columns: features,
    rows: 0,
    nonzeros: 0,
    solver: 'liblinear',
    grid: 1,
    seed: 0,
    certificate: noCertificate,
    weights,
    intercepts,
  };
}

function parseHead(lines: Lines): Head {
  const found = new Map<string, readonly string[]>();
  for (let line = lines.next(); line !== 'w'; line = lines.next()) {
    if (line === undefined) return lines.end('a line "w" and the weights');
    const [key, ...values] = line.split(/\s+/);
    if (!['solver_type', 'nr_class', 'label', 'nr_feature', 'bias', 'rho'].includes(key)) {
      lines.reject(
        `${excerpt(line)}; expected solver_type, nr_class, label, nr_feature, bias or w`,
      );
    }
    if (found.has(key)) lines.reject(`a second line "${key}"`);
    if (key !== 'label' && values.length !== 1)
      lines.reject(`${excerpt(line)}; expected one value`);
    if (key !== 'solver_type' && !values.every(isFiniteNumber)) {
      lines.reject(`${excerpt(line)}; expected finite numbers`);
    }
    found.set(key, values);
  }
  const value = (key: string): string =>
    found.get(key)?.[0] ?? lines.reject(`no line "${key}" before the weights`);
  const solver = value('solver_type');
  if (!Object.hasOwn(solvers, solver)) {
    lines.reject(
      `solver_type ${solver}; expected a linear model: ${Object.keys(solvers).join(', ')}`,
    );
  }
  return checkHead(lines, {
    solver,
    task: lossEntry(solvers[solver][0])!.task,
    classCount: Number(value('nr_class')),
    labels: found.get('label')?.map(Number),
    features: Number(value('nr_feature')),
    bias: Number(value('bias')),
  });
}

function checkHead(lines: Lines, head: Head): Head {
  const { task, classCount, labels, features } = head;
  if (!Number.isInteger(features) || features < 0 || features >= 2 ** 31) {
    lines.reject(`nr_feature ${features}; expected a whole number below 2^31`);
  }
  if (!Number.isInteger(classCount) || classCount < 2) {
    lines.reject(`nr_class ${classCount}; expected a whole number of at least 2`);
  }
  if (task === 'regression') return head;
  if (labels?.length !== classCount) {
    lines.reject(`${labels?.length ?? 0} labels; expected one for each of ${classCount} classes`);
  }
  if (new Set(labels).size !== classCount) lines.reject('a label appears twice');
  return head;
}

/** One line per feature, one number per vector; returns the vectors, the bias after the features. */
function parseWeights(lines: Lines, { solver, task, classCount, features, bias }: Head) {
  const single = task === 'regression' || (classCount === 2 && solver !== perClassSolver);
  const count = single ? 1 : classCount;
  const length = features + (bias >= 0 ? 1 : 0);
  // Before memory is taken for them: a number takes a character, and one after it.
  if (2 * length * count > lines.left + 1) {
    return lines.end(`${length * count} weights, and ${lines.left} characters are left`);
  }
  const vectors = Array.from({ length: count }, () => new Float64Array(length));
  for (let feature = 0; feature < length; feature++) {
    const line = lines.next();
    if (line === undefined) return lines.end(`weights of ${length - feature} more features`);
    const numbers = line.split(/\s+/);
    if (numbers.length !== count) {
      lines.reject(`${numbers.length} weights in ${excerpt(line)}; expected ${count}`);
    }
    for (const [vector, text] of numbers.entries()) {
      if (!isFiniteNumber(text)) {
        lines.reject(`the weight ${excerpt(text)}; expected a finite number`);
      }
      vectors[vector][feature] = Number(text);
    }
  }
  for (let line = lines.next(); line !== undefined; line = lines.next()) {
    if (line !== '') lines.reject(`${excerpt(line)} behind the last weight`);
  }
  return vectors;
}

/**
 * Classes in ascending order, as our models have them. Of two classes the first label is the
 * positive side; with a vector for each of the two the difference decides.
 */
function arrange(
  { task, labels }: Head,
  table: readonly Float64Array[],
): { classes?: readonly Label[]; vectors: readonly Float64Array[] } {
  if (labels === undefined || task === 'regression') return { vectors: table };
  const order = [...labels.keys()].sort((left, right) => labels[left] - labels[right]);
  const classes = order.map((index) => labels[index]);
  if (labels.length > 2) return { classes, vectors: order.map((index) => table[index]) };
  const single =
    table.length === 1 ? table[0] : table[0].map((weight, index) => weight - table[1][index]);
  const positiveFirst = classes[1] === labels[0];
  return { classes, vectors: [positiveFirst ? single : single.map((weight) => -weight)] };
}

function isFiniteNumber(text: string): boolean {
  const decimal = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?$/i;
  return decimal.test(text) && Number.isFinite(Number(text));
}

function excerpt(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
