import type { Label } from '../model/model.ts';

/** What would end a line or a column, or is not seen. */
const unseen = /[\p{Cc}\u2028\u2029]/u;

/**
 * A label or name as a part of a line: as it was written, but as a string of JSON where it holds
 * tabs, line ends or other control characters.
 */
export function lineText(label: Label): string {
  const text = String(label);
  return unseen.test(text) ? JSON.stringify(text) : text;
}
