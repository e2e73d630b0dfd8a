import { DataError, DsoError } from '../errors.ts';
import type { Model, ModelDescription } from './model.ts';
import type { WeightEncoding } from './weights.ts';

/** The JSON part of a model file: the description, the intercept and what the payload holds. */
export interface Header extends ModelDescription {
  readonly intercept: number;
  readonly weights: {
    readonly encoding: WeightEncoding;
    readonly stored: number;
    readonly bytes: number;
    readonly sha256: string;
  };
}

/** Most columns a model can have: column numbers are int32. */
const columnLimit = 2 ** 31 - 1;

/**
 * The header as text, keys always in this order, so that equal models are equal files. JSON has
 * no −0 and no infinities: those three numbers are written as strings.
 */
export function headerText(model: Omit<Model, 'weights'>, weights: Header['weights']): string {
  const { loss, penalty, certificate } = model;
  const header: Header = {
    task: model.task,
    loss: {
      name: loss.name,
      parameter: loss.parameter,
      ...(loss.module === undefined ? {} : { module: loss.module }),
    },
    penalty: {
      name: penalty.name,
      l1: penalty.l1,
      l2: penalty.l2,
      ...(penalty.low === undefined ? {} : { low: penalty.low }),
      ...(penalty.high === undefined ? {} : { high: penalty.high }),
    },
    lambda: model.lambda,
    ...(model.classes === undefined ? {} : { classes: [model.classes[0], model.classes[1]] }),
    columns: model.columns,
    rows: model.rows,
    nonzeros: model.nonzeros,
    solver: model.solver,
    grid: model.grid,
    seed: model.seed,
    certificate: {
      primal: certificate.primal,
      dual: certificate.dual,
      gap: certificate.gap,
      relativeGap: certificate.relativeGap,
      epochs: certificate.epochs,
      stopped: certificate.stopped,
    },
    intercept: model.intercept,
    weights: {
      encoding: weights.encoding,
      stored: weights.stored,
      bytes: weights.bytes,
      sha256: weights.sha256,
    },
  };
  return `${JSON.stringify(header, writeNumber, 2)}\n`;
}

function writeNumber(key: string, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  if (Number.isNaN(value)) {
    throw new DsoError('failure', `the model's ${key} is NaN; such a model is not written`);
  }
  return Object.is(value, -0) ? '-0' : Number.isFinite(value) ? value : String(value);
}

/** Reads and checks every field; `name` is the file, for messages. */
export function parseHeader(text: string, name: string): Header {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new DataError(`${name}: the header is not JSON: ${(cause as Error).message}`, { cause });
  }
  const fields = new Fields(json, '', name);
  const loss = fields.object('loss');
  const penalty = fields.object('penalty');
  const task = fields.oneOf('task', ['classification', 'regression']);
  return {
    task,
    loss: {
      name: loss.string('name'),
      parameter: loss.number('parameter'),
      ...(loss.has('module') ? { module: loss.string('module') } : {}),
    },
    penalty: {
      name: penalty.string('name'),
      l1: penalty.number('l1'),
      l2: penalty.number('l2'),
      ...(penalty.has('low') ? { low: penalty.finite('low') } : {}),
      ...(penalty.has('high') ? { high: penalty.finite('high') } : {}),
    },
    lambda: fields.number('lambda'),
    ...(task === 'classification' ? { classes: fields.pair('classes') } : {}),
    columns: fields.count('columns', columnLimit),
    rows: fields.count('rows'),
    nonzeros: fields.count('nonzeros'),
    solver: fields.string('solver'),
    grid: fields.count('grid'),
    seed: fields.number('seed'),
    certificate: parseCertificate(fields.object('certificate')),
    intercept: fields.finite('intercept'),
    weights: parseWeights(fields.object('weights')),
  };
}

function parseCertificate(fields: Fields): Header['certificate'] {
  return {
    primal: fields.number('primal'),
    dual: fields.number('dual'),
    gap: fields.number('gap'),
    relativeGap: fields.number('relativeGap'),
    epochs: fields.count('epochs'),
    stopped: fields.oneOf('stopped', ['converged', 'epoch-limit', 'time-limit', 'interrupted']),
  };
}

function parseWeights(fields: Fields): Header['weights'] {
  return {
    encoding: fields.oneOf('encoding', ['dense', 'sparse']),
    stored: fields.count('stored', columnLimit),
    bytes: fields.count('bytes'),
    sha256: fields.string('sha256'),
  };
}

const specialNumbers = new Map([
  ['-0', -0],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]);

/** The fields of one JSON object, each asked for with the type it must have. */
class Fields {
  readonly #values: Record<string, unknown>;
  readonly #path: string;
  readonly #file: string;

  constructor(json: unknown, path: string, file: string) {
    if (typeof json !== 'object' || json === null || Array.isArray(json)) {
      throw new DataError(`${file}: header: ${path || 'the whole'} is not an object`);
    }
    this.#values = json as Record<string, unknown>;
    this.#path = path;
    this.#file = file;
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#values, key);
  }

  object(key: string): Fields {
    return new Fields(this.#values[key], this.#place(key), this.#file);
  }

  string(key: string): string {
    const value = this.#values[key];
    return typeof value === 'string' ? value : this.#refuse(key, 'a string');
  }

  number(key: string): number {
    return readNumber(this.#values[key]) ?? this.#refuse(key, 'a number');
  }

  finite(key: string): number {
    const value = this.number(key);
    return Number.isFinite(value) ? value : this.#refuse(key, 'a finite number');
  }

  count(key: string, limit: number = Number.MAX_SAFE_INTEGER): number {
    const value = this.number(key);
    if (Number.isInteger(value) && value >= 0 && value <= limit) return value;
    return this.#refuse(key, `a whole number from 0 to ${limit}`);
  }

  oneOf<const Choice extends string>(key: string, choices: readonly Choice[]): Choice {
    const value = this.#values[key];
    const choice = choices.find((candidate) => candidate === value);
    return choice ?? this.#refuse(key, choices.join(' or '));
  }

  pair(key: string): [number, number] {
    const value = this.#values[key];
    if (Array.isArray(value) && value.length === 2) {
      const [first, second] = value.map(readNumber);
      if (first !== undefined && second !== undefined) return [first, second];
    }
    return this.#refuse(key, 'two numbers');
  }

  #place(key: string): string {
    return this.#path === '' ? key : `${this.#path}.${key}`;
  }

  #refuse(key: string, wanted: string): never {
    const found = this.has(key) ? JSON.stringify(this.#values[key]) : 'missing';
    throw new DataError(`${this.#file}: header: ${this.#place(key)} is ${found}; wanted ${wanted}`);
  }
}

function readNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? specialNumbers.get(value) : undefined;
}
