/** An argument and the function's value there. */
type Point = readonly [x: number, value: number];

/** The values of a function at several arguments, by one reduction. */
export type Evaluate = (xs: readonly number[]) => readonly number[];

/** Arguments that are evaluated together. */
const together = 5;
/** Times that a range without a root is made longer. */
const extensions = 4;

/**
 * Where a rising function of one argument is 0, by few rounds of many evaluations: between threads,
 * processes or a device and its host a round costs more than its terms. `first` are the arguments of the
 * first round, in ascending order; the second divides the interval in which the sign changes; the rest
 * is the secant. Undefined where the function falls short of 0 at arguments a thousand times the last.
 */
export function rootOfRising(
  evaluate: Evaluate,
  first: readonly number[],
  known: { readonly low?: Point; readonly high?: Point } = {},
): number | undefined {
  let { low, high } = known;
  const look = (list: readonly number[]) => {
    const values = evaluate(list);
    for (const [k, x] of list.entries()) {
      if (values[k] < 0 && (!low || x > low[0])) low = [x, values[k]];
      if (values[k] >= 0 && (!high || x < high[0])) high = [x, values[k]];
    }
  };
  look(first);
  let list = first;
  for (let k = 0; k < extensions; k++) {
    if (high) break;
    list = list.slice(-3).map((x) => 8 * x);
    look(list);
  }
  if (!high) return undefined;
  if (!low) return high[0];
  const [from, to] = [low[0], high[0]];
  look(Array.from({ length: together }, (_, k) => from + ((to - from) * (k + 1)) / (together + 1)));
  return secant(low, high);
}

function secant([a, fa]: Point, [b, fb]: Point): number {
  const x = a - (fa * (b - a)) / (fb - fa);
  return x >= a && x <= b ? x : 0.5 * (a + b);
}
