export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export interface RoundLimits {
  readonly rounds: number;
  /** More rounds than that until so much time has passed; default 0. */
  readonly seconds?: number;
}

/**
 * Measures several things in turn (a, b, a, b, …), so that a machine that slows down for a while
 * slows all of them. Returns what each gave, round by round.
 */
export async function interleave<Name extends string, Result>(
  { rounds, seconds = 0 }: RoundLimits,
  contestants: Readonly<Record<Name, () => Promise<Result>>>,
): Promise<Record<Name, Result[]>> {
  const names = Object.keys(contestants) as Name[];
  const found = {} as Record<Name, Result[]>;
  for (const name of names) found[name] = [];
  const end = performance.now() + 1000 * seconds;
  for (let round = 0; round < rounds || performance.now() < end; round++) {
    for (const name of names) found[name].push(await contestants[name]());
  }
  return found;
}

export function geometricMean(values: readonly number[]): number {
  const logs = values.reduce((sum, value) => sum + Math.log(value), 0);
  return Math.exp(logs / values.length);
}
