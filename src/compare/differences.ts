import { formatCount, formatNumber } from '../math/format-number.ts';
import type { Comparison, DataSummary } from './comparison.ts';

/** What every run of a report must share, as names and values for people. */
function shared({ version, machine, data, test, conditions }: Comparison): [string, string][] {
  const number = (value: number | null, none: string) =>
    value === null ? none : formatNumber(value);
  return [
    ['the training data', describe(data)],
    ['the test data', test === null ? 'none' : describe(test)],
    ['penalty', conditions.penalty],
    ['penalty factors', conditions.penaltyFactors ?? 'none'],
    ['intercept', String(conditions.intercept)],
    ['tolerance', formatNumber(conditions.tolerance)],
    ['epochs', formatCount(conditions.epochs)],
    ['time', number(conditions.time, 'no limit')],
    ['threads', String(conditions.threads)],
    ['grid', String(conditions.grid)],
    ['seed', String(conditions.seed)],
    ['auprc', String(conditions.auprc)],
    ['what is tested', conditions.testOn],
    ['warm-up', String(conditions.warmUp)],
    ['the version of dso', version],
    ['the version of Node', machine.node],
    ['the machine', `${machine.processor}, ${machine.cores} cores`],
  ];
}

function describe({ rows, columns, nonzeros, hash }: DataSummary): string {
  const counts = [rows, columns, nonzeros].map(formatCount);
  return `${counts[0]} rows × ${counts[1]} columns, ${counts[2]} non-zeros, hash ${hash}`;
}

/** In what the conditions of two comparisons differ: "tolerance was 0.001, is 1e-4". */
export function differences(earlier: Comparison, now: Comparison): string[] {
  const current = new Map(shared(now));
  return shared(earlier)
    .filter(([name, value]) => current.get(name) !== value)
    .map(([name, value]) => `${name} was ${value}, is ${current.get(name)}`);
}
