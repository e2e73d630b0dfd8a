import type {
  ClassificationMetrics,
  ClassMetrics,
  Metrics,
  MulticlassMetrics,
} from '../../model/metrics/evaluate.ts';
import type { Label } from '../../model/model.ts';
import { formatCount, formatIfKnown, formatNumber, formatPercent, lineText } from '../format.ts';
import { type LabelledLine, numberTable, twoColumns } from '../table.ts';

/** Up to this many classes have a confusion table and a line each. */
const mostClasses = 20;
/** How many confusions are listed where there are more classes. */
const mostConfusions = 20;

/** The metrics as tables for people; `classes` are the model's. */
export function describeMetrics(metrics: Metrics, classes: readonly Label[] = []): string {
  const lines = twoColumns([['rows', formatCount(metrics.rows)], ...metricLines(metrics, classes)]);
  return [lines, ...tablesOf(metrics, classes)].join('\n\n');
}

/** Records of earlier versions do not say it. */
function positiveOf(
  { positive }: Partial<ClassificationMetrics>,
  classes: readonly Label[],
): Label {
  return positive ?? classes[1] ?? 'positive';
}

function metricLines(metrics: Metrics, classes: readonly Label[]): LabelledLine[] {
  switch (metrics.task) {
    case 'regression':
      return [
        ['mean squared error', formatNumber(metrics.mse)],
        ['mean absolute error', formatNumber(metrics.mae)],
        ['R²', formatIfKnown(metrics.r2, formatNumber) ?? 'undefined: all labels are equal'],
        ['mean deviance', formatIfKnown(metrics.deviance, formatNumber)],
        ['mean pinball loss', formatIfKnown(metrics.pinball, formatNumber)],
        ['labels not above', formatIfKnown(metrics.coverage, formatPercent)],
      ];
    case 'classification':
      return classLines(metrics, [
        ['positive class', lineText(positiveOf(metrics, classes))],
        ['AUC', describeArea(metrics.auc)],
        ['average precision', describeArea(metrics.auprc)],
        ['threshold', formatIfKnown(metrics.threshold, formatNumber)],
        // Records of earlier versions have none of these.
        ['precision', formatIfKnown(metrics.precision, formatNumber)],
        ['recall', formatIfKnown(metrics.recall, formatNumber)],
        ['F1', formatIfKnown(metrics.f1, formatNumber)],
        ['specificity', formatIfKnown(metrics.specificity, formatNumber)],
        ['Matthews correlation', formatIfKnown(metrics.mcc, formatNumber)],
      ]);
    case 'multi-class':
      return [
        ['classes', formatCount(metrics.classes.length)],
        ...classLines(metrics, [
          ['macro F1', formatNumber(metrics.macroF1)],
          ['weighted F1', formatNumber(metrics.weightedF1)],
          ['macro AUC', describeArea(metrics.auc, 'only one class is there')],
        ]),
      ];
    case 'multi-label':
      return [
        ['classes', formatCount(metrics.classes.length)],
        ['micro F1', formatNumber(metrics.microF1)],
        ['macro F1', formatNumber(metrics.macroF1)],
        ['subset accuracy', formatPercent(metrics.subsetAccuracy)],
        ['Hamming loss', formatPercent(metrics.hammingLoss)],
      ];
  }
}

/** What two and several classes have in common, around what only one of them has. */
function classLines(
  { accuracy, error, logLoss, brier }: ClassificationMetrics | MulticlassMetrics,
  own: readonly LabelledLine[],
): LabelledLine[] {
  return [
    ['accuracy', formatPercent(accuracy)],
    ['error', formatPercent(error)],
    ...own,
    ['log loss', formatIfKnown(logLoss, formatNumber)],
    ['Brier score', formatIfKnown(brier, formatNumber)],
  ];
}

function describeArea(area: number | null, reason = 'one class is absent'): string {
  return formatIfKnown(area, formatNumber) ?? `undefined: ${reason}`;
}

function tablesOf(metrics: Metrics, classes: readonly Label[]): string[] {
  switch (metrics.task) {
    case 'regression':
      return [];
    case 'classification':
      return [binaryConfusion(metrics, classes)];
    case 'multi-class': {
      const confusions = classes.length > mostClasses ? largestConfusions : confusionTable;
      return [classTable(metrics.classes), confusions(metrics)];
    }
    case 'multi-label':
      return [classTable(metrics.classes)];
  }
}

/** A line for each class; of many, those with the least F1, which are worth a look. */
function classTable(classes: readonly ClassMetrics[]): string {
  const many = classes.length > mostClasses;
  const met = classes.filter(({ support, predicted }) => support + predicted > 0);
  const chosen = many ? met.toSorted((a, b) => a.f1 - b.f1).slice(0, mostClasses) : classes;
  const table = chosen.map(({ class: name, precision, recall, f1, support }) => [
    lineText(name),
    ...[precision, recall, f1].map(formatNumber),
    formatCount(support),
  ]);
  const text = numberTable([['class', 'precision', 'recall', 'F1', 'rows'], ...table]);
  return many ? `classes with the least F1 (--json has all):\n${text}` : text;
}

function binaryConfusion(metrics: ClassificationMetrics, classes: readonly Label[]): string {
  const positive = lineText(positiveOf(metrics, classes));
  const negative = classes.map(lineText).find((one) => one !== positive) ?? 'the other class';
  const { truePositive, falseNegative, falsePositive, trueNegative } = metrics.confusion;
  return numberTable([
    ['', `predicted ${positive}`, `predicted ${negative}`],
    [`label ${positive}`, ...[truePositive, falseNegative].map(formatCount)],
    [`label ${negative}`, ...[falsePositive, trueNegative].map(formatCount)],
  ]);
}

/** Labels down, predictions across. */
function confusionTable({ classes, confusion }: MulticlassMetrics): string {
  const positions = new Map(classes.map((one, position) => [one.class, position]));
  const counts = classes.map(() => classes.map(() => 0));
  for (const { label, predicted, rows } of confusion) {
    counts[positions.get(label)!][positions.get(predicted)!] = rows;
  }
  const names = classes.map((one) => lineText(one.class));
  return numberTable([
    ['label \\ predicted', ...names],
    ...counts.map((row, position) => [names[position], ...row.map(formatCount)]),
  ]);
}

function largestConfusions({ confusion }: MulticlassMetrics): string {
  const wrong = confusion.filter(({ label, predicted }) => label !== predicted);
  const largest = wrong.toSorted((a, b) => b.rows - a.rows).slice(0, mostConfusions);
  if (largest.length === 0) return 'no row was put into a wrong class';
  const table = largest.map(({ label, predicted, rows }) => [
    ...[label, predicted].map(lineText),
    formatCount(rows),
  ]);
  const text = numberTable([['label', 'predicted', 'rows'], ...table]);
  return `largest confusions of ${formatCount(wrong.length)}:\n${text}`;
}
