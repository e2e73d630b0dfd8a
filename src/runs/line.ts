import type { RunLine } from './record.ts';

/** What a field of a line has to be for readers to rely on it; measured: a number, or null. */
type Kind = 'string' | 'number' | 'measured' | 'object' | 'list';

/** Fields that every line of a kind has. */
const fields: Readonly<Record<RunLine['event'], Readonly<Record<string, Kind>>>> = {
  start: {
    id: 'string',
    started: 'string',
    version: 'string',
    pid: 'number',
    host: 'string',
    data: 'string',
    model: 'string',
    task: 'string',
    loss: 'string',
    penalty: 'string',
    tolerance: 'number',
    options: 'object',
  },
  begin: {
    solver: 'string',
    lambda: 'number',
    rows: 'number',
    columns: 'number',
    nonzeros: 'number',
    vectors: 'number',
    grid: 'number',
    threads: 'number',
    loads: 'object',
    imbalance: 'object',
    seconds: 'object',
  },
  epoch: {
    epoch: 'number',
    seconds: 'number',
    passes: 'number',
    primal: 'measured',
    dual: 'measured',
    relativeGap: 'measured',
  },
  sample: {
    epoch: 'number',
    seconds: 'number',
    memory: 'number',
    threads: 'list',
    features: 'list',
  },
  report: {
    seconds: 'number',
    rows: 'number',
    loss: 'measured',
    recentLoss: 'measured',
    error: 'measured',
    recentError: 'measured',
  },
  notice: { message: 'string' },
  result: { ended: 'string', code: 'number', model: 'string' },
  failure: { ended: 'string', message: 'string' },
};

const wantedOf = new Map<string, readonly (readonly [string, Kind])[]>(
  Object.entries(fields).map(([event, wanted]) => [event, Object.entries(wanted)]),
);

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
  if (kindOf(value) !== 'object') return false;
  const line = value as Readonly<Record<string, unknown>>;
  const wanted = wantedOf.get(line.event as string);
  return wanted?.every(([name, kind]) => fits(line[name], kind)) ?? false;
}

function fits(value: unknown, kind: Kind): boolean {
  const found = kindOf(value);
  return kind === 'measured' ? found === 'number' || found === 'null' : found === kind;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
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
