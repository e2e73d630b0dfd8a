import { setImmediate } from 'node:timers/promises';
import type { Scorer } from '../apps/serve/scorer.ts';
import { DataError } from '../errors.ts';
import { Refusal } from './refusal.ts';
import type { Question } from './rows.ts';

/** Other requests get their turn after so many rows, or so many characters. */
const rowsPerTurn = 256;
const textPerTurn = 2 ** 17;

export interface BatchLimits {
  readonly rows: number;
  /** Characters of the answer, which is kept in memory until it is whole. */
  readonly answer: number;
}

/**
 * The answer to a batch: all rows or none, so that a bad row is known by the status. Throws a
 * Refusal that names the row.
 */
export async function answerBatch(
  { rows, wrapped }: Extract<Question, { kind: 'batch' }>,
  scorer: Scorer,
  limits: BatchLimits,
): Promise<string> {
  if (rows.length > limits.rows) {
    throw new Refusal(413, `${rows.length} rows; wanted at most ${limits.rows}`);
  }
  let turn = { row: 0, length: 0 };
  let text = wrapped ? '{"predictions":[' : '[';
  for (let row = 0; row < rows.length; row++) {
    if (row - turn.row >= rowsPerTurn || text.length - turn.length >= textPerTurn) {
      turn = { row, length: text.length };
      await setImmediate();
    }
    if (row > 0) text += ',';
    text += answerRow(scorer, rows[row], `row ${row + 1}`);
    if (text.length > limits.answer) {
      throw new Refusal(
        413,
        `the answer is longer than ${limits.answer} characters at row ${row + 1}; ` +
          'wanted fewer rows, or application/x-ndjson, whose answers are streamed',
      );
    }
  }
  return text + (wrapped ? ']}' : ']');
}

/** The answer to one row, or a Refusal that says where and what is wrong. */
export function answerRow(scorer: Scorer, row: unknown, place?: string): string {
  try {
    return scorer.answer(row);
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    throw new Refusal(400, place === undefined ? error.message : `${place}: ${error.message}`);
  }
}

/** The value of a text of JSON, or a Refusal that says where it stops being one. */
export function parseJson(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Refusal(400, `${place}: not JSON: ${(error as Error).message}`);
  }
}
