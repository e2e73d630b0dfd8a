type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The object without the keys whose value is undefined: "not given" rather than "undefined". */
export function withoutUndefined<T extends object>(object: T): Defined<T> {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Defined<T>;
}
