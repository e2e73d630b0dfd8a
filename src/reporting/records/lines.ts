import {
  countUpTo,
  listOf,
  measured,
  moment,
  number,
  objectOf,
  type Shape,
  text,
} from '../../runs/shape.ts';
import type { RunLine } from './record.ts';

/** Threads, classes and workers that anybody draws. */
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

/** No line of ours comes near; what is longer is not worth the time. */
const longest = 2 ** 24;

/** A line of a record, or undefined for what is none: half a line, a kind not known yet, junk. */
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
 * A line as text. Kind and vector come first, by which readers know a line without reading it all.
 * JSON has neither infinities nor NaN: null is in their place, or nothing where a field may be left
 * out.
 */
export function lineText(line: RunLine): string {
  if (line.event !== 'epoch') {
    const { event, ...others } = line;
    return JSON.stringify({ event, ...others });
  }
  const { event, vector, epoch, testError, testAuprc, ...rest } = line;
  const tested = { testError, testAuprc };
  return JSON.stringify({
    event,
    ...(vector !== undefined && { vector }),
    epoch,
    ...rest,
    ...Object.fromEntries(Object.entries(tested).filter(([, value]) => Number.isFinite(value))),
  });
}
