import { isUtf8 } from 'node:buffer';
import { numberOf } from './fields/table-rows.ts';
import { malformed } from './text/decimal.ts';
import { textOf } from './text/decode.ts';

const space = 32;
const hash = 35;
const colon = 58;

/** The labels at the beginning of lines, as texts; those that are numbers in their shortest form. */
export class LabelTexts {
  readonly #places = new Map<string, number>();

  get texts(): string[] {
    return [...this.#places.keys()];
  }

  /**
   * Stores the place of the label that begins at `start`; returns the position behind it, or
   * `malformed` if it is not UTF-8.
   */
  scan(bytes: Uint8Array, start: number, out: Float64Array, slot: number): number {
    let end = start;
    while (bytes[end] > space && bytes[end] !== hash && bytes[end] !== colon) end += 1;
    // A line that begins with a pair has no label, which is what the empty text means.
    const behind = bytes[end] === colon ? start : end;
    // Labels of another encoding would become one.
    if (!isUtf8(bytes.subarray(start, behind))) return malformed;
    const text = textOf(bytes, start, behind);
    const number = numberOf(text);
    const label = Number.isFinite(number) ? `${number + 0}` : text;
    out[slot] = this.#places.get(label) ?? this.#places.size;
    this.#places.set(label, out[slot]);
    return behind;
  }
}
