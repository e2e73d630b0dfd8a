/** Random requests for a scoring server, each with what the answer to it has to be. */
import { isUtf8 } from 'node:buffer';
import { batchOf, rowOf } from '../../src/apps/serve/rows.ts';
import { DataError } from '../../src/errors.ts';
import type { Random } from '../../src/math/random.ts';
import { vectorCount } from '../../src/model/model.ts';
import { meanOf } from '../../src/model/predict/predict.ts';
import { Predictor } from '../../src/model/predict/predictor.ts';
import type { Response } from './conversation.ts';
import { chance, pick } from './draw.ts';
import { type Json, otherValue, pathsOf, valueAt, withValue } from './json-forgery.ts';
import type { ServedModel } from './serve-models.ts';

export interface Exchange {
  readonly method: string;
  readonly bytes: Buffer;
  /** Whether it is what clients send. */
  readonly regular?: true;
  /** What is wrong with the answer; absent where none is due, as for half a request. */
  readonly faultOf?: (response: Response) => string | undefined;
}

/** By docs/serve.md; 500 is a fault of the server. */
const documented = new Set([200, 400, 404, 405, 408, 413, 415, 417, 421, 431, 503]);

export const limits = {
  bytes: 20_000,
  bodies: 1e6,
  timeout: 3000,
  rows: 50,
  answer: 64 * 2 ** 20,
};

export function faultOfAny({ status, headers, body, whole }: Response): string | undefined {
  if (!documented.has(status)) return `status ${status}: ${body}`;
  if (!whole) return `status ${status}, cut off after ${body.length} characters`;
  if (status === 200 || body === '') return undefined;
  const parsed = parse(body) as { error?: unknown } | undefined;
  const isError = typeof parsed?.error === 'string' && Object.keys(parsed).length === 1;
  if (!isError) return `status ${status} with ${body}`;
  if (status === 405 && !headers.has('allow')) return '405 without Allow';
  return undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Answers by the library instead of the server. */
export class Oracle {
  readonly served: ServedModel;
  readonly #predictor: Predictor;

  constructor(served: ServedModel) {
    this.served = served;
    this.#predictor = new Predictor(served.model);
  }

  /** The scores of a row; undefined for one that cannot be scored, or whose mean is too large. */
  scoresOf(row: unknown): number[] | undefined {
    try {
      const scores = this.#predictor.scores(rowOf(row));
      if (!this.served.model.classes) meanOf(this.served.model, scores[0]);
      return scores;
    } catch (error) {
      if (error instanceof DataError) return undefined;
      throw error;
    }
  }

  /** What is wrong with the answer to a row, as text of JSON. */
  faultOfAnswer(row: unknown, answer: unknown): string | undefined {
    const scores = this.scoresOf(row);
    if (scores === undefined) return `a row that cannot be scored got ${JSON.stringify(answer)}`;
    const { model } = this.served;
    const found = answer as { label?: number; score?: number; scores?: Record<string, number> };
    const shown =
      vectorCount(model) > 1
        ? (model.classes ?? []).map((name) => found.scores?.[String(name)])
        : [model.classes ? found.score : found.label];
    const expected = model.classes ? scores : [meanOf(model, scores[0])];
    const same = shown.length === expected.length && shown.every((x, k) => isSame(x, expected[k]));
    return same ? undefined : `${JSON.stringify(answer)}; expected ${expected.join(', ')}`;
  }

  /** The status that a body of JSON gets, and the rows that are answered then. */
  #expected(body: Buffer): { status: number; rows?: readonly unknown[]; alone?: boolean } {
    if (body.length > limits.bytes) return { status: 413 };
    const value = isUtf8(body) ? parse(body.toString()) : undefined;
    if (value === undefined) return { status: 400 };
    const batch = batchOf(value);
    if (batch && batch.rows.length > limits.rows) return { status: 413 };
    const rows = batch?.rows ?? [value];
    if (rows.some((row) => this.scoresOf(row) === undefined)) return { status: 400 };
    return { status: 200, rows, alone: batch === undefined };
  }

  faultOfJson(body: Buffer, response: Response): string | undefined {
    const any = faultOfAny(response);
    if (any !== undefined) return any;
    const { status, rows = [], alone } = this.#expected(body);
    if (response.status !== status) {
      return `status ${response.status}, ${response.body.slice(0, 200)}; expected ${status}`;
    }
    if (status !== 200) return undefined;
    const parsed = parse(response.body);
    if (parsed === undefined) return `not JSON: ${response.body.slice(0, 200)}`;
    const answers = (
      alone ? [parsed] : ((parsed as { predictions?: unknown[] }).predictions ?? parsed)
    ) as unknown[];
    if (answers.length !== rows.length) return `${answers.length} answers to ${rows.length} rows`;
    return rows.map((row, k) => this.faultOfAnswer(row, answers[k])).find(Boolean);
  }

  faultOfLines(body: Buffer, response: Response): string | undefined {
    if (linesOf(body).some((line) => line.length > limits.bytes)) {
      const isCut = response.status === 200 && !response.whole;
      return isCut || response.status === 413 ? undefined : `status ${response.status}`;
    }
    if (response.status !== 200) return `status ${response.status}: ${response.body}`;
    const lines = linesOf(body).filter((line) => !isUtf8(line) || /\S/.test(line.toString()));
    const answers = response.body.split('\n').slice(0, -1);
    if (!response.whole) return `cut off: ${response.body.slice(-200)}`;
    if (answers.length !== lines.length) return `${answers.length} answers, ${lines.length} lines`;
    return lines.map((line, k) => this.#faultOfLine(line, parse(answers[k]))).find(Boolean);
  }

  #faultOfLine(line: Buffer, answer: unknown): string | undefined {
    if (typeof answer !== 'object' || answer === null) return 'an answer that is not JSON';
    const row = isUtf8(line) ? parse(line.toString()) : undefined;
    const canBeScored = row !== undefined && this.scoresOf(row) !== undefined;
    if (canBeScored) return this.faultOfAnswer(row, answer);
    return 'error' in answer ? undefined : `${line.toString()} got ${JSON.stringify(answer)}`;
  }
}

/** −0 is written as 0. */
function isSame(shown: number | undefined, expected: number): boolean {
  return shown === expected;
}

function linesOf(body: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const end = body.indexOf(10, at);
    lines.push(body.subarray(at, end < 0 ? body.length : end));
    at = end < 0 ? body.length : end + 1;
  }
  return lines;
}

const proto = '{"__proto__":{"age":7},"constructor":1,"toString":"x","age":1}';
const texts = [
  '',
  ' ',
  'null',
  '7',
  '"x"',
  '[]',
  '{}',
  '[[]]',
  '{"rows":[]}',
  '[1e999]',
  '{"age":1e400}',
  '{"indices":[1e9],"values":[1]}',
  '{"indices":[4294967296],"values":[1]}',
  '{"indices":[-1],"values":[1]}',
  '{"indices":[0,0],"values":[1,2]}',
  '{"indices":{"length":9},"values":{"length":9}}',
  proto,
  `{"rows":[${proto},${proto}]}`,
  '{"age":1,"age":2}',
  '"\\ud800"',
  '{"\\ud800":1}',
  '\ufeff[1]',
  '[1,]',
  '[1]x',
  'NaN',
];

function bodyText(random: Random, { row }: ServedModel): string {
  const kind = random.uniform();
  if (kind < 0.05) return pick(random, texts);
  if (kind < 0.08) return nested(random);
  const rows = Array.from({ length: 1 + random.below(4) }, () => row(random));
  const many = chance(random, 0.02) ? Array.from({ length: 60 }, () => row(random)) : rows;
  let value = pick<Json>(random, [rows[0], rows[0], many, { rows: many }]);
  const changes = chance(random, 0.5) ? 0 : 1 + random.below(3);
  for (let k = 0; k < changes; k++) {
    const path = pick(random, [[], ...pathsOf(value)]);
    value = withValue(value, path, otherValue(random, valueAt(value, path)));
  }
  return JSON.stringify(value);
}

function nested(random: Random): string {
  const depth = pick(random, [10, 1000, 9000]);
  const [open, close] = pick(random, [
    ['[', ']'],
    ['{"a":', '}'],
    ['{"rows":[', ']}'],
  ]);
  const whole = chance(random, 0.5) ? `${open.repeat(depth)}1${close.repeat(depth)}` : '';
  return whole || open.repeat(depth);
}

/** Now and then with a byte changed, cut off or repeated. */
export function bodyOf(random: Random, served: ServedModel): Buffer {
  const bytes = Buffer.from(bodyText(random, served));
  if (chance(random, 0.85) || bytes.length === 0) return bytes;
  const at = random.below(bytes.length);
  const changed = Buffer.from(bytes);
  changed[at] = random.below(256);
  return pick(random, [
    changed,
    bytes.subarray(0, at),
    Buffer.concat([bytes, bytes.subarray(at)]),
    Buffer.concat([bytes, Buffer.alloc(pick(random, [1, 30_000]), 32)]),
  ]);
}

/** `last`: a line may be too long, which ends the connection. */
export function linesBody(random: Random, served: ServedModel, last: boolean): Buffer {
  const all = Array.from({ length: random.below(8) }, () =>
    chance(random, 0.15) ? Buffer.from(pick(random, ['', ' ', '\r'])) : bodyOf(random, served),
  );
  const lines = last ? all : all.filter(({ length }) => length < limits.bytes);
  const newline = Buffer.from(chance(random, 0.8) ? '\n' : '\r\n');
  return Buffer.concat(lines.flatMap((line, k) => (k === 0 ? [line] : [newline, line])));
}
