import { DataError } from '../../errors.ts';
import type { DatasetPart } from '../dataset.ts';
import type { LabelList } from './label-list.ts';
import type { NamedRows } from './named-rows.ts';
import type { FieldOptions } from './options.ts';
import { orderRow } from './row-order.ts';
import { dropped, type Vocabulary, vocabularyFor } from './vocabulary.ts';

/** Rows up to this length are sorted while they are read. */
const shortRow = 32;

/**
 * Gives the columns and labels of blocks of rows their final numbers. Blocks must come in the order
 * of the input: names are numbered as they are met.
 */
export class Assembler {
  readonly vocabulary: Vocabulary;
  readonly #labels: LabelList;
  #lost = 0;
  #rows = 0;

  constructor({ hashBits, like }: FieldOptions, labels: LabelList) {
    this.vocabulary = vocabularyFor({
      ...(hashBits !== undefined && { hashBits }),
      ...(like && { like }),
    });
    this.#labels = labels;
  }

  /** The rows with their final columns. Labels may be rewritten once more: see `LabelList`. */
  add(rows: NamedRows): DatasetPart {
    const { rowOffsets, labels, weights } = rows;
    const columns = rows.names.map((name) => this.vocabulary.columnOf(name));
    this.#labels.add(labels, rows.labelTexts);
    const same = rows.ordered && columns.every((column, place) => column === place);
    const entries = same ? rows : this.#settle(rows, columns);
    this.#rows += labels.length;
    const { indices, values } = entries;
    return { rowOffsets, labels, indices, values, ...(weights && { weights }) };
  }

  /** What is to be said at the end. */
  notices(): string[] {
    return this.vocabulary.notices(this.#lost);
  }

  /** In place: the buffers end where the entries do, so those that got shorter are cut. */
  #settle(rows: NamedRows, columns: readonly number[]): Pick<DatasetPart, 'indices' | 'values'> {
    const { rowOffsets, indices, values } = rows;
    const table = Int32Array.from(columns);
    let end = 0;
    let from = 0;
    for (let row = 0; row + 1 < rowOffsets.length; row += 1) {
      const start = end;
      const to = rowOffsets[row + 1];
      const isShort = to - from <= shortRow;
      let irregular = !isShort;
      for (let entry = from; entry < to; entry += 1) {
        const column = table[indices[entry]];
        if (column === dropped) continue;
        const value = values[entry];
        let place = end;
        if (isShort) {
          // What is moved has been read already: rows only get shorter.
          for (; place > start && indices[place - 1] > column; place -= 1) {
            indices[place] = indices[place - 1];
            values[place] = values[place - 1];
          }
        }
        if (place > start && indices[place - 1] === column) irregular = true;
        indices[place] = column;
        values[place] = value;
        end += 1;
      }
      this.#lost += to - from - (end - start);
      if (irregular) {
        end = orderRow(indices, values, start, end, true);
        this.#checkSums(values, start, end, row);
      }
      from = to;
      rowOffsets[row + 1] = end;
    }
    if (end === indices.length) return rows;
    return { indices: cut(indices, end), values: cut(values, end) };
  }

  #checkSums(values: Float32Array, start: number, end: number, row: number): void {
    for (let entry = start; entry < end; entry += 1) {
      if (Number.isFinite(values[entry])) continue;
      throw new DataError(
        `row ${this.#rows + row + 1}: the values of one feature add up to more than 3.4e38`,
      );
    }
  }
}

/** A copy: a view would keep all of the memory. */
function cut<Numbers extends Int32Array | Float32Array>(numbers: Numbers, end: number): Numbers {
  const size = numbers.BYTES_PER_ELEMENT * end;
  const copy = new (numbers.constructor as new (buffer: SharedArrayBuffer) => Numbers)(
    new SharedArrayBuffer(size),
  );
  copy.set(numbers.subarray(0, end));
  return copy;
}
