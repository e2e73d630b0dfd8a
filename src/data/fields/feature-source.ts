import { quote } from '../read/line-error.ts';

/**
 * Where the name of a feature comes from, as a number that blocks of any thread can compare: a name
 * may be that of a field, of a category in a field, or of a value inside a list, an object or a namespace. Two of
 * them under one name would silently be added up.
 */
export type FeatureSource = number;

const positions = 2 ** 20;

const clipped = (length: number) => Math.min(length, positions - 1);

/** A number in a field; the first `inside` letters of the name are those of what holds the field. */
export function fieldSource(inside = 0): FeatureSource {
  return clipped(inside);
}

/** A category of a field, or its missing value. */
export function categorySource(field: string, inside = 0): FeatureSource {
  return clipped(inside) + positions * clipped(field.length + 1);
}

function described(name: string, source: FeatureSource): string {
  const split = Math.floor(source / positions);
  const inside = source % positions;
  const field = split > 0 ? name.slice(0, split - 1) : name;
  const holder = inside > 0 ? ` inside ${quote(name.slice(0, inside))}` : '';
  if (split === 0) return `the field ${quote(field.slice(inside).replace(/^[.^]/, ''))}${holder}`;
  const value = name.slice(split);
  const what = value === '?' ? 'a missing value' : `the category ${quote(value)}`;
  return `${what} of the field ${quote(field)}${holder}`;
}

/** A name that comes from two sources. */
export interface NameClash {
  readonly name: string;
  readonly sources: readonly [FeatureSource, FeatureSource];
  /** Rows of the block that end before it, and names that are found before it. */
  readonly rows: number;
  readonly names: number;
}

export function clashMessage({
  name,
  sources: [one, other],
}: Pick<NameClash, 'name' | 'sources'>): string {
  return `the feature ${quote(name)} would be both ${described(name, one)} and ${described(name, other)}; expected different names: rename one of them, or leave it out (--ignore)`;
}
