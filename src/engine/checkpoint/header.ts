/**
 * The header of a checkpoint, checked field by field: a checksum says that a file is as it was
 * written, not that this program has written it.
 */
import { DataError } from '../../errors.ts';
import type { Header } from './file.ts';
import { bytesPerNumber } from './state.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A value of a header and its path, for messages. */
export class Stored {
  readonly value: unknown;
  readonly path: string;

  constructor(value: unknown, path = '') {
    this.value = value;
    this.path = path;
  }

  reject(expected: string): never {
    const text = JSON.stringify(this.value) ?? 'missing';
    const found = text.length > 80 ? `${text.slice(0, 80)}…` : text;
    const what = this.path === '' ? 'header' : `header: ${this.path}`;
    throw new DataError(`${what} is ${found}; expected ${expected}`);
  }

  fields(): Fields {
    const { value } = this;
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Fields) : this.reject('an object');
  }

  get(key: string): Stored {
    const fields = this.fields();
    const inner = Object.hasOwn(fields, key) ? fields[key] : undefined;
    return new Stored(inner, this.path === '' ? key : `${this.path}.${key}`);
  }

  items(): Stored[] {
    if (!Array.isArray(this.value)) return this.reject('a list');
    return this.value.map((item: unknown, index) => new Stored(item, `${this.path}[${index}]`));
  }

  text(): string {
    return typeof this.value === 'string' ? this.value : this.reject('a text');
  }

  /** Any number, also an infinity; not NaN. */
  number(low = -Infinity, high = Infinity): number {
    const { value } = this;
    if (typeof value === 'number' && value >= low && value <= high) return value;
    const range = low === -Infinity && high === Infinity ? '' : ` from ${low} to ${high}`;
    return this.reject(`a number${range}`);
  }

  finite(low = -Number.MAX_VALUE): number {
    return this.number(low, Number.MAX_VALUE);
  }

  whole(low = 0, high = Number.MAX_SAFE_INTEGER): number {
    const { value } = this;
    const fits = Number.isInteger(value) && (value as number) >= low && (value as number) <= high;
    return fits ? (value as number) : this.reject(`a whole number from ${low} to ${high}`);
  }

  oneOf(choices: readonly string[]): void {
    if (!choices.includes(this.value as string)) this.reject(choices.join(' or '));
  }
}

/** Workers of a grid at most, and seconds: three hundred years. */
const mostWorkers = 2 ** 16;
const mostSeconds = 1e10;

/** Checks all but what the solver has saved. */
export function checkedHeader(value: unknown): Header {
  const header = new Stored(value);
  header.get('program').text();
  checkIdentity(header.get('identity'));
  const grid = header.get('grid').whole(1, mostWorkers);
  checkWorkers(header.get('workers'), grid);
  const epoch = header.get('epoch').whole();
  header.get('seconds').number(0, mostSeconds);
  header.get('follows').whole(0, epoch);
  header.get('tolerance').finite(0);
  if (header.get('test').value !== null) header.get('test').text();
  header.get('saved').get('convergence').fields();
  header.get('saved').get('method').fields();
  for (const array of header.get('arrays').items()) checkArray(array);
  return value as Header;
}

function checkIdentity(identity: Stored): void {
  const data = identity.get('data');
  for (const key of ['rows', 'columns', 'nonzeros']) data.get(key).whole();
  data.get('hash').text();
  const options = identity.get('options');
  for (const key of Object.keys(options.fields())) {
    const option = options.get(key);
    if (typeof option.value === 'object' && option.value !== null) {
      option.reject('a number, a text, true, false or null');
    }
  }
}

function checkWorkers(workers: Stored, grid: number): void {
  const items = workers.items();
  if (items.length !== 2) workers.reject('two numbers');
  const first = items[0].whole(0, grid - 1);
  items[1].whole(first + 1, grid);
}

function checkArray(array: Stored): void {
  array.get('name').text();
  array.get('axis').oneOf(['row', 'column', 'worker']);
  array.get('type').oneOf(Object.keys(bytesPerNumber));
  array.get('length').whole();
}
