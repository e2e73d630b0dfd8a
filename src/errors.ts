/** Every failure raised on purpose is one of these; `kind` decides the exit code. */
export type ErrorKind = 'failure' | 'usage' | 'data' | 'lost';

/** Characters that end a line or a column, are invisible, or reverse the order of the rest. */
export const unseen = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const everyUnseen = new RegExp(unseen, 'gu');

/** The text with these characters as escapes: terminals obey some of them. */
export function escapeUnseen(text: string): string {
  if (!unseen.test(text)) return text;
  return text.replaceAll(
    everyUnseen,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

interface Options extends ErrorOptions {
  /** Further lines of the message. */
  readonly details?: readonly string[];
}

export class DsoError extends Error {
  readonly kind: ErrorKind;

  constructor(kind: ErrorKind, message: string, { details = [], ...options }: Options = {}) {
    // What it quotes may come from a file.
    super([message, ...details].map(escapeUnseen).join('\n  '), options);
    this.name = 'DsoError';
    this.kind = kind;
  }
}

/** The input is at fault: the message says where, what was found and what was expected. */
export class DataError extends DsoError {
  constructor(message: string, options?: Options) {
    super('data', message, options);
    this.name = 'DataError';
  }
}

/** The caller is at fault: an unknown option, an impossible combination. */
export class UsageError extends DsoError {
  constructor(message: string, options?: ErrorOptions) {
    super('usage', message, options);
    this.name = 'UsageError';
  }
}

/** Processes of a job do not work together. All of them have this error, and rank 0 reports it. */
export class RefusedJob extends UsageError {}

/** The number of single-letter insertions, deletions and replacements between two words. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = row[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j] + 1, next[j - 1] + 1));
    }
    row = next;
  }
  return row[to.length];
}

/** The candidate most like a mistyped word, or undefined when none is much like it. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const limit = Math.max(2, Math.floor(word.length / 3));
  const [best] = candidates
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate) }))
    .filter(({ candidate, distance }) => distance <= limit && distance < candidate.length)
    .sort((one, other) => one.distance - other.distance);
  return best?.candidate;
}
