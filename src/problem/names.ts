/** Losses and penalties are `squared-hinge` on the command line and `squaredHinge` in the library. */
import { closest, UsageError } from '../errors.ts';

export type CamelCase<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

export function camelCase(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** The error for a name that no entry has, with the name that was probably meant. */
export function unknownName(
  kind: string,
  plural: string,
  name: string,
  names: readonly string[],
): UsageError {
  const similar = closest(name, names);
  const hint = similar === undefined ? '' : `; did you mean '${similar}'?`;
  return new UsageError(`unknown ${kind} '${name}'${hint} (${plural}: ${names.join(', ')})`);
}
