import { createReadStream } from 'node:fs';
import { DataError } from '../../errors.ts';
import type { SectionHeader } from '../binary/layout.ts';
import type { BinaryIndex } from '../binary/sections.ts';
import type { Dataset, DatasetPart, Recipe } from '../dataset.ts';
import { LabelList } from '../fields/label-list.ts';
import type { NamedRows } from '../fields/row-builder.ts';
import { Assembler } from '../fields/vocabulary.ts';
import type { ParsedText } from '../text/formats.ts';
import type { ParsedChunk } from '../text/libsvm.ts';
import { countLines } from './byte-blocks.ts';
import { withName } from './line-error.ts';
import type { InputFile, PartsOptions } from './pieces.ts';
import type { ParseOutcome } from './tasks.ts';

export const expectedLine = 'expected lines like "+1 3:0.5 7:1.2"';

/** A data set but for its rows, and what it was read from. */
export type DatasetShape = Omit<Dataset, 'parts'> & {
  /** Files of either kind. */
  readonly files: { readonly text: number; readonly dsob: number };
  /** Bytes of those files; without standard input and pipes. */
  readonly bytes: number;
  /** The headers of the sections of binary data, names of features among them. */
  readonly sections: readonly SectionHeader[];
};

/** Adds up the content of one file after the other. */
export class Collector {
  readonly files = { text: 0, dsob: 0 };
  readonly sections: SectionHeader[] = [];
  /** Compressed files, which can only be read from their beginning. */
  readonly uncut: InputFile[] = [];
  readonly labels: LabelList;
  recipe: Recipe | undefined;
  readonly notices: string[] = [];
  /** Whether the columns of the files have names, not numbers. */
  isNamed = false;
  bytes = 0;
  readonly #options: Partial<PartsOptions>;
  #assembler: Assembler | undefined;
  #rows = 0;
  #nonzeros = 0;
  #columns = 0;
  #lines = 0;
  #qidLines = 0;

  constructor(options: Partial<PartsOptions> = {}) {
    const { like, textLabels, takesTexts = false } = options;
    this.#options = options;
    this.labels = new LabelList(like?.labelNames, textLabels, !takesTexts);
  }

  /** Gives rows with names for columns their final columns; `name` is the file, for messages. */
  addNamed(rows: NamedRows, name: string): DatasetPart {
    try {
      this.#assembler ??= new Assembler(this.#options, this.labels);
      const part = this.#assembler.add(rows);
      this.addRows(part);
      return part;
    } catch (error) {
      throw withName(name, error);
    }
  }

  addText(chunk: ParsedChunk, name: string): void {
    this.#lines += chunk.lines;
    this.#qidLines += chunk.qidLines;
    this.#columns = Math.max(this.#columns, chunk.maxIndex + 1);
    try {
      this.labels.add(chunk.labels, chunk.labelTexts);
    } catch (error) {
      throw withName(name, error);
    }
    this.addRows(chunk);
  }

  addBinary(part: DatasetPart): void {
    this.labels.add(part.labels);
    this.addRows(part);
  }

  addRows({ labels, values }: DatasetPart): void {
    this.#rows += labels.length;
    this.#nonzeros += values.length;
  }

  addIndex({ totals, sections }: BinaryIndex): void {
    this.#columns = Math.max(this.#columns, totals.columns);
    for (const { header } of sections) this.sections.push(header);
  }

  /** The shape of data that must have a row. */
  checkedShape(name: string): DatasetShape {
    if (this.#rows > 0) return this.shape(name);
    if (this.files.text === 0 || this.isNamed)
      throw new DataError(`${name}: no rows; expected at least one`);
    if (this.#lines === 0) throw new DataError(`${name}: no data; ${expectedLine}`);
    throw new DataError(`${name}: no rows in ${countedLines(this.#lines)}; ${expectedLine}`);
  }

  shape(name: string): DatasetShape {
    const qid = `qid: ignored on ${countedLines(this.#qidLines)}`;
    const { vocabulary } = this.#assembler ?? {};
    const { featureNames } = vocabulary ?? {};
    const labelNames = this.labels.names;
    return {
      name,
      rows: this.#rows,
      columns: Math.max(this.#options.columns ?? 0, this.#columns, vocabulary?.columns ?? 0),
      nonzeros: this.#nonzeros,
      notices: [
        ...this.notices,
        ...(this.#qidLines > 0 ? [qid] : []),
        ...(this.#assembler?.notices() ?? []),
      ],
      ...(featureNames && { featureNames }),
      ...(labelNames && { labelNames }),
      ...(this.recipe && { recipe: this.recipe }),
      files: this.files,
      bytes: this.bytes,
      sections: this.sections,
    };
  }
}

export function datasetOf(shape: DatasetShape, parts: readonly DatasetPart[]): Dataset {
  const { files: _files, bytes: _bytes, sections: _sections, ...rest } = shape;
  return { ...rest, parts };
}

function countedLines(lines: number): string {
  return `${lines} ${lines === 1 ? 'line' : 'lines'}`;
}

/** Counts the lines of a file that is read from the byte `start` on. */
export class LinePosition {
  readonly #path: string;
  readonly #start: number;
  #lines = 0;

  constructor(path: string, start = 0) {
    this.#path = path;
    this.#start = start;
  }

  /** The rows of the next lines; throws an error with its line in the file. */
  async rowsOf(outcome: ParseOutcome): Promise<ParsedText['rows']> {
    if ('rows' in outcome) {
      this.#lines += outcome.lines;
      return outcome.rows;
    }
    if ('failure' in outcome) throw new DataError(`${this.#path}: ${outcome.failure}`);
    // Counted only for an error.
    const before = await linesBefore(this.#path, this.#start);
    const line = before + this.#lines + outcome.line;
    throw new DataError(`${this.#path}:${line}: ${outcome.message}`);
  }
}

/** How many lines of a file begin in front of a byte. */
async function linesBefore(path: string, offset: number): Promise<number> {
  if (offset < 2) return offset;
  let lines = 1;
  // A line end right in front of the byte begins the line at the byte itself.
  const options = { end: offset - 2, highWaterMark: 1 << 20 };
  const chunks: AsyncIterable<Uint8Array> = createReadStream(path, options);
  for await (const chunk of chunks) lines += countLines(chunk);
  return lines;
}
