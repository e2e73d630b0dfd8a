import { isShown } from '../../../src/reporting/charts/axis.ts';
import { type ChartQuantity, quantities } from '../../../src/reporting/charts/quantities.ts';
import type { ShownRun } from './chart-model.ts';

/** How values are written: gaps, parts of a whole, or plain numbers. */
export type Unit = 'gap' | 'rate' | 'number';

/** A chart: a quantity of the runs that have it in one unit. */
export interface ChartContent {
  readonly key: string;
  readonly quantity: ChartQuantity;
  readonly title: string;
  readonly unit: Unit;
  readonly runs: readonly ShownRun[];
  /** Whether some curves are of one class against the rest, not of all of a run. */
  readonly isOfClass: boolean;
}

type Task = 'classification' | 'regression';

/** Whether any of the runs has a value of the quantity. */
export function hasValues({ columns }: ChartQuantity, runs: readonly ShownRun[]): boolean {
  return runs.some(({ series }) => series?.[columns[0]]?.some((value) => value !== null) ?? false);
}

/** The charts of some runs; objective and gap are there before they have values, if they can. */
export function chartsOf(runs: readonly ShownRun[], streams: boolean): ChartContent[] {
  return quantities.flatMap((quantity) => {
    const { key, title } = quantity;
    const expected = !streams && (key === 'objective' || key === 'gap');
    if (!expected && !hasValues(quantity, runs)) return [];
    if (quantity.regression) return errorCharts(quantity, runs);
    const unit = key === 'gap' ? 'gap' : 'number';
    return [{ key, quantity, title, unit, runs, isOfClass: isOfClass(quantity, runs) }];
  });
}

/** Rates of errors and mean squares of them have no axis in common. */
function errorCharts(quantity: ChartQuantity, runs: readonly ShownRun[]): ChartContent[] {
  const kinds = (['classification', 'regression'] as const)
    .map((task) => ({ task, own: runs.filter((run) => taskOf(run) === task) }))
    .filter(({ own }) => hasValues(quantity, own));
  return kinds.map(({ task, own }) => ({
    key: kinds.length > 1 ? `${quantity.key} ${task}` : quantity.key,
    quantity,
    title: task === 'regression' ? `${quantity.title} (mean squared)` : quantity.title,
    unit: task === 'regression' ? 'number' : 'rate',
    // The same list as the other charts have, where it can be.
    runs: kinds.length > 1 ? own : runs,
    isOfClass: isOfClass(quantity, own),
  }));
}

function isOfClass(quantity: ChartQuantity, runs: readonly ShownRun[]): boolean {
  return hasValues(
    quantity,
    runs.filter(({ vectors = 1 }) => vectors > 1),
  );
}

function taskOf({ task = 'classification' }: ShownRun): Task {
  return task;
}

/** Why a chart has no curve, shown instead of it; undefined where it has one. */
export function whyEmpty(
  { columns }: ChartQuantity,
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
