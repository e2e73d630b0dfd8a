import type { Label } from '../model/model.ts';

/** What would end a line or a column, is not seen, or turns the order of the rest round. */
export const unseen = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/**
 * A label or name as a part of a line: as it was written, but as a string of JSON where it holds
 * tabs, line ends or other characters that steer what shows them.
 */
export function lineText(label: Label): string {
  const text = String(label);
  if (!unseen.test(text)) return text;
  return JSON.stringify(text).replaceAll(new RegExp(unseen, 'gu'), codeOf);
}

function codeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
