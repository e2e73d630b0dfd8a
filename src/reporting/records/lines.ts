import type { RunLine } from './record.ts';

/** Whether a value read from a file is as expected. */
export type Shape = (value: unknown) => boolean;

export const text: Shape = (value) => typeof value === 'string';
export const number: Shape = (value) => typeof value === 'number';
/** A number, or null where it was not finite or not known yet. */
export const measured: Shape = (value) => value === null || number(value);

export const moment: Shape = (value) => text(value) && !Number.isNaN(Date.parse(value as string));

/** A whole number from 1 to `most`. */
export const countUpTo =
  (most: number): Shape =>
  (value) =>
    Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most;

export const listOf =
  (element: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every(element);

/** An object with these fields; further ones may have any shape. A name that ends in ? may be absent. */
export function objectOf(fields: Readonly<Record<string, Shape>>): Shape {
  const wanted = Object.entries(fields).map(([name, shape]) => ({
    name: name.replace(/\?$/, ''),
    optional: name.endsWith('?'),
    shape,
  }));
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    const found = value as Readonly<Record<string, unknown>>;
    return wanted.every(({ name, optional, shape }) => {
      const isThere = Object.hasOwn(found, name) && found[name] !== undefined;
      return isThere ? shape(found[name]) : optional;
    });
  };
}

/** Limits on what can be drawn. */
const mostThreads = 100_000;
const mostVectors = 1_000_000;
const largestGrid = 65_536;

const numbers = (...names: string[]): Shape =>
  objectOf(Object.fromEntries(names.map((name) => [name, number])));

const imbalance = numbers('rows', 'columns', 'nonzeros');

/** What readers rely on; lines may have more. */
const shapes: Readonly<Record<RunLine['event'], Shape>> = {
  start: objectOf({
    id: text,
    started: moment,
    version: text,
    pid: number,
    host: text,
    data: text,
    model: text,
    task: text,
    loss: text,
    penalty: text,
    tolerance: number,
    options: objectOf({}),
    'name?': text,
    'words?': listOf(text),
    'epochs?': number,
    'time?': number,
    'began?': number,
  }),
  begin: objectOf({
    solver: text,
    lambda: number,
    rows: number,
    columns: number,
    nonzeros: number,
    vectors: countUpTo(mostVectors),
    grid: countUpTo(largestGrid),
    threads: countUpTo(mostThreads),
    loads: objectOf({ rows: listOf(number), columns: listOf(number), 'cells?': listOf(number) }),
    imbalance,
    seconds: numbers('read', 'partition'),
    'ranks?': countUpTo(mostThreads),
    'firsts?': listOf(number),
    'hosts?': listOf(text),
  }),
  epoch: objectOf({
    epoch: number,
    seconds: number,
    passes: number,
    primal: measured,
    dual: measured,
    relativeGap: measured,
    'vector?': number,
    'elapsed?': number,
    'testError?': number,
    'testAuprc?': number,
    'bytes?': number,
  }),
  sample: objectOf({
    epoch: number,
    seconds: number,
    memory: number,
    threads: listOf(numbers('first', 'computing', 'waiting', 'communicating', 'bytes')),
    features: listOf(objectOf({ name: text, weight: number })),
    'vector?': number,
  }),
  report: objectOf({
    seconds: number,
    rows: number,
    loss: measured,
    recentLoss: measured,
    error: measured,
    recentError: measured,
  }),
  notice: objectOf({ message: text }),
  result: objectOf({
    ended: text,
    code: number,
    model: text,
    'solver?': text,
    'stopped?': text,
    'lambda?': number,
    'epochs?': number,
    'passes?': number,
    'primal?': measured,
    'dual?': measured,
    'gap?': measured,
    'relativeGap?': measured,
    'imbalance?': imbalance,
    'seconds?': numbers('read', 'partition', 'train', 'total'),
    'effort?': numbers('computing', 'waiting', 'communicating', 'bytes'),
    'test?': objectOf({ task: text, rows: number }),
  }),
  failure: objectOf({ ended: text, message: text }),
};

/** Lines are far shorter; longer ones are not parsed. */
const longest = 2 ** 24;

/** A line of a record; undefined if it is incomplete, of an unknown kind, or something else. */
export function parseLine(bytes: Buffer, begin: number, end: number): RunLine | undefined {
  if (end - begin > longest) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8', begin, end));
  } catch {
    return undefined;
  }
  return isLine(value) ? value : undefined;
}

function isLine(value: unknown): value is RunLine {
  const event = (value as { readonly event?: unknown } | null)?.event;
  if (typeof event !== 'string' || !Object.hasOwn(shapes, event)) return false;
  return shapes[event as RunLine['event']](value);
}

/**
 * A line as readers of the record get it. Kind and vector come first, by which readers know a line
 * without parsing it. JSON has neither infinities nor NaN: null takes their place, or nothing where
 * a field is optional.
 */
export function recordable<Line extends RunLine>(line: Line): Line {
  if (line.event !== 'epoch') {
    const { event, ...others } = line;
    return plain({ event, ...others }) as Line;
  }
  const { event, vector, epoch, testError, testAuprc, ...rest } = line;
  const tested = Object.entries({ testError, testAuprc }).filter(([, value]) =>
    Number.isFinite(value),
  );
  return plain({ event, vector, epoch, ...rest, ...Object.fromEntries(tested) }) as Line;
}

/** What JSON.parse makes of JSON.stringify's text. */
function plain(value: unknown): unknown {
  // Adding 0 turns −0 into 0.
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : null;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([name, field]) => [name, plain(field)]));
}
