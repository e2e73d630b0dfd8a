import { DataError } from '../errors.ts';
import type { Dataset, DatasetPart } from './dataset.ts';
import type { ParseOutcome } from './tasks.ts';

export const expectedLine = 'expected lines like "+1 3:0.5 7:1.2"';

/** Puts the outcomes of parse tasks, given in the order of the input, together to a dataset. */
export class Collector {
  readonly #name: string;
  readonly #parts: DatasetPart[] = [];
  #lines = 0;
  #rows = 0;
  #nonzeros = 0;
  #maxIndex = -1;
  #qidLines = 0;

  constructor(name: string) {
    this.#name = name;
  }

  add(outcome: ParseOutcome): void {
    if ('failure' in outcome) throw new DataError(`${this.#name}: ${outcome.failure}`);
    if ('message' in outcome) {
      throw new DataError(`${this.#name}:${this.#lines + outcome.line}: ${outcome.message}`);
    }
    const { rowOffsets, labels, indices, values, maxIndex, lines, qidLines } = outcome.chunk;
    if (labels.length > 0) this.#parts.push({ rowOffsets, labels, indices, values });
    this.#lines += lines;
    this.#rows += labels.length;
    this.#nonzeros += values.length;
    this.#maxIndex = Math.max(this.#maxIndex, maxIndex);
    this.#qidLines += qidLines;
  }

  /** The parts so far, which are kept no longer. */
  takeParts(): DatasetPart[] {
    return this.#parts.splice(0);
  }

  dataset(columns: number): Dataset {
    if (this.#lines === 0) throw new DataError(`${this.#name}: no data; ${expectedLine}`);
    if (this.#rows === 0) {
      const lines = `${this.#lines} ${this.#lines === 1 ? 'line' : 'lines'}`;
      throw new DataError(`${this.#name}: no rows in ${lines}; ${expectedLine}`);
    }
    const lines = `${this.#qidLines} ${this.#qidLines === 1 ? 'line' : 'lines'}`;
    return {
      name: this.#name,
      parts: this.#parts,
      rows: this.#rows,
      columns: Math.max(columns, this.#maxIndex + 1),
      nonzeros: this.#nonzeros,
      notices: this.#qidLines > 0 ? [`qid: ignored on ${lines}`] : [],
    };
  }
}
