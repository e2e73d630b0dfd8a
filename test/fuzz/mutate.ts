import type { Random } from '../../src/math/random.ts';
import { pick } from './draw.ts';

/** Damages text or bytes in ways that parsers get wrong; what it does is decided by the generator. */

/** 1, 2, 3, … each half as often as the one before. */
export function few(random: Random): number {
  let count = 1;
  while (count < 12 && random.below(2) === 0) count += 1;
  return count;
}

/** A part of `text`, mostly short: where it starts and ends. */
function part(random: Random, length: number): readonly [number, number] {
  const start = random.below(length + 1);
  const most = random.below(4) === 0 ? length - start : Math.min(8, length - start);
  return [start, start + random.below(most + 1)];
}

function spliced(text: string, [start, end]: readonly [number, number], between: string): string {
  return text.slice(0, start) + between + text.slice(end);
}

/** Text as one character per byte, so that its bytes need not be UTF-8. */
export function byteText(bytes: Uint8Array | string): string {
  const buffer = typeof bytes === 'string' ? Buffer.from(bytes) : Buffer.from(bytes);
  return buffer.toString('latin1');
}

export function bytesOfText(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'latin1'));
}

type Change = (random: Random, text: string, other: string) => string;

/** Changes that need no format; `text` and `other` have a character per byte. */
const byteChanges: readonly Change[] = [
  // A bit, a byte, or a few of them.
  (random, text) => {
    if (text === '') return text;
    const at = random.below(text.length);
    const flipped = text.charCodeAt(at) ^ (1 << random.below(8));
    return spliced(text, [at, at + 1], String.fromCharCode(flipped));
  },
  (random, text) => {
    const at = random.below(text.length + 1);
    return spliced(text, [at, at + random.below(2)], String.fromCharCode(random.below(256)));
  },
  // Without a part, with a part twice, with its end cut off.
  (random, text) => spliced(text, part(random, text.length), ''),
  (random, text) => {
    const [start, end] = part(random, text.length);
    return spliced(text, [end, end], text.slice(start, end));
  },
  (random, text) => text.slice(0, random.below(text.length + 1)),
  // With a part of another input, or the end of one.
  (random, text, other) => {
    const [start, end] = part(random, other.length);
    return spliced(text, part(random, text.length), other.slice(start, end));
  },
  (random, text, other) =>
    text.slice(0, random.below(text.length + 1)) + other.slice(random.below(other.length + 1)),
];

export function mutateBytes(random: Random, bytes: Uint8Array, other: Uint8Array): Uint8Array {
  let text = byteText(bytes);
  const more = byteText(other);
  for (let count = few(random); count > 0; count -= 1) {
    text = pick(random, byteChanges)(random, text, more);
  }
  return bytesOfText(text);
}

/** Lines with their ends. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

const lineChanges: readonly Change[] = [
  (random, text) => onLines(text, (lines) => lines.splice(random.below(lines.length), 1)),
  (random, text) =>
    onLines(text, (lines) => {
      const times = random.below(16) === 0 ? 40 : 1;
      const line = pick(random, lines);
      lines.splice(random.below(lines.length + 1), 0, ...Array<string>(times).fill(line));
    }),
  (random, text) =>
    onLines(text, (lines) => {
      const [line] = lines.splice(random.below(lines.length), 1);
      lines.splice(random.below(lines.length + 1), 0, line);
    }),
  (random, text, other) =>
    onLines(text, (lines) => {
      const more = linesOf(other);
      if (more.length > 0) lines.splice(random.below(lines.length + 1), 0, pick(random, more));
    }),
];

function onLines(text: string, change: (lines: string[]) => void): string {
  const lines = linesOf(text);
  if (lines.length > 0) change(lines);
  return lines.join('');
}

/** Where the words of a text begin and end. */
const words = /[^\s,;:|"{}[\]#=]+/g;

/** A word, or nothing, becomes one of `tokens`. */
function token(random: Random, text: string, tokens: readonly string[]): string {
  const chosen = pick(random, tokens);
  if (random.below(3) === 0) {
    const at = random.below(text.length + 1);
    return spliced(text, [at, at], chosen);
  }
  const found = [...text.matchAll(words)];
  if (found.length === 0) return chosen;
  const { index, 0: word } = pick(random, found);
  return spliced(text, [index, index + word.length], chosen);
}

export interface TextSources {
  /** Another input of the corpus. */
  readonly other: string;
  /** What the format takes, and what it does not. */
  readonly tokens: readonly string[];
}

/** Damages a text in the terms of its format: its tokens, its lines, at times its bytes. */
export function mutateText(random: Random, text: string, sources: TextSources): string {
  let mutated = text;
  for (let count = few(random); count > 0; count -= 1) {
    const way = random.below(8);
    if (way < 4) mutated = token(random, mutated, sources.tokens);
    else {
      const changes = way < 6 ? lineChanges : byteChanges;
      mutated = pick(random, changes)(random, mutated, sources.other);
    }
  }
  return mutated;
}
