import { isShown } from '../../../src/runs/range.ts';
import { placeAt } from './align.ts';

export interface ReadingSource {
  readonly id: string;
  readonly xs: readonly number[];
  readonly values: readonly (number | null)[] | undefined;
}

export interface Reading {
  readonly id: string;
  readonly value: number;
  /** Where the curve has come to its end, if that is before. */
  readonly end?: number;
}

/**
 * What the curves have at an x, or had last. Of many only those nearest to a height, which
 * `position` gives of a value; from top to bottom.
 */
export function readingsAt(
  sources: readonly ReadingSource[],
  x: number,
  options: { height: number; position: (value: number) => number; most: number },
): { readonly shown: readonly Reading[]; readonly more: number } {
  const all = sources.flatMap((source) => readingOf(source, x) ?? []);
  // A logarithmic axis has no place for 0, which is worth a word all the same.
  const distance = ({ value }: Reading) => {
    const away = Math.abs(options.position(value) - options.height);
    return Number.isFinite(away) ? away : Number.MAX_VALUE;
  };
  const shown = all.toSorted((a, b) => distance(a) - distance(b)).slice(0, options.most);
  return {
    shown: shown.sort((a, b) => b.value - a.value),
    more: all.length - shown.length,
  };
}

function readingOf({ id, xs, values }: ReadingSource, x: number): Reading | undefined {
  const end = xs.at(-1);
  if (!values || end === undefined) return undefined;
  const value = values[x > end ? xs.length - 1 : placeAt(xs, x)];
  if (!isShown(value, false)) return undefined;
  return x > end ? { id, value, end } : { id, value };
}
