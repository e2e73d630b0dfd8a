/** Whether a value out of a file can be relied on. */
export type Shape = (value: unknown) => boolean;

export const text: Shape = (value) => typeof value === 'string';
export const number: Shape = (value) => typeof value === 'number';
/** A number that may not have been finite, or not known yet. */
export const measured: Shape = (value) => value === null || number(value);

export const moment: Shape = (value) => text(value) && !Number.isNaN(Date.parse(value as string));

/** A whole number from 1 on that things are made of: not too many. */
export const countUpTo =
  (most: number): Shape =>
  (value) =>
    Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most;

export const listOf =
  (element: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every(element);

/** An object with these fields; further ones may have any shape. A name that ends in ? may be absent. */
export function objectOf(fields: Readonly<Record<string, Shape>>): Shape {
  const wanted = Object.entries(fields).map(([name, shape]) => ({
    name: name.replace(/\?$/, ''),
    optional: name.endsWith('?'),
    shape,
  }));
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    const found = value as Readonly<Record<string, unknown>>;
    return wanted.every(({ name, optional, shape }) => {
      const isThere = Object.hasOwn(found, name) && found[name] !== undefined;
      return isThere ? shape(found[name]) : optional;
    });
  };
}
