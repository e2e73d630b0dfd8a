import { type DatasetPart, grown, sharedPart } from '../dataset.ts';
import type { FeatureSource, NameClash } from './feature-source.ts';
import { labelText, Numbering } from './label-list.ts';

const leastEntries = 1 << 12;
/** The memory of a finished builder: blocks are of one size, and growing takes time. */
let spare: { indices: Int32Array; values: Float32Array } | undefined;

/**
 * Builds rows of named values. For each row: `label`, `weight` and values in any order, then
 * `endRow`. Columns are local: `column` gives a name its number, which is good until `take`.
 */
export class RowBuilder {
  readonly #seeds: readonly string[];
  #names: string[] = [];
  #sources: FeatureSource[] = [];
  #clash: NameClash | undefined;
  /** The other sources of names that have several. */
  #further = new Map<string, OfSource>();
  readonly #columns = new Map<string, number>();
  #indices: Int32Array;
  #values: Float32Array;
  #labels = new Float64Array(1 << 8);
  #weights = new Float64Array(1 << 8);
  #rowOffsets = new Int32Array(1 << 8);
  #weighted = false;
  rows = 0;
  #entries = 0;
  #last = -1;
  #ordered = true;
  #labelTexts: Numbering | undefined;
  readonly #textLabels: boolean;

  /** `seeds` have the first columns, whether rows have them or not. */
  constructor(seeds: readonly string[] = [], textLabels = false) {
    this.#seeds = seeds;
    this.#textLabels = textLabels;
    this.#indices = spare?.indices ?? new Int32Array(leastEntries);
    this.#values = spare?.values ?? new Float32Array(leastEntries);
    spare = undefined;
    this.#restart();
  }

  /** `source`: by default a field of that name. */
  column(name: string, source: FeatureSource = 0): number {
    const known = this.#columns.get(name);
    if (known !== undefined) {
      if (this.#sources[known] !== source) this.#clashes(known, source);
      return known;
    }
    const column = this.#names.push(name) - 1;
    this.#sources.push(source);
    this.#columns.set(name, column);
    return column;
  }

  /** Notes that a name comes from two sources; who has all blocks decides what becomes of it. */
  #clashes(column: number, source: FeatureSource): void {
    this.#clash ??= {
      name: this.#names[column],
      sources: [this.#sources[column], source],
      rows: this.rows,
      names: this.#names.length,
    };
    const name = this.#names[column];
    this.#further.set(`${source} ${name}`, { name, source });
  }

  /** The label of the row; NaN, or the empty text, where there is none. */
  label(label: number): void {
    // A label of -0 is the label 0.
    if (this.#labelTexts) this.labelText(labelText(label));
    else this.#labels[this.rows] = label + 0;
  }

  labelText(text: string): void {
    this.#labelTexts ??= this.#labelsAsTexts();
    this.#labels[this.rows] = this.#labelTexts.of(text);
  }

  /** At least 0 and finite; rows without a weight have weight 1. */
  weight(weight: number): void {
    if (!this.#weighted) this.#weights.fill(1, 0, this.rows);
    this.#weighted = true;
    this.#weights[this.rows] = weight;
  }

  /** A value that float32 can hold; those of a column that a row repeats are added up. */
  value(column: number, value: number): void {
    if (value === 0) return;
    const entry = this.#entries;
    if (entry === this.#indices.length) this.#growEntries();
    this.#indices[entry] = column;
    this.#values[entry] = value;
    // A value that float32 rounds to zero is overwritten by the next entry.
    if (this.#values[entry] === 0) return;
    if (column <= this.#last) this.#ordered = false;
    this.#last = column;
    this.#entries = entry + 1;
  }

  endRow(): void {
    if (this.#labelTexts && Number.isNaN(this.#labels[this.rows])) this.labelText('');
    this.rows += 1;
    this.#last = -1;
    if (this.rows === this.#labels.length) this.#growRows();
    this.#rowOffsets[this.rows] = this.#entries;
    this.#labels[this.rows] = NaN;
    if (this.#weighted) this.#weights[this.rows] = 1;
  }

  /** The rows so far; the builder starts over. */
  take(): NamedRows {
    const part = {
      rowOffsets: this.#rowOffsets,
      labels: this.#labels,
      indices: this.#indices,
      values: this.#values,
      ...(this.#weighted && { weights: this.#weights }),
    };
    const taken: NamedRows = {
      ...sharedPart(part, this.rows),
      names: this.#names,
      sources: this.#sources,
      ...(this.#clash && { clash: this.#clash, further: [...this.#further.values()] }),
      ...(this.#labelTexts && { labelTexts: this.#labelTexts.texts }),
      ordered: this.#ordered,
    };
    this.#restart();
    return taken;
  }

  /** Leaves the memory to the next builder of the thread; this one cannot be used again. */
  end(): void {
    spare = { indices: this.#indices, values: this.#values };
    this.#indices = new Int32Array(0);
    this.#values = new Float32Array(0);
  }

  #restart(): void {
    this.#names = [];
    this.#sources = [];
    this.#clash = undefined;
    this.#further = new Map();
    this.#columns.clear();
    for (const name of this.#seeds) this.column(name);
    this.rows = 0;
    this.#entries = 0;
    this.#last = -1;
    this.#ordered = true;
    this.#weighted = false;
    this.#labels[0] = NaN;
    this.#labelTexts = this.#textLabels ? new Numbering() : undefined;
  }

  /** The labels so far become texts. */
  #labelsAsTexts(): Numbering {
    const texts = new Numbering();
    for (let row = 0; row < this.rows; row += 1) {
      this.#labels[row] = texts.of(labelText(this.#labels[row]));
    }
    return texts;
  }

  #growEntries(): void {
    const size = 2 * this.#indices.length;
    this.#indices = grown(this.#indices, size);
    this.#values = grown(this.#values, size);
  }

  #growRows(): void {
    const size = 2 * this.#labels.length;
    this.#labels = grown(this.#labels, size);
    this.#weights = grown(this.#weights, size);
    this.#rowOffsets = grown(this.#rowOffsets, size);
  }
}

interface OfSource {
  readonly name: string;
  readonly source: FeatureSource;
}

/** The rows of one block; the `Assembler` replaces local columns and labels by the final ones. */
export interface NamedRows extends DatasetPart {
  /** Names by column, in the order in which they appeared. */
  readonly names: readonly string[];
  /** Where the names come from (default: fields), and the first that comes from two sources. */
  readonly sources?: readonly FeatureSource[];
  readonly clash?: NameClash;
  /** Names again, with every other source that they come from. */
  readonly further?: readonly OfSource[];
  /** Where some label is not a number: the labels as texts; `labels` are positions in this list. */
  readonly labelTexts?: readonly string[];
  /** Whether columns ascend in every row, without repeats. */
  readonly ordered: boolean;
}
