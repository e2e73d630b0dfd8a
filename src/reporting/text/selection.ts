/** Tables, CSV and JSON of what is chosen from: λs, losses and penalties, and a path. */
import { formatShort } from '../../math/format-number.ts';
import { textCell } from '../../model/export/text.ts';
import { errorOf } from '../../model/metrics/evaluate.ts';
import { type Certificate, type Model, vectorCount } from '../../model/model.ts';
import type { Task } from '../../problem/losses/loss.ts';
import type { ValidatedLambda, Validation } from '../../train/select/cross-validate.ts';
import type { MeasureName } from '../../train/select/measure.ts';
import type { PathPoint } from '../../train/select/path.ts';
import type { Search } from '../../train/select/search.ts';
import type { Point } from '../charts/quantities.ts';
import {
  type Colours,
  formatCount,
  formatGap,
  formatNumber,
  formatPercent,
  penaltyName,
  plural,
} from '../format.ts';
import { headedTable, type Row } from '../table.ts';

/** Names of measures where they are shown. */
export const measureTitles: Readonly<Record<MeasureName, string>> = {
  error: 'error',
  loss: 'loss',
  auc: 'AUC',
  mse: 'squared error',
  mae: 'absolute error',
};

/** Errors as percentages, everything else as a number. */
export function measureText(metric: MeasureName | 'test', value: number, task?: Task): string {
  if (Number.isNaN(value)) return '–';
  const isPart = metric === 'error' || (metric === 'test' && task === 'classification');
  return isPart ? formatPercent(value) : formatShort(value);
}

/** Three digits distinguish λs of a path. */
export const lambdaText = (lambda: number) => formatNumber(Number(lambda.toPrecision(3)));

type Choice = 'best' | 'simplest';

const validationHead = (metric: MeasureName) => ['λ', measureTitles[metric], '', 'gap', 'epochs'];

function cellsOf(metric: MeasureName, one: ValidatedLambda): Row {
  return [
    lambdaText(one.lambda),
    measureText(metric, one.mean),
    `± ${measureText(metric, one.standardError)}`,
    formatGap(one.relativeGap),
    String(one.epochs),
  ];
}

/** One line for each λ; the ones to choose from are named. */
export function validationTable(validation: Validation, choose: Choice, colours: Colours): string {
  const { metric, lambdas, best, simplest } = validation;
  const noteOf = (one: ValidatedLambda) => {
    if (one === best) return 'best';
    return one === simplest ? 'simplest within a standard error' : '';
  };
  return notedTable({
    head: validationHead(metric),
    rows: lambdas.map((one) => [...cellsOf(metric, one), noteOf(one)]),
    isChosen: (row) => lambdas[row] === validation[choose],
    colours,
  });
}

/** A table whose last column has notes and no head. */
function notedTable({ head, ...table }: Parameters<typeof headedTable>[0]): string {
  return headedTable({ ...table, head: [...head, ''], left: (column) => column === head.length });
}

/** One line for each loss and penalty, with its λ; the best first. */
export function searchTable(search: Search, choose: Choice, colours: Colours): string {
  const { metric, ranking, winner } = search;
  return headedTable({
    head: ['#', 'loss', 'penalty', ...validationHead(metric)],
    rows: ranking.map(({ loss, penalty, validation }, index) => [
      String(index + 1),
      loss.name,
      penaltyName(penalty),
      ...cellsOf(metric, validation[choose]),
    ]),
    left: (column) => column === 1 || column === 2,
    isChosen: (row) => ranking[row] === winner,
    colours,
  });
}

/** What was left out, if anything. */
export function incompleteNote({ lambdas, complete }: Validation, folds: number): string[] {
  if (complete) return [];
  const measured = plural(lambdas[0].folds.length, 'fold');
  return [`incomplete: ${measured} of ${folds} measured, at ${plural(lambdas.length, 'lambda')}`];
}

export function validationJson(validation: Validation, choose: Choice) {
  const { metric, lambdas, best, simplest, complete } = validation;
  return {
    metric,
    complete,
    lambdas,
    best: best.lambda,
    simplest: simplest.lambda,
    chosen: validation[choose].lambda,
  };
}

const csvHead = 'lambda,mean,standard_error,relative_gap,epochs,passes';

/** A head and a line for each λ, as cells. */
function csvRows({ lambdas }: Validation): (readonly (number | string)[])[] {
  const rows = lambdas.map((one) => {
    const { lambda, mean, standardError, relativeGap, epochs, passes, folds } = one;
    // The spread of one fold is not known.
    const error = Number.isNaN(standardError) ? '' : standardError;
    return [lambda, mean, error, relativeGap, epochs, passes, ...folds];
  });
  return [[csvHead, ...lambdas[0].folds.map((_, fold) => `fold_${fold + 1}`)], ...rows];
}

function csvText(rows: readonly (readonly (number | string)[])[]): string {
  return `${rows.map((row) => row.join(',')).join('\n')}\n`;
}

export function validationCsv(validation: Validation): string {
  return csvText(csvRows(validation));
}

export function searchCsv({ ranking }: Search): string {
  const [first] = csvRows(ranking[0].validation);
  const rows = ranking.flatMap(({ loss, penalty, validation }) =>
    csvRows(validation)
      .slice(1)
      .map((cells) => [textCell(loss.name), textCell(penaltyName(penalty)), ...cells]),
  );
  return csvText([['loss', 'penalty', ...first], ...rows]);
}

/** The weight of a feature along the path. */
export interface Trace {
  readonly name: string;
  /** From the smallest λ to the largest. */
  readonly points: readonly Point[];
}

/** What is stored of a model of the path: all but its weights. */
export type PathRow = Omit<PathPoint, 'place' | 'count' | 'model'> & Certificate;

/** One line for each model of the path. */
export function pathTable(
  rows: readonly PathRow[],
  chosen: number,
  task: Task,
  colours: Colours,
): string {
  const tested = chosen < 0 ? [] : ['test error'];
  return notedTable({
    head: ['λ', 'non-zeros', 'objective', 'gap', 'epochs', ...tested],
    rows: rows.map(({ lambda, nonzero, primal, relativeGap, epochs, stopped, test }, index) => {
      const cells = [lambdaText(lambda), formatCount(nonzero), formatNumber(primal)];
      const error = test ? [measureText('test', errorOf(test), task)] : [];
      const notes = index === chosen ? ['best'] : [];
      if (stopped !== 'converged') notes.push(stopped.replace('-', ' '));
      return [...cells, formatGap(relativeGap), String(epochs), ...error, notes.join(', ')];
    }),
    isChosen: (row) => row === chosen,
    colours,
  });
}

const pathHead = 'lambda,nonzero,primal,dual,relative_gap,epochs,passes,stopped,test_error';

export function pathCsv(rows: readonly PathRow[]): string {
  const lines = rows.map((row) => {
    const { lambda, nonzero, primal, dual, relativeGap, epochs, passes, stopped, test } = row;
    const numbers = [lambda, nonzero, primal, dual, relativeGap, epochs, passes];
    return [...numbers, stopped, test ? errorOf(test) : ''];
  });
  return csvText([[pathHead], ...lines]);
}

/** This many of the largest weights of every model are stored for the figure. */
const storedWeights = 1000;
const drawnFeatures = 10;

interface Largest {
  readonly lambda: number;
  /** Position in the model's weights → weight. */
  readonly weights: ReadonlyMap<number, number>;
  /** Whether all others are 0. */
  readonly complete: boolean;
}

/** Collects a path without its models: only the one with the least error on the test rows stays. */
export class PathRecord {
  readonly rows: PathRow[] = [];
  best: { readonly row: PathRow; readonly model: Model } | undefined;
  readonly #largest: Largest[] = [];
  #nameOf: (position: number) => string = String;

  add({ lambda, model, nonzero, epochs, passes, test }: PathPoint): PathRow {
    const { primal, dual, gap, relativeGap, stopped } = model.certificate;
    const certificate = { primal, dual, gap, relativeGap, stopped };
    const row = { lambda, nonzero, ...certificate, epochs, passes, ...(test && { test }) };
    this.rows.push(row);
    const before = this.best?.row.test;
    if (!test || !before || errorOf(test) < errorOf(before)) this.best = { row, model };
    this.#largest.push(largestWeights(lambda, model));
    this.#nameOf = (position) => featureName(model, position);
    return row;
  }

  /** The error on the test rows, from the smallest λ to the largest. */
  get errors(): Point[] {
    return this.rows
      .flatMap(({ lambda, test }): Point[] => (test ? [[lambda, errorOf(test)]] : []))
      .toReversed();
  }

  /** The features whose weight is largest somewhere, the largest first. */
  get traces(): Trace[] {
    const sizes = new Map<number, number>();
    for (const [position, weight] of this.#largest.flatMap(({ weights }) => [...weights])) {
      sizes.set(position, Math.max(sizes.get(position) ?? 0, Math.abs(weight)));
    }
    return [...sizes]
      .sort(([left, a], [right, b]) => b - a || left - right)
      .slice(0, drawnFeatures)
      .map(([position]) => ({ name: this.#nameOf(position), points: this.#pointsOf(position) }));
  }

  #pointsOf(position: number): Point[] {
    return this.#largest
      .flatMap(({ lambda, weights, complete }): Point[] => {
        const weight = weights.get(position) ?? (complete ? 0 : undefined);
        return weight === undefined ? [] : [[lambda, weight]];
      })
      .toReversed();
  }
}

function largestWeights(lambda: number, { weights }: Model): Largest {
  const positions: number[] = [];
  for (const [position, weight] of weights.entries()) if (weight !== 0) positions.push(position);
  const complete = positions.length <= storedWeights;
  const size = (position: number) => Math.abs(weights[position]);
  if (!complete) positions.sort((left, right) => size(right) - size(left) || left - right);
  const largest = positions.slice(0, storedWeights).map((one) => [one, weights[one]] as const);
  return { lambda, complete, weights: new Map(largest) };
}

/** By its name or number from 1, with the class where there are several vectors. */
function featureName(model: Model, position: number): string {
  const { columns, featureNames, classes } = model;
  const column = position % columns;
  const name = featureNames?.[column] ?? `feature ${column + 1}`;
  return vectorCount(model) > 1 ? `${classes?.[Math.floor(position / columns)]}: ${name}` : name;
}
