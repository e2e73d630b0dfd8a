import { cutMiddle } from './words.ts';

/**
 * Names cut to a number of letters, still different: a name that fits stays, others lose their
 * middle, and those that would look alike then lose what they begin and end with together.
 */
export function shortNames(names: readonly string[], letters: number): string[] {
  const all = names.map((name) => Array.from(name));
  const texts = names.map((name) => cutMiddle(name, letters));
  return distinguish(all, texts, letters);
}

type Name = readonly string[];

/** Gives other texts to names that have the same one. */
function distinguish(names: readonly Name[], texts: readonly string[], letters: number): string[] {
  const apart = [...texts];
  for (const text of new Set(texts)) {
    const indices = [...texts.keys()].filter((index) => texts[index] === text);
    const alike = indices.map((index) => names[index]);
    const parts = differingParts(alike, letters);
    // Fewer names at each step, or they cannot be distinguished.
    const isStep = new Set(parts).size > 1;
    const distinct = isStep ? distinguish(alike, parts, letters) : indices.map(() => text);
    for (const [k, index] of indices.entries()) apart[index] = distinct[k];
  }
  return apart;
}

function differingParts(names: readonly Name[], letters: number): string[] {
  const start = commonStart(names);
  const shortest = Math.min(...names.map(({ length }) => length));
  const end = Math.min(commonStart(names.map((name) => name.toReversed())), shortest - start);
  return names.map((name) => partOf(name, start, end, letters));
}

/**
 * What is between a common beginning and end; of these as much as there is room for: the word that
 * it begins in, then what follows, then what goes before.
 */
function partOf(name: Name, start: number, end: number, letters: number): string {
  const inner = name.slice(start, name.length - end);
  const spare = Math.max(0, letters - inner.length - 2);
  const word = Math.min(spare, wordBefore(name, start));
  const after = Math.min(end, spare - word);
  const first = Math.max(0, start - (spare - after));
  const last = name.length - end + after;
  const room = letters - (first > 0 ? 1 : 0) - (last < name.length ? 1 : 0);
  const shown = cutMiddle(name.slice(first, last).join(''), Math.max(2, room));
  return `${first > 0 ? '…' : ''}${shown}${last < name.length ? '…' : ''}`;
}

/** Letters and digits right before a position. */
function wordBefore(name: Name, position: number): number {
  let length = 0;
  while (length < position && /[\p{L}\p{N}]/u.test(name[position - length - 1])) length++;
  return length;
}

function commonStart(names: readonly Name[]): number {
  const [first, ...others] = names;
  let length = 0;
  while (
    length < first.length &&
    others.every((name) => name.length > length && name[length] === first[length])
  ) {
    length++;
  }
  return length;
}
