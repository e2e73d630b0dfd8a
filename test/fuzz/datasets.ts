import type { Dataset } from '../../src/data/dataset.ts';
import { datasetOf } from '../../src/data/read/collector.ts';
import { withStoredNames } from '../../src/data/read/feature-names.ts';
import { type ReadOptions, readPieces, wholePiece } from '../../src/data/read/pieces.ts';
import { DataError, UsageError, unseen } from '../../src/errors.ts';

/** What a reader made of an input: data, or the message of an error that the user can understand. */
export type Read = { readonly dataset: Dataset } | { readonly message: string };

/** An outcome that is never right; `kind` is the same for failures of one cause. */
export class Fault extends Error {
  readonly kind: string;

  constructor(kind: string, message = kind) {
    super(message);
    this.kind = kind;
  }
}

/** Errors other than those of bad input are faults. */
export async function readOrMessage(read: () => Promise<Dataset>): Promise<Read> {
  try {
    return { dataset: await read() };
  } catch (error) {
    return { message: messageOf(error) };
  }
}

export function messageOf(error: unknown): string {
  if (error instanceof DataError || error instanceof UsageError) {
    checkSeen(error.message);
    return error.message;
  }
  if (error instanceof Fault) throw error;
  const { name, message, stack = '' } = error as Error;
  const at = /\n\s+at (\S+)/.exec(stack)?.[1] ?? '';
  throw new Fault(`${name} at ${at}`, `${name}: ${message}\n${stack}`);
}

/** Reads bytes in memory, in chunks of the given sizes, over and over, and blocks of a size. */
export async function readInMemory(
  bytes: Uint8Array,
  name: string,
  options: ReadOptions,
  chunks: readonly number[] = [bytes.length],
): Promise<Dataset> {
  async function* content() {
    for (let start = 0, turn = 0; start < bytes.length; turn += 1) {
      const end = start + chunks[turn % chunks.length];
      // Readers may write into what they are given.
      yield bytes.slice(start, end);
      start = end;
    }
  }
  const parts: Dataset['parts'][number][] = [];
  const names: Uint8Array[] = [];
  const collector = await readPieces(
    [wholePiece({ path: name, size: 0, regular: false, content })],
    {
      ...options,
      takePart: (part) => void parts.push(part),
      takeNames: (lines) => void names.push(lines),
      takesTexts: true,
    },
  );
  const dataset = datasetOf(collector.checkedShape(name), parts);
  for (const notice of dataset.notices) checkSeen(notice);
  return names.length === 0 ? dataset : withStoredNames(dataset, names, options.like);
}

/** Messages are printed on terminals, which obey control characters. */
function checkSeen(message: string): void {
  if (!unseen.test(message)) return;
  throw new Fault('control characters in a message', `a message with ${JSON.stringify(message)}`);
}

/** Throws where data is not what every part of the program relies on. */
export function checkDataset(dataset: Dataset, mayLackLabels: boolean): void {
  const { rows, columns, nonzeros, featureNames, labelNames } = dataset;
  let [foundRows, foundEntries] = [0, 0];
  for (const { labels, rowOffsets, indices, values, weights } of dataset.parts) {
    expectThat(rowOffsets[0] === 0 && rowOffsets.length === labels.length + 1, 'offsets');
    expectThat(indices.length === values.length, 'lengths of indices and values');
    for (let row = 0; row < labels.length; row += 1) {
      const label = labels[row];
      const isText = labelNames !== undefined;
      expectThat(Number.isFinite(label) || (mayLackLabels && !isText), 'label');
      if (isText) expectThat(labelNames[label] !== undefined, 'label without a name');
      const weight = weights ? weights[row] : 1;
      expectThat(weight >= 0 && weight < Infinity, 'weight');
      let last = -1;
      for (let entry = rowOffsets[row]; entry < rowOffsets[row + 1]; entry += 1) {
        expectThat(indices[entry] > last && indices[entry] < columns, 'order of indices');
        expectThat(Number.isFinite(values[entry]), 'value');
        last = indices[entry];
      }
    }
    expectThat(rowOffsets[labels.length] === values.length, 'last offset');
    foundRows += labels.length;
    foundEntries += values.length;
  }
  expectThat(foundRows === rows && foundEntries === nonzeros, 'totals');
  if (!featureNames) return;
  expectThat(featureNames.length <= columns, 'number of names');
  const named = featureNames.filter((name) => name !== '');
  expectThat(new Set(named).size === named.length, 'names twice');
}

function expectThat(condition: boolean, what: string): void {
  if (!condition) throw new Fault(`data with a wrong ${what}`);
}

/** Everything of data as text, to every bit: equal data is equal text, however it is cut into parts. */
export function contentOf({ parts, rows, columns, ...dataset }: Dataset): string {
  const lines: string[] = [];
  for (const { labels, rowOffsets, indices, values, weights } of parts) {
    for (let row = 0; row < labels.length; row += 1) {
      let line = `${bits(labels[row])} ${weights ? bits(weights[row]) : '1'}`;
      for (let entry = rowOffsets[row]; entry < rowOffsets[row + 1]; entry += 1) {
        line += ` ${indices[entry]}:${bits(values[entry])}`;
      }
      lines.push(line);
    }
  }
  const { featureNames, labelNames, recipe, notices } = dataset;
  const rest = JSON.stringify([rows, columns, featureNames, labelNames, recipe, notices]);
  return `${rest}\n${lines.join('\n')}`;
}

function bits(value: number): string {
  return Object.is(value, -0) ? '-0' : `${value}`;
}

/** Where two texts differ, for messages. */
export function difference(one: string, other: string): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const excerpt = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 30), at + 60));
  return `${excerpt(one)} and ${excerpt(other)}`;
}
