import type { Recipe } from '../data/dataset.ts';
import { DataError, DsoError } from '../errors.ts';
import { numberFromJson, numberToJson } from '../math/json-numbers.ts';
import {
  type Calibration,
  type Certificate,
  type Label,
  type Model,
  type ModelDescription,
  type Provenance,
  positiveClass,
  stopReasons,
  vectorCount,
} from './model.ts';
import type { Section, WeightLayout } from './predict/decode.ts';

/** A value of JSON and its path. */
export class JsonValue {
  readonly json: unknown;
  readonly #path: string;
  readonly #file: string;

  constructor(json: unknown, path: string, file: string) {
    this.json = json;
    this.#path = path;
    this.#file = file;
  }

  /** The fields of an object. */
  object(): Readonly<Record<string, unknown>> {
    const { json } = this;
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) {
      return json as Readonly<Record<string, unknown>>;
    }
    throw new DataError(`${this.#file}: header: ${this.#path || 'the whole'} is not an object`);
  }

  get(key: string): JsonValue {
    const object = this.object();
    const json = Object.hasOwn(object, key) ? object[key] : undefined;
    return new JsonValue(json, this.#path === '' ? key : `${this.#path}.${key}`, this.#file);
  }

  at(index: number): JsonValue {
    return new JsonValue((this.json as unknown[])[index], `${this.#path}[${index}]`, this.#file);
  }

  reject(expected: string): never {
    const text = JSON.stringify(this.json) ?? 'missing';
    const found = text.length > 80 ? `${text.slice(0, 80)}…` : text;
    throw new DataError(`${this.#file}: header: ${this.#path} is ${found}; expected ${expected}`);
  }
}

interface Field<T> {
  read(value: JsonValue): T;
  /** The value for JSON.stringify. */
  write(value: T): unknown;
}

type OptionalField<T> = Field<T> & { readonly optional: true };

/** A field for every key of T, in the order in which they are written. */
type Shape<T> = {
  readonly [Key in keyof T]-?: object extends Pick<T, Key>
    ? OptionalField<NonNullable<T[Key]>>
    : Field<T[Key]>;
};

function field<T>(
  read: (value: JsonValue) => T,
  write: (value: T) => unknown = (value) => value,
): Field<T> {
  return { read, write };
}

function optional<T>(inner: Field<T>): OptionalField<T> {
  return { ...inner, optional: true };
}

/** An object; `check` looks at what was read. */
function record<T extends object>(
  shape: Shape<T>,
  check?: (found: T, value: JsonValue) => void,
): Field<T> {
  const entries = Object.entries<Field<unknown> & { optional?: true }>(shape);
  const write = (found: T) =>
    Object.fromEntries(
      entries.map(([key, inner]) => {
        const part = found[key as keyof T];
        return [key, part === undefined ? undefined : inner.write(part)];
      }),
    );
  const read = (value: JsonValue) => {
    const found: Record<string, unknown> = {};
    for (const [key, inner] of entries) {
      const part = value.get(key);
      if (!inner.optional || part.json !== undefined) found[key] = inner.read(part);
    }
    check?.(found as T, value);
    return found as T;
  };
  return field(read, write);
}

/** A list of records, each with its own path in messages. */
function records<T>(inner: Field<T>): Field<readonly T[]> {
  return field(
    (value) =>
      Array.isArray(value.json)
        ? value.json.map((_, index) => inner.read(value.at(index)))
        : value.reject('a list of objects'),
    (found) => found.map((each) => inner.write(each)),
  );
}

/** A list of numbers or texts, each of which `parse` reads. */
function list<T>(expected: string, parse: (json: unknown) => T | undefined): Field<readonly T[]> {
  return field((value) => {
    if (!Array.isArray(value.json)) return value.reject(expected);
    return value.json.map((each) => parse(each) ?? value.reject(expected));
  });
}

function finiteFromJson(json: unknown): number | undefined {
  const number = numberFromJson(json);
  return number !== undefined && Number.isFinite(number) ? number : undefined;
}

const text = field((value) =>
  typeof value.json === 'string' ? value.json : value.reject('a string'),
);

const number = field((value) => numberFromJson(value.json) ?? value.reject('a number'));

const finite = field((value) => finiteFromJson(value.json) ?? value.reject('a finite number'));

export function count(limit: number = Number.MAX_SAFE_INTEGER): Field<number> {
  return field((value) => {
    const found = number.read(value);
    if (Number.isInteger(found) && found >= 0 && found <= limit) return found;
    return value.reject(`a whole number from 0 to ${limit}`);
  });
}

/** Absent, or true. */
const flag: OptionalField<true> = optional(
  field((value) => value.json === true || value.reject('true, or not to be there')),
);

function oneOf<const Choice extends string>(...choices: readonly Choice[]): Field<Choice> {
  return field(
    (value) =>
      choices.find((choice) => choice === value.json) ?? value.reject(choices.join(' or ')),
  );
}

const finiteNumbers = list('a list of finite numbers', finiteFromJson);

/** Finite numbers and texts; a text stays one, whatever it says. */
const labels = list('a list of finite numbers or strings', (json) =>
  typeof json === 'string' || Number.isFinite(json) ? (json as number | string) : undefined,
);

/** Two numbers, which may be infinite. */
const pair: Field<readonly number[]> = field((value) => {
  const found = list('two numbers', numberFromJson).read(value);
  return found.length === 2 ? found : value.reject('two numbers');
});

type WeightSection = Section & Pick<WeightLayout, 'encoding' | 'stored'>;

/** The JSON part of a model file: the description, the intercepts and what follows the header. */
export interface Header extends ModelDescription {
  readonly intercepts: Float64Array;
  readonly weights: WeightSection;
  readonly featureNames?: Section;
}

/** Most columns a model can have: column numbers are int32. */
const columnLimit = 2 ** 31 - 1;

const certificate = record<Certificate>({
  primal: number,
  dual: number,
  gap: number,
  relativeGap: number,
  epochs: count(),
  stopped: oneOf(...stopReasons),
  provedZeros: optional(count()),
});

const recipe = record<Recipe>({
  hashBits: optional(count(31)),
  fields: optional(
    records(
      record<NonNullable<Recipe['fields']>[number]>({
        name: text,
        kind: oneOf('number', 'category', 'label', 'weight', 'ignored'),
        date: flag,
        identifier: flag,
      }),
    ),
  ),
  missing: optional(oneOf('indicator', 'zero', 'error')),
  missingValues: optional(field((value) => labels.read(value).map(String))),
});

const calibrations: {
  readonly [Method in Calibration['method']]: Field<Calibration & { method: Method }>;
} = {
  platt: record({ method: oneOf('platt'), slope: finite, offset: finite }),
  isotonic: record(
    { method: oneOf('isotonic'), scores: finiteNumbers, probabilities: finiteNumbers },
    checkPoints,
  ),
};

function checkPoints(
  { scores, probabilities }: Calibration & { method: 'isotonic' },
  value: JsonValue,
): void {
  const reject = (key: string, expected: string) => value.get(key).reject(expected);
  if (scores.length === 0 || scores.length !== probabilities.length) {
    reject('scores', `as many as the ${probabilities.length} probabilities, at least one`);
  }
  if (scores.some((score, point) => point > 0 && score < scores[point - 1])) {
    reject('scores', 'ascending numbers');
  }
  if (probabilities.some((probability) => probability < 0 || probability > 1)) {
    reject('probabilities', 'numbers from 0 to 1');
  }
}

const calibration: Field<Calibration> = field(
  (value) => calibrations[oneOf('platt', 'isotonic').read(value.get('method'))].read(value),
  (found) => (calibrations[found.method] as Field<Calibration>).write(found),
);

const provenance = record<Provenance>({
  version: text,
  data: text,
  options: field(readOptions, (options) =>
    Object.fromEntries(
      Object.keys(options)
        .sort()
        .map((key) => [key, plainZero(options[key])]),
    ),
  ),
});

/** Options are text and finite numbers: what reads back as it was. */
function readOptions(value: JsonValue): Provenance['options'] {
  const options = value.object();
  for (const [key, found] of Object.entries(options)) {
    if (!['string', 'number', 'boolean'].includes(typeof found)) {
      value.get(key).reject('a string, a number, true or false');
    }
  }
  return options as Provenance['options'];
}

/** As labels and options −0 and 0 are the same; adding 0 makes one of them. */
function plainZero<T>(value: T): T | number {
  return typeof value === 'number' ? value + 0 : value;
}

/** An infinite number would be written as a string. */
function writeLabel(label: Label): Label {
  if (typeof label === 'string' || Number.isFinite(label)) return plainZero(label);
  throw new DsoError('failure', `the class ${label}; expected a text or a finite number`);
}

const section: Shape<Section> = { bytes: count(), sha256: text };

/** Written in this order, so that equal models are equal files. */
const shape: Shape<Header> = {
  task: oneOf('classification', 'regression'),
  loss: record<ModelDescription['loss']>({
    name: text,
    parameter: number,
    module: optional(text),
  }),
  penalty: record<ModelDescription['penalty']>({
    name: text,
    l1: number,
    l2: number,
    low: optional(number),
    high: optional(number),
  }),
  lambda: number,
  classes: optional(field<readonly Label[]>(labels.read, (found) => found.map(writeLabel))),
  multiLabel: flag,
  columns: count(columnLimit),
  rows: count(),
  nonzeros: count(),
  solver: text,
  grid: count(),
  seed: number,
  certificate,
  certificates: optional(records(certificate)),
  recipe: optional(recipe),
  unitRows: flag,
  calibration: optional(records(calibration)),
  threshold: optional(finite),
  provenance: optional(provenance),
  intercepts: field(
    (value) => Float64Array.from(finiteNumbers.read(value)),
    (found) => [...found],
  ),
  weights: record<WeightSection>({
    encoding: oneOf('dense', 'sparse'),
    stored: count(),
    ...section,
  }),
  featureNames: optional(record<Section>(section)),
};

const header = record<Header>(shape, checkHeader);

const { intercepts: _, ...oldShape } = shape;

/** Version 1 had one vector of weights, and two numbers as classes, which may be −0. */
const oldHeader = record<Omit<Header, 'intercepts'> & { readonly intercept: number }>(
  { ...oldShape, classes: optional(pair), intercept: finite },
  checkHeader,
);

/** Of a header without the bytes that follow it. */
export const noPayload: WeightSection = { encoding: 'dense', stored: 0, bytes: 0, sha256: '' };

/** The header as text. JSON has no −0 and no infinities: those are written as strings. */
export function headerText(
  model: Omit<Model, 'weights' | 'featureNames'>,
  weights: WeightSection = noPayload,
  featureNames?: Section,
): string {
  const all = header.write({ ...model, weights, featureNames } as Header);
  return `${JSON.stringify(all, writeNumber, 2)}\n`;
}

function writeNumber(key: string, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  if (!Number.isNaN(value)) return numberToJson(value);
  throw new DsoError('failure', `the model's ${key} is NaN; such a model is not written`);
}

/** The value of a source of JSON, which messages call `name`. */
export function parseJson(source: string, name: string): unknown {
  try {
    return JSON.parse(source);
  } catch (cause) {
    throw new DataError(`${name}: not JSON: ${(cause as Error).message}`, { cause });
  }
}

/** Reads and checks every field of a header; `name` is the file, for messages. */
export function readHeader(json: unknown, version: number, name: string): Header {
  const value = new JsonValue(json, '', name);
  if (version > 1) return header.read(value);
  const { intercept, ...rest } = oldHeader.read(value);
  return { ...rest, intercepts: Float64Array.of(intercept) };
}

function checkHeader(found: Partial<Header>, value: JsonValue): void {
  const reject = (key: string, expected: string) => value.get(key).reject(expected);
  const { task, multiLabel } = found;
  if (task === 'regression') {
    for (const key of ['multiLabel', 'calibration', 'classes'] as const) {
      if (found[key] !== undefined) reject(key, 'none in a regression');
    }
  } else {
    const classes = found.classes ?? labels.read(value.get('classes'));
    const enough = multiLabel ? 1 : 2;
    if (classes.length < enough) reject('classes', `at least ${enough} labels`);
    if (new Set(classes).size < classes.length) reject('classes', 'each label once');
  }
  if (found.threshold !== undefined && positiveClass(found) === undefined) {
    reject('threshold', 'none without two classes');
  }
  const vectors = vectorCount(found);
  for (const key of ['intercepts', 'calibration', 'certificates'] as const) {
    const length = found[key]?.length ?? vectors;
    if (length !== vectors) reject(key, `one for each of ${vectors} vectors`);
  }
}
