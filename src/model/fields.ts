/** Fields of a header: each is written, and read with a check, by the same description. */
import { DataError } from '../errors.ts';
import { numberFromJson } from '../math/json-numbers.ts';

/** A value of JSON and where it stands. */
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

  refuse(wanted: string): never {
    const text = JSON.stringify(this.json) ?? 'missing';
    const found = text.length > 80 ? `${text.slice(0, 80)}…` : text;
    throw new DataError(`${this.#file}: header: ${this.#path} is ${found}; wanted ${wanted}`);
  }
}

export interface Field<T> {
  read(value: JsonValue): T;
  /** The value for JSON.stringify. */
  write(value: T): unknown;
}

export interface OptionalField<T> extends Field<T> {
  readonly optional: true;
}

/** A field for every key of T, in the order in which they are written. */
export type Shape<T> = {
  readonly [Key in keyof T]-?: object extends Pick<T, Key>
    ? OptionalField<NonNullable<T[Key]>>
    : Field<T[Key]>;
};

export function field<T>(
  read: (value: JsonValue) => T,
  write: (value: T) => unknown = (value) => value,
): Field<T> {
  return { read, write };
}

export function optional<T>(inner: Field<T>): OptionalField<T> {
  return { ...inner, optional: true };
}

/** An object; `check` looks at what was read. */
export function record<T extends object>(
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
export function records<T>(inner: Field<T>): Field<readonly T[]> {
  return field(
    (value) =>
      Array.isArray(value.json)
        ? value.json.map((_, index) => inner.read(value.at(index)))
        : value.refuse('a list of objects'),
    (found) => found.map((each) => inner.write(each)),
  );
}

/** A list of numbers or texts, each of which `parse` reads. */
function list<T>(wanted: string, parse: (json: unknown) => T | undefined): Field<readonly T[]> {
  return field((value) => {
    if (!Array.isArray(value.json)) return value.refuse(wanted);
    return value.json.map((each) => parse(each) ?? value.refuse(wanted));
  });
}

function finiteFromJson(json: unknown): number | undefined {
  const number = numberFromJson(json);
  return number !== undefined && Number.isFinite(number) ? number : undefined;
}

export const text = field((value) =>
  typeof value.json === 'string' ? value.json : value.refuse('a string'),
);

export const number = field((value) => numberFromJson(value.json) ?? value.refuse('a number'));

export const finite = field(
  (value) => finiteFromJson(value.json) ?? value.refuse('a finite number'),
);

export function count(limit: number = Number.MAX_SAFE_INTEGER): Field<number> {
  return field((value) => {
    const found = number.read(value);
    if (Number.isInteger(found) && found >= 0 && found <= limit) return found;
    return value.refuse(`a whole number from 0 to ${limit}`);
  });
}

/** Absent, or true. */
export const flag: OptionalField<true> = optional(
  field((value) => value.json === true || value.refuse('true, or not to be there')),
);

export function oneOf<const Choice extends string>(...choices: readonly Choice[]): Field<Choice> {
  return field(
    (value) =>
      choices.find((choice) => choice === value.json) ?? value.refuse(choices.join(' or ')),
  );
}

export const finiteNumbers = list('a list of finite numbers', finiteFromJson);

/** Finite numbers and texts; a text stays one, whatever it says. */
export const labels = list('a list of finite numbers or strings', (json) =>
  typeof json === 'string' || Number.isFinite(json) ? (json as number | string) : undefined,
);

/** Two numbers, which may be infinite. */
export const pair: Field<readonly number[]> = field((value) => {
  const found = list('two numbers', numberFromJson).read(value);
  return found.length === 2 ? found : value.refuse('two numbers');
});
