/** Changes of JSON values that stay JSON: another type, another number, other members. */
import type { Random } from '../../src/math/random.ts';
import { chance, pick } from './draw.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Path = readonly (string | number)[];

/** Every value inside a value, itself not included. */
export function pathsOf(value: Json, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const next = [...path, Array.isArray(value) ? Number(key) : key];
    return [next, ...pathsOf(inner, next)];
  });
}

export function valueAt(value: Json, path: Path): Json {
  return path.reduce<Json>((inner, key) => (inner as Record<string, Json>)[key], value);
}

/** A copy with another value at a path, where that path is; undefined takes it out. */
export function withValue(value: Json, path: Path, other: Json | undefined): Json {
  if (path.length === 0) return other ?? null;
  if (typeof value !== 'object' || value === null) return value;
  const [key, ...rest] = path;
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, Json>;
  if (rest.length > 0) copy[key] = withValue(copy[key], rest, other);
  else if (other !== undefined) copy[key] = other;
  else if (Array.isArray(copy)) copy.splice(key as number, 1);
  else delete copy[key];
  return copy;
}

const numbers = [0, 1, -1, 0.5, 2, 7, 255, 1e-9, 1e9, 2 ** 31, 2 ** 32, 2 ** 53, 1e300, -1e300];
const extremes = [1e308, -1e308, 5e-324, -5e-324, 2 ** 53 + 2, 4294967295.5];
/** As checkpoints write the numbers that JSON lacks. */
const spelled = ['NaN', 'Infinity', '-Infinity', '-0'];
const others: readonly Json[] = [null, true, false, '', 'x', '__proto__', [], {}, [[1]], [null]];

/** Another value in the place of this one. */
export function otherValue(random: Random, value: Json): Json {
  if (typeof value === 'number' && chance(random, 0.6)) {
    const near = [value + 1, value - 1, -value, value / 2, value * 2, value * 1.001, value * 0.999];
    return pick(random, [...near, ...numbers, ...extremes]);
  }
  if (typeof value === 'boolean' && chance(random, 0.6)) return !value;
  if (Array.isArray(value) && chance(random, 0.7)) return otherList(random, value);
  return pick<Json>(random, [...numbers, ...extremes, ...spelled, ...others]);
}

function otherList(random: Random, list: readonly Json[]): Json {
  if (list.length === 0) return [pick<Json>(random, [...numbers, ...others])];
  const at = random.below(list.length);
  const last = list.length - 1;
  return pick<Json>(random, [
    list.toReversed(),
    list.toSpliced(at, 1),
    list.toSpliced(at, 0, list[at]),
    list.map((item, index) => (index === at ? list[last - at] : item)),
    list.slice(0, at),
    [...list, ...list],
  ]);
}
