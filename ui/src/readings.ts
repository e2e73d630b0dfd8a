import { placeAt } from './align.ts';
import { isShown } from './range.ts';

export interface ReadingSource {
  readonly id: string;
  readonly xs: readonly number[];
  readonly values: readonly (number | null)[] | undefined;
}

export interface Reading {
  readonly id: string;
  readonly value: number;
}

/**
 * What the curves have at an x. Of many only those nearest to a height, which `position` gives of a
 * value; from top to bottom.
 */
export function readingsAt(
  sources: readonly ReadingSource[],
  x: number,
  options: { height: number; position: (value: number) => number; most: number; log: boolean },
): { readonly shown: readonly Reading[]; readonly more: number } {
  const all: Reading[] = [];
  for (const { id, xs, values } of sources) {
    const value = values?.[placeAt(xs, x)];
    if (isShown(value, options.log)) all.push({ id, value });
  }
  const distance = ({ value }: Reading) => Math.abs(options.position(value) - options.height);
  const shown = all.toSorted((a, b) => distance(a) - distance(b)).slice(0, options.most);
  return {
    shown: shown.sort((a, b) => b.value - a.value),
    more: all.length - shown.length,
  };
}
