/** JSON has no −0 and no infinities: those three numbers are written as strings. */
const specialNumbers = new Map([
  ['-0', -0],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]);

/** The number as a value of JSON; callers refuse NaN. */
export function numberToJson(value: number): number | string {
  if (Object.is(value, -0)) return '-0';
  return Number.isFinite(value) ? value : String(value);
}

/** The number in a value of JSON, undefined where there is none. */
export function numberFromJson(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? specialNumbers.get(value) : undefined;
}
