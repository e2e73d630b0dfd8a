import { formatShort } from '../../math/format-number.ts';
import type { Task } from '../../problem/losses/loss.ts';
import type { ValidatedLambda, Validation } from '../../train/select/cross-validate.ts';
import type { MeasureName } from '../../train/select/measure.ts';
import type { Candidate, Search } from '../../train/select/search.ts';
import {
  type Colours,
  formatGap,
  formatNumber,
  formatPercent,
  penaltyName,
  plural,
} from '../format.ts';
import { headedTable, type Row } from '../table.ts';

/** What programs read: the area itself is better when it is larger, what is told here when smaller. */
export function measureKey(metric: MeasureName): string {
  return metric === 'auc' ? '1 - auc' : metric;
}

/** What a measure is called where it is shown: smaller is better. */
export function measureTitle(metric: MeasureName): string {
  const titles = { error: 'error', loss: 'loss', mse: 'squared error', mae: 'absolute error' };
  return metric === 'auc' ? '1 − AUC' : titles[metric];
}

/** Errors as percentages, everything else as a number. */
export function measureText(metric: MeasureName | 'test', value: number, task?: Task): string {
  if (Number.isNaN(value)) return '–';
  const isPart = metric === 'error' || (metric === 'test' && task === 'classification');
  return isPart ? formatPercent(value) : formatShort(value);
}

/** Three digits tell λs of a path apart. */
export const lambdaText = (lambda: number) => formatNumber(Number(lambda.toPrecision(3)));

const head = (metric: MeasureName) => ['λ', measureTitle(metric), '', 'gap', 'epochs'];

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
export function validationTable(
  validation: Validation,
  choose: 'best' | 'simplest',
  colours: Colours,
): string {
  const { metric, lambdas, best, simplest } = validation;
  const noteOf = (one: ValidatedLambda) => {
    const notes = [
      ...(one === best ? ['best'] : []),
      ...(one === simplest && simplest !== best ? ['simplest within a standard error'] : []),
    ];
    return notes.join(', ');
  };
  const rows = lambdas.map((one) => [...cellsOf(metric, one), noteOf(one)]);
  const chosen = lambdas.indexOf(validation[choose]);
  return headedTable({
    head: [...head(metric), ''],
    rows,
    left: (column) => column === 5,
    isChosen: (row) => row === chosen,
    colours,
  });
}

/** One line for each loss and penalty, with its λ; the best first. */
export function searchTable(
  { metric, ranking, winner }: Search,
  choose: 'best' | 'simplest',
  colours: Colours,
): string {
  const rows = ranking.map((candidate, place) => [
    String(place + 1),
    candidate.loss.name,
    penaltyName(candidate.penalty),
    ...cellsOf(metric, candidate.validation[choose]),
  ]);
  return headedTable({
    head: ['#', 'loss', 'penalty', ...head(metric)],
    rows,
    left: (column) => column === 1 || column === 2,
    isChosen: (row) => ranking[row] === winner,
    colours,
  });
}

/** What was left out, if anything. */
export function incompleteNote({ lambdas, complete }: Validation, folds: number): string[] {
  if (complete) return [];
  const measured = lambdas[0].folds.length;
  return [
    `incomplete: ${plural(measured, 'fold')} of ${folds} measured, at ${plural(lambdas.length, 'lambda')}`,
  ];
}

export function validationJson(validation: Validation, choose: 'best' | 'simplest') {
  const { metric, lambdas, best, simplest, complete } = validation;
  return {
    metric: measureKey(metric),
    complete,
    lambdas,
    best: best.lambda,
    simplest: simplest.lambda,
    chosen: validation[choose].lambda,
  };
}

const csvHead = 'lambda,mean,standard_error,relative_gap,epochs,passes';

function csvCells(one: ValidatedLambda): (number | string)[] {
  const { lambda, mean, standardError, relativeGap, epochs, passes, folds } = one;
  // The spread of one fold is not known.
  const error = Number.isNaN(standardError) ? '' : standardError;
  return [lambda, mean, error, relativeGap, epochs, passes, ...folds];
}

const foldHeads = ({ lambdas }: Validation) =>
  lambdas[0].folds.map((_, fold) => `fold_${fold + 1}`);

export function validationCsv(validation: Validation): string {
  const lines = validation.lambdas.map((one) => csvCells(one).join(','));
  return `${[[csvHead, ...foldHeads(validation)].join(','), ...lines].join('\n')}\n`;
}

export function searchCsv({ ranking }: Search): string {
  const lines = ranking.flatMap(({ loss, penalty, validation }: Candidate) =>
    validation.lambdas.map((one) => [loss.name, penaltyName(penalty), ...csvCells(one)].join(',')),
  );
  const [{ validation }] = ranking;
  const first = ['loss', 'penalty', csvHead, ...foldHeads(validation)].join(',');
  return `${[first, ...lines].join('\n')}\n`;
}
