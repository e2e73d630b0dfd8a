import { isShown } from '../../src/runs/range.ts';
import type { ShownRun } from './charts/chart-model.ts';
import type { Quantity } from './quantity.ts';

/** Why a chart has no curve, in words that stand in its place; undefined where it has one. */
export function whyEmpty(
  { columns }: Quantity,
  runs: readonly ShownRun[],
  log: boolean,
): string | undefined {
  const has = (isLog: boolean) =>
    runs.some(({ series }) =>
      columns.some((name) => series?.[name]?.some((value) => isShown(value, isLog))),
    );
  if (has(log)) return undefined;
  if (log && has(false)) return 'nothing above 0 to show on a logarithmic axis';
  if (runs.some(({ series }) => series === undefined)) return undefined;
  return runs.some(({ running }) => running) ? 'no values yet' : 'no values';
}
