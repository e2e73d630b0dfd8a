import { DataError } from '../errors.ts';

/** Numbers that JSON does not have, as they are written. */
const specialNumbers = new Map([
  ['-0', -0],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]);

/** The fields of one JSON object, each asked for with the type it must have. */
export class Fields {
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

  keys(): string[] {
    return Object.keys(this.#values);
  }

  object(key: string): Fields {
    return new Fields(this.#values[key], this.#place(key), this.#file);
  }

  /** A list of objects. */
  objects(key: string): Fields[] {
    return this.#list(key, 'a list of objects').map(
      (value, index) => new Fields(value, `${this.#place(key)}[${index}]`, this.#file),
    );
  }

  string(key: string): string {
    const value = this.#values[key];
    return typeof value === 'string' ? value : this.refuse(key, 'a string');
  }

  number(key: string): number {
    return readNumber(this.#values[key]) ?? this.refuse(key, 'a number');
  }

  finite(key: string): number {
    const value = this.number(key);
    return Number.isFinite(value) ? value : this.refuse(key, 'a finite number');
  }

  count(key: string, limit: number = Number.MAX_SAFE_INTEGER): number {
    const value = this.number(key);
    if (Number.isInteger(value) && value >= 0 && value <= limit) return value;
    return this.refuse(key, `a whole number from 0 to ${limit}`);
  }

  /** Absent, or true. */
  flag(key: string): boolean {
    if (!this.has(key)) return false;
    return this.#values[key] === true || this.refuse(key, 'true, or not to be there');
  }

  oneOf<const Choice extends string>(key: string, choices: readonly Choice[]): Choice {
    const value = this.#values[key];
    const choice = choices.find((candidate) => candidate === value);
    return choice ?? this.refuse(key, choices.join(' or '));
  }

  finiteNumbers(key: string): number[] {
    const wanted = 'a list of finite numbers';
    return this.#list(key, wanted).map((value) => {
      const number = readNumber(value);
      if (number === undefined || !Number.isFinite(number)) return this.refuse(key, wanted);
      return number;
    });
  }

  /** Two numbers, which may be infinite. */
  pair(key: string): [number, number] {
    const value = this.#values[key];
    if (Array.isArray(value) && value.length === 2) {
      const [first, second] = value.map(readNumber);
      if (first !== undefined && second !== undefined) return [first, second];
    }
    return this.refuse(key, 'two numbers');
  }

  /** Finite numbers and texts; a text stays one, whatever it says. */
  labels(key: string): (number | string)[] {
    const wanted = 'a list of finite numbers or strings';
    return this.#list(key, wanted).map((value) => {
      if (typeof value === 'string' || Number.isFinite(value)) return value as number | string;
      return this.refuse(key, wanted);
    });
  }

  /** A number, a text or a truth value. */
  scalar(key: string): string | number | boolean {
    const value = this.#values[key];
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      return value;
    }
    return this.refuse(key, 'a string, a number, true or false');
  }

  refuse(key: string, wanted: string): never {
    const found = this.has(key) ? excerptOf(this.#values[key]) : 'missing';
    throw new DataError(`${this.#file}: header: ${this.#place(key)} is ${found}; wanted ${wanted}`);
  }

  #list(key: string, wanted: string): unknown[] {
    const value = this.#values[key];
    return Array.isArray(value) ? value : this.refuse(key, wanted);
  }

  #place(key: string): string {
    return this.#path === '' ? key : `${this.#path}.${key}`;
  }
}

function excerptOf(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function readNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? specialNumbers.get(value) : undefined;
}
