/** Types of options: one rule parses a text of the command line and checks a value of the library. */
import { UsageError } from '../../errors.ts';

/** Which values an option takes. */
export interface ValueRule {
  /** Completes the sentence "it must be …". */
  readonly expected: string;
  accepts(value: unknown): boolean;
}

export interface OptionType<Value> extends ValueRule {
  /** undefined: not such a value. `before`: the value of the same option given earlier. */
  parse(text: string, before?: Value): Value | undefined;
  /** The words that can be given, for completion and help. */
  readonly choices?: readonly string[];
  /** Whether the value names a file or a folder, for completion. */
  readonly files?: true;
}

/** The value in a message: texts of the library in quotes, as they are in a program. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

export function checkValue(name: string, value: unknown, type: ValueRule): void {
  if (value === undefined || type.accepts(value)) return;
  throw new UsageError(`${name} is ${shown(value)}; it must be ${type.expected}`);
}

export function parseValue<Value>(
  flag: string,
  text: string,
  type: OptionType<Value>,
  before?: Value,
): Value {
  const value = type.parse(text, before);
  if (value !== undefined) return value;
  const written = /^\S+$/.test(text) ? text : `'${text}'`;
  throw new UsageError(`${flag} is ${written}; it must be ${type.expected}`);
}

const decimal = /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?$/i;

function number(expected: string, fits: (value: number) => boolean): OptionType<number> {
  const accepts = (value: unknown): value is number => typeof value === 'number' && fits(value);
  return {
    expected,
    accepts,
    parse(text) {
      const value = decimal.test(text) ? Number(text) : Number.NaN;
      return Number.isFinite(value) && fits(value) ? value : undefined;
    },
  };
}

export const positive = number('a number above 0', (value) => value > 0 && value < Infinity);
/** Infinity means no limit. */
export const limit = number('a number above 0', (value) => value > 0);
export const nonNegative = number(
  'a number of at least 0',
  (value) => value >= 0 && value < Infinity,
);
export const finite = number('a number', Number.isFinite);
export const fraction = number('a number above 0 and below 1', (value) => value > 0 && value < 1);

export function whole(least: number, most = Number.MAX_SAFE_INTEGER): OptionType<number> {
  const expected =
    most === Number.MAX_SAFE_INTEGER
      ? `a whole number of at least ${least}`
      : `a whole number from ${least} to ${most}`;
  const fits = (value: number) => Number.isInteger(value) && value >= least && value <= most;
  const parse = (given: string) =>
    /^[0-9]+$/.test(given) && fits(Number(given)) ? Number(given) : undefined;
  return { ...number(expected, fits), parse };
}

export const port = whole(0, 65_535);

export const text: OptionType<string> = {
  expected: 'a text',
  parse: (given) => given,
  accepts: (value) => typeof value === 'string' && value !== '',
};
export const file: OptionType<string> = { ...text, expected: 'the path of a file', files: true };
export const folder: OptionType<string> = {
  ...file,
  expected: 'the path of a folder',
  parse: (given) => given || undefined,
};

export function choice<const Name extends string>(
  names: readonly Name[],
): OptionType<Name> & { readonly choices: readonly Name[] } {
  const find = (given: unknown) => names.find((name) => name === given);
  return {
    expected: `one of ${names.join(', ')}`,
    parse: find,
    accepts: (value) => find(value) !== undefined,
    choices: names,
  };
}

/** Values with commas between them, each once. */
export function listOf<Value>(
  of: OptionType<Value>,
  expected: string,
): OptionType<readonly Value[]> {
  return {
    expected,
    accepts: (value) => Array.isArray(value) && value.every((one) => of.accepts(one)),
    parse(given) {
      const words = given.split(',').map((word) => word.trim());
      const values = words.map((word) => (word === '' ? undefined : of.parse(word)));
      return values.includes(undefined) ? undefined : [...new Set(values as Value[])];
    },
    ...(of.choices && { choices: of.choices }),
  };
}

/** Names of columns with commas between them; an option given twice adds to the list. */
export const columns: OptionType<readonly string[]> = {
  ...listOf(text, 'names, separated by commas'),
  parse(given, before = []) {
    const names = given.split(',').map((name) => name.trim());
    return names.includes('') ? undefined : [...before, ...names];
  },
};

const byteUnits = ['', 'K', 'M', 'G', 'T'];

/** A number of bytes: 500M, 2G, 1.5G. */
export const bytes: OptionType<number> = {
  expected: 'a number of bytes, such as 500M or 2G',
  accepts: limit.accepts,
  parse(given) {
    const [, digits, unit] = /^([0-9]+(?:\.[0-9]+)?)([KMGT]?)(?:i?B)?$/i.exec(given) ?? [];
    const value = Number(digits) * 1024 ** byteUnits.indexOf((unit ?? '').toUpperCase());
    return value >= 1 ? Math.floor(value) : undefined;
  },
};

const seconds: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 };

/** A time as milliseconds: 500ms, 10s, 2m; seconds unless a unit is given. */
export const milliseconds: OptionType<number> = {
  expected: 'a time, such as 500ms, 10s or 2m',
  accepts: positive.accepts,
  parse(given) {
    const [, digits, unit = 's'] = /^([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)?$/.exec(given) ?? [];
    const value = Number(digits) * seconds[unit] * 1000;
    // Node's timers take no more than 2^31 - 1.
    return value >= 1 && value < 2 ** 31 ? value : undefined;
  },
};

type Every<Unit extends string> = { readonly [Name in Unit]: number };

/** `10` of a unit, or a time: `30s`, `5m`, `1h`; `zero`: a time of 0 is allowed. */
export function interval<const Unit extends string>(
  unit: Unit,
  example: number,
  zero = false,
): OptionType<Every<Unit> | { readonly seconds: number }> {
  const accepts = (value: unknown) => {
    const every = (value ?? {}) as { seconds?: unknown } & Record<string, unknown>;
    const { [unit]: count, seconds: time } = every;
    return time === undefined
      ? Number.isInteger(count) && Number(count) >= 1
      : typeof time === 'number' && time >= 0 && count === undefined;
  };
  return {
    expected: `a number of ${unit} (${example}) or a time (30s, 5m, 1h)`,
    accepts,
    parse(given) {
      const [, digits, suffix] = /^([0-9]+(?:\.[0-9]+)?)(s|m|h)?$/.exec(given) ?? [];
      const value = Number(digits);
      if (suffix !== undefined) {
        return value > 0 || zero ? { seconds: value * seconds[suffix] } : undefined;
      }
      return Number.isSafeInteger(value) && value >= 1
        ? ({ [unit]: value } as Every<Unit>)
        : undefined;
    },
  };
}
