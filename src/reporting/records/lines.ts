import type { RunLine } from './record.ts';

/** Whether a value read from a file is as expected. */
type Shape = (value: unknown) => boolean;
/** Of the fields of an object. The name of an optional one ends in "?". */
type Shapes = Readonly<Record<string, Shape>>;

const text: Shape = (value) => typeof value === 'string';
const number: Shape = (value) => typeof value === 'number';
/** A number, or null where it was not finite or not known yet. */
const measured: Shape = (value) => value === null || number(value);
const moment: Shape = (value) => text(value) && !Number.isNaN(Date.parse(value as string));

/** A whole number from 1 to `most`. */
const countUpTo =
  (most: number): Shape =>
  (value) =>
    Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most;

const listOf =
  (element: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every(element);

/** An object with these fields; further ones may have any shape. */
function objectOf(fields: Shapes): Shape {
  const expected = Object.entries(fields).map(([name, shape]) => ({
    name: name.replace(/\?$/, ''),
    optional: name.endsWith('?'),
    shape,
  }));
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    const found = value as Readonly<Record<string, unknown>>;
    return expected.every(({ name, optional, shape }) => {
      const isPresent = Object.hasOwn(found, name) && found[name] !== undefined;
      return isPresent ? shape(found[name]) : optional;
    });
  };
}

/** Fields of the same shape, their names separated by spaces. */
const each = (shape: Shape, names: string): Shapes =>
  Object.fromEntries(names.split(' ').map((name) => [name, shape]));

/** Limits on what can be drawn. */
const mostThreads = 100_000;
const mostVectors = 1_000_000;
const largestGrid = 65_536;

const effort = each(number, 'computing waiting communicating bytes');
const imbalance = objectOf(each(number, 'rows columns nonzeros'));

/** What readers rely on; lines may have more. */
const shapes: Readonly<Record<RunLine['event'], Shape>> = {
  start: objectOf({
    ...each(text, 'id version host data model task loss penalty name?'),
    ...each(number, 'pid tolerance epochs? time? began?'),
    started: moment,
    options: objectOf({}),
    'words?': listOf(text),
  }),
  begin: objectOf({
    ...each(number, 'lambda rows columns nonzeros'),
    ...each(countUpTo(mostThreads), 'threads ranks?'),
    solver: text,
    vectors: countUpTo(mostVectors),
    grid: countUpTo(largestGrid),
    loads: objectOf(each(listOf(number), 'rows columns cells?')),
    imbalance,
    seconds: objectOf(each(number, 'read partition')),
    'firsts?': listOf(number),
    'hosts?': listOf(text),
  }),
  epoch: objectOf({
    ...each(number, 'epoch seconds passes vector? elapsed? testError? testAuprc? bytes?'),
    ...each(measured, 'primal dual relativeGap'),
  }),
  sample: objectOf({
    ...each(number, 'epoch seconds memory vector?'),
    threads: listOf(objectOf({ first: number, ...effort })),
    features: listOf(objectOf({ name: text, weight: number })),
  }),
  report: objectOf({
    ...each(number, 'seconds rows'),
    ...each(measured, 'loss recentLoss error recentError'),
  }),
  notice: objectOf({ message: text }),
  result: objectOf({
    ...each(text, 'ended model solver? stopped?'),
    ...each(number, 'code lambda? epochs? passes? provedZeros?'),
    ...each(measured, 'primal? dual? gap? relativeGap?'),
    'imbalance?': imbalance,
    'seconds?': objectOf(each(number, 'read partition train total')),
    'effort?': objectOf(effort),
    'test?': objectOf({ task: text, rows: number }),
  }),
  failure: objectOf({ ended: text, message: text }),
};

export const newline = 10;

/** Where the whole lines of some bytes begin and end. */
export function* lineRanges(bytes: Buffer): Generator<[begin: number, end: number]> {
  let begin = 0;
  for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, begin)) {
    yield [begin, end];
    begin = end + 1;
  }
}

/** Lines are far shorter; longer ones are not parsed. */
const longest = 2 ** 24;

/** A line of a record; undefined if it is incomplete, of an unknown kind, or something else. */
export function parseLine(bytes: Buffer, begin: number, end: number): RunLine | undefined {
  if (end - begin > longest) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8', begin, end));
    return isLine(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isLine(value: unknown): value is RunLine {
  const event = (value as { readonly event?: unknown } | null)?.event;
  if (typeof event !== 'string' || !Object.hasOwn(shapes, event)) return false;
  return shapes[event as RunLine['event']](value);
}

/**
 * A line as readers of the record get it. Kind and vector come first: readers need not parse it all.
 * JSON has neither infinities nor NaN: null replaces them, or nothing where a field is optional.
 */
export function recordable<Line extends RunLine>(line: Line): Line {
  if (line.event !== 'epoch') {
    const { event, ...others } = line;
    return plain({ event, ...others }) as Line;
  }
  const { event, vector, epoch, testError, testAuprc, ...rest } = line;
  const finite = (value: number | undefined) => (Number.isFinite(value) ? value : undefined);
  const tested = { testError: finite(testError), testAuprc: finite(testAuprc) };
  return plain({ event, vector, epoch, ...rest, ...tested }) as Line;
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
