import { ByteColumns } from '../fields/byte-columns.ts';
import { fieldSource } from '../fields/feature-source.ts';
import { RowBuilder } from '../fields/row-builder.ts';
import { largestValue } from '../fields/row-encoder.ts';
import { LineError, quote } from '../read/line-error.ts';
import type { TextRows } from './csv.ts';
import { scanFloat32, scanFloat64 } from './decimal.ts';
import { checkEncoding, endWithNewline, textOf } from './records.ts';

/** How text of Vowpal Wabbit is read. */
export interface VowpalPlan {
  /** Whether rows may lack a label. */
  readonly labelOptional: boolean;
  readonly textLabels: boolean;
}

const tab = 9;
const newline = 10;
const carriageReturn = 13;
const space = 32;
const colon = 58;
const bar = 124;
const expected = 'expected a line like "1 | age:30 city"';

const float32 = new Float32Array(1);
const float64 = new Float64Array(1);
const features = new ByteColumns();

/**
 * Reads lines `[label [importance [base]]] ['tag] |namespace[:scale] feature[:value] … |…`. Throws
 * a LineError for the first that cannot be read.
 */
export function parseVowpal(text: Uint8Array, plan: VowpalPlan): TextRows {
  checkEncoding(text);
  const rows = new VowpalRows(endWithNewline(text), plan);
  return rows.read();
}

class VowpalRows {
  readonly #bytes: Uint8Array;
  readonly #plan: VowpalPlan;
  readonly #builder: RowBuilder;
  /** Namespaces by name: their number, and the prefix of the names of their features. */
  readonly #namespaces = new Map<string, number>();
  readonly #prefixes: string[] = [];
  #line = 0;

  constructor(bytes: Uint8Array, plan: VowpalPlan) {
    this.#bytes = bytes;
    this.#plan = plan;
    this.#builder = new RowBuilder([], plan.textLabels);
    features.clear();
  }

  read(): TextRows {
    const bytes = this.#bytes;
    for (let position = 0; position < bytes.length; ) {
      this.#line += 1;
      const end = bytes.indexOf(newline, position);
      const first = this.#skipBlanks(position);
      if (first < end) this.#row(first, end);
      position = end + 1;
    }
    const found = { rows: this.#builder.take(), lines: this.#line };
    this.#builder.end();
    return found;
  }

  #row(start: number, end: number): void {
    const bytes = this.#bytes;
    const firstBar = bytes.indexOf(bar, start);
    if (firstBar < 0 || firstBar > end) this.#fail(`no "|" in the line; ${expected}`);
    this.#head(start, firstBar);
    for (let position = firstBar; position < end; ) position = this.#namespace(position + 1, end);
    this.#builder.endRow();
  }

  /** Label, importance, base and tag. */
  #head(start: number, end: number): void {
    const behind = scanFloat64(this.#bytes, start, float64, 0);
    // Mostly there is a label and nothing else.
    if (behind > 0 && behind < end && this.#skipBlanks(behind) === end) {
      this.#builder.label(float64[0]);
      return;
    }
    const words = textOf(this.#bytes, start, end)
      .split(/[ \t]+/)
      .filter((word) => word !== '');
    // A word that touches the bar is a tag, and so is one that begins with an apostrophe.
    const touches = end > start && !this.#isBlank(this.#bytes[end - 1]);
    const tagged = words.length > 0 && (touches || words.at(-1)![0] === "'");
    const [label, importance, base, ...more] = tagged ? words.slice(0, -1) : words;
    if (more.length > 0) this.#fail(`${quote(more[0])} in front of "|"; ${expected}`);
    if (label === undefined) this.#noLabel(tagged ? words.at(-1)! : '');
    else this.#builder.label(this.#number(label, 'label'));
    if (importance !== undefined) {
      const weight = this.#number(importance, 'importance');
      if (weight < 0)
        this.#fail(`importance ${quote(importance)}; expected a number of at least 0`);
      this.#builder.weight(weight);
    }
    if (base !== undefined && this.#number(base, 'base') !== 0) {
      this.#fail(`base ${quote(base)}: scores have no initial value here; expected none, or 0`);
    }
  }

  #noLabel(tag: string): void {
    if (this.#plan.labelOptional) return;
    const why = tag === '' ? '' : `: ${quote(tag)} touches the bar, which makes it a tag`;
    this.#fail(`no label${why}; ${expected}`);
  }

  #number(word: string, what: string): number {
    const bytes = new TextEncoder().encode(`${word}\n`);
    const end = scanFloat64(bytes, 0, float64, 0);
    if (end === bytes.length - 1) return float64[0];
    return this.#fail(`${what} ${quote(word)} is not a number; ${expected}`);
  }

  /** The features of one namespace, from behind its bar; returns the position of the next bar. */
  #namespace(start: number, end: number): number {
    const bytes = this.#bytes;
    let position = start;
    let scale = 1;
    let name = '';
    if (position < end && !this.#isBlank(bytes[position]) && bytes[position] !== bar) {
      const behind = this.#wordEnd(position);
      name = textOf(bytes, position, behind);
      position = behind;
      if (bytes[position] === colon) {
        const valueEnd = this.#wordEnd(position + 1, false);
        scale = this.#value(position + 1, valueEnd, `namespace ${quote(name)}`);
        position = valueEnd;
      }
    }
    const realm = this.#namespaces.get(name) ?? this.#addNamespace(name);
    for (;;) {
      position = this.#skipBlanks(position);
      if (position >= end || bytes[position] === bar) return position;
      position = this.#feature(position, realm, scale);
    }
  }

  /** One feature; returns the position behind it. */
  #feature(start: number, realm: number, scale: number): number {
    const bytes = this.#bytes;
    const nameEnd = this.#wordEnd(start);
    let behind = nameEnd;
    let value = 1;
    if (bytes[nameEnd] === colon) {
      behind = this.#wordEnd(nameEnd + 1, false);
      if (nameEnd === start) this.#fail(`${quote(textOf(bytes, start, behind))} has no name`);
      value = this.#featureValue(start, nameEnd, behind);
    }
    const scaled = scale === 1 ? value : value * scale;
    if (!(Math.abs(scaled) <= largestValue)) {
      const name = quote(textOf(bytes, start, nameEnd));
      this.#fail(`the value of feature ${name} times its scale is more than 3.4e38`);
    }
    let column = features.find(bytes, start, nameEnd, realm);
    if (column < 0) {
      const prefix = this.#prefixes[realm];
      const source = fieldSource(Math.max(0, prefix.length - 1));
      column = this.#builder.column(`${prefix}${textOf(bytes, start, nameEnd)}`, source);
      features.add(bytes, start, nameEnd, realm, column);
    }
    this.#builder.value(column, scaled);
    return behind;
  }

  #featureValue(start: number, nameEnd: number, behind: number): number {
    if (scanFloat32(this.#bytes, nameEnd + 1, float32, 0, true) === behind) return float32[0];
    return this.#value(
      nameEnd + 1,
      behind,
      `feature ${quote(textOf(this.#bytes, start, nameEnd))}`,
    );
  }

  /** A number that may also end at a bar. */
  #value(start: number, end: number, owner: string): number {
    const text = textOf(this.#bytes, start, end);
    const bytes = new TextEncoder().encode(`${text}\n`);
    if (scanFloat32(bytes, 0, float32, 0, true) === bytes.length - 1) return float32[0];
    const value = `value ${quote(text)} of ${owner}`;
    return this.#fail(`${value} is not a number below 3.4e38; expected a feature like age:30`);
  }

  #addNamespace(name: string): number {
    const realm = this.#prefixes.push(name === '' ? '' : `${name}^`) - 1;
    this.#namespaces.set(name, realm);
    return realm;
  }

  #isBlank(byte: number): boolean {
    return byte === space || byte === tab || byte === carriageReturn;
  }

  #skipBlanks(start: number): number {
    let position = start;
    while (this.#isBlank(this.#bytes[position])) position += 1;
    return position;
  }

  /** The end of a name or value: a blank, a bar, the line end or, for a name, a colon. */
  #wordEnd(start: number, isName = true): number {
    for (let position = start; ; position += 1) {
      const byte = this.#bytes[position];
      const isEnd = byte === bar || byte === newline || this.#isBlank(byte);
      if (isEnd || (isName && byte === colon)) return position;
    }
  }

  #fail(message: string): never {
    throw new LineError(this.#line, message);
  }
}
