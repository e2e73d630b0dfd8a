import type { FormatName } from '../fields/options.ts';
import { textOf } from './decode.ts';

const byEnding: Readonly<Record<string, FormatName>> = {
  csv: 'csv',
  tsv: 'tsv',
  jsonl: 'jsonl',
  ndjson: 'jsonl',
  json: 'jsonl',
  vw: 'vw',
  svm: 'libsvm',
  libsvm: 'libsvm',
  parquet: 'parquet',
  dsob: 'dsob',
};

/** So much of a file is looked at where its name does not tell the format. */
export const guessedBytes = 1 << 16;

const firstLabel = /^\s*([^\s:#|]+)(?:\s+(?:\d+|qid):\S|\s*$|\s*#)/;
const pair = /^\s*[^\s:#|]*\s+(?:\d+|qid):[^\s|]*(?:\s|$)/;
const vowpal = /^\s*(?:[-+.\deE]+\s+){0,3}(?:'\S*\s*|[^\s|,;\t]*)\|/;

/** The format that a name promises, compressed or not. */
export function formatOfName(path: string): FormatName | undefined {
  const ending = /\.([a-z]+)(?:\.gz|\.zst)?$/i.exec(path)?.[1].toLowerCase();
  return ending !== undefined && Object.hasOwn(byEnding, ending) ? byEnding[ending] : undefined;
}

/** What the first line of data looks like; LIBSVM where it looks like nothing. */
export function formatOfText(head: Uint8Array): FormatName {
  const line = firstLine(head) ?? '';
  if (/^\s*[{[]/.test(line)) return 'jsonl';
  if (pair.test(line)) return 'libsvm';
  if (vowpal.test(line)) return 'vw';
  return /[,;\t]/.test(line) ? 'csv' : 'libsvm';
}

/** Whether the first line of data is all there. */
export function tellsFormat(head: Uint8Array): boolean {
  return head.length >= guessedBytes || (firstLine(head) !== undefined && head.includes(10));
}

/**
 * Whether the labels of LIBSVM text are no numbers, by the first row: that it has several, or a
 * word. A line that is no row at all is left to the parser.
 */
export function hasTextLabels(head: Uint8Array): boolean {
  const label = firstLabel.exec(firstLine(head) ?? '')?.[1];
  if (label === undefined) return false;
  return !/^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|nan|inf|infinity)$/i.test(label);
}

/** The first line that is neither blank nor a comment, without its end if that was cut off. */
function firstLine(head: Uint8Array): string | undefined {
  const text = textOf(head, 0, head.length).replace(/^\ufeff/, '');
  return text.split('\n').find((line) => line.trim() !== '' && !/^\s*#/.test(line));
}
