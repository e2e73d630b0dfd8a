import type {
  ClassificationMetrics,
  ClassMetrics,
  Metrics,
  MulticlassMetrics,
  MultiLabelMetrics,
  RegressionMetrics,
} from '../../model/metrics/evaluate.ts';
import type { Label } from '../../model/model.ts';
import { formatCount, formatNumber, formatPercent, lineText } from '../format.ts';
import { numberTable, twoColumns } from '../table.ts';

/** So many classes have a table of their confusions, and a line each. */
const mostClasses = 20;
/** So many confusions are named where there are more classes. */
const mostConfusions = 20;

type Row = [string, string];

/** The metrics as tables for people; `classes` are the model's. */
export function describeMetrics(metrics: Metrics, classes: readonly Label[] = []): string {
  switch (metrics.task) {
    case 'regression':
      return twoColumns(regressionRows(metrics));
    case 'classification':
      return `${twoColumns(binaryRows(metrics))}\n\n${binaryConfusion(metrics, classes)}`;
    case 'multi-class':
      return [
        twoColumns(multiclassRows(metrics)),
        classTable(metrics.classes),
        classes.length > mostClasses ? largestConfusions(metrics) : confusionTable(metrics),
      ].join('\n\n');
    case 'multi-label':
      return `${twoColumns(multiLabelRows(metrics))}\n\n${classTable(metrics.classes)}`;
  }
}

function regressionRows(metrics: RegressionMetrics): Row[] {
  const { deviance, pinball, coverage } = metrics;
  const rows: Row[] = [
    ['rows', formatCount(metrics.rows)],
    ['mean squared error', formatNumber(metrics.mse)],
    ['mean absolute error', formatNumber(metrics.mae)],
    ['R²', metrics.r2 === null ? 'undefined: all labels are equal' : formatNumber(metrics.r2)],
  ];
  if (deviance !== undefined) rows.push(['mean deviance', formatNumber(deviance)]);
  if (pinball !== undefined) rows.push(['mean pinball loss', formatNumber(pinball)]);
  if (coverage !== undefined) rows.push(['labels not above', formatPercent(coverage)]);
  return rows;
}

function binaryRows(metrics: ClassificationMetrics): Row[] {
  return [
    ['rows', formatCount(metrics.rows)],
    ['accuracy', formatPercent(metrics.accuracy)],
    ['error', formatPercent(metrics.error)],
    ['AUC', describeArea(metrics.auc)],
    ['average precision', describeArea(metrics.auprc)],
    ...probabilityRows(metrics),
  ];
}

function describeArea(area: number | null): string {
  return area === null ? 'undefined: one class is absent' : formatNumber(area);
}

function probabilityRows({ logLoss, brier }: ClassificationMetrics | MulticlassMetrics): Row[] {
  const rows: Row[] = [];
  if (logLoss !== null) rows.push(['log loss', formatNumber(logLoss)]);
  if (brier !== undefined) rows.push(['Brier score', formatNumber(brier)]);
  return rows;
}

function multiclassRows(metrics: MulticlassMetrics): Row[] {
  const { auc } = metrics;
  return [
    ['rows', formatCount(metrics.rows)],
    ['classes', formatCount(metrics.classes.length)],
    ['accuracy', formatPercent(metrics.accuracy)],
    ['error', formatPercent(metrics.error)],
    ['macro F1', formatNumber(metrics.macroF1)],
    ['weighted F1', formatNumber(metrics.weightedF1)],
    ['macro AUC', auc === null ? 'undefined: only one class is there' : formatNumber(auc)],
    ...probabilityRows(metrics),
  ];
}

function multiLabelRows(metrics: MultiLabelMetrics): Row[] {
  return [
    ['rows', formatCount(metrics.rows)],
    ['classes', formatCount(metrics.classes.length)],
    ['micro F1', formatNumber(metrics.microF1)],
    ['macro F1', formatNumber(metrics.macroF1)],
    ['subset accuracy', formatPercent(metrics.subsetAccuracy)],
    ['Hamming loss', formatPercent(metrics.hammingLoss)],
  ];
}

/** A line for each class; of many those with the least F1, which are worth a look. */
function classTable(classes: readonly ClassMetrics[]): string {
  const many = classes.length > mostClasses;
  const met = classes.filter(({ support, predicted }) => support + predicted > 0);
  const chosen = many ? met.toSorted((a, b) => a.f1 - b.f1).slice(0, mostClasses) : classes;
  const table = chosen.map((one) => [
    lineText(one.class),
    formatNumber(one.precision),
    formatNumber(one.recall),
    formatNumber(one.f1),
    formatCount(one.support),
  ]);
  const text = numberTable([['class', 'precision', 'recall', 'F1', 'rows'], ...table]);
  return many ? `classes with the least F1 (--json has all):\n${text}` : text;
}

function binaryConfusion({ confusion }: ClassificationMetrics, classes: readonly Label[]): string {
  const [negative, positive] = classes.map(lineText);
  return numberTable([
    ['', `predicted ${positive}`, `predicted ${negative}`],
    [
      `label ${positive}`,
      formatCount(confusion.truePositive),
      formatCount(confusion.falseNegative),
    ],
    [
      `label ${negative}`,
      formatCount(confusion.falsePositive),
      formatCount(confusion.trueNegative),
    ],
  ]);
}

/** Labels down, predictions across. */
function confusionTable({ classes, confusion }: MulticlassMetrics): string {
  const places = new Map(classes.map((one, place) => [one.class, place]));
  const counts = classes.map(() => classes.map(() => 0));
  for (const { label, predicted, rows } of confusion) {
    counts[places.get(label)!][places.get(predicted)!] = rows;
  }
  const names = classes.map((one) => lineText(one.class));
  return numberTable([
    ['label \\ predicted', ...names],
    ...counts.map((row, place) => [names[place], ...row.map(formatCount)]),
  ]);
}

function largestConfusions({ confusion }: MulticlassMetrics): string {
  const wrong = confusion.filter(({ label, predicted }) => label !== predicted);
  const largest = wrong.toSorted((a, b) => b.rows - a.rows).slice(0, mostConfusions);
  if (largest.length === 0) return 'no row was put into a wrong class';
  const table = largest.map((cell) => [
    lineText(cell.label),
    lineText(cell.predicted),
    formatCount(cell.rows),
  ]);
  const text = numberTable([['label', 'predicted', 'rows'], ...table]);
  return `largest confusions of ${formatCount(wrong.length)}:\n${text}`;
}
