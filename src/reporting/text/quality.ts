import picocolors from 'picocolors';
import type { Findings, NamedColumn, Quality } from '../../data/quality/quality.ts';
import {
  type Colours,
  formatCount,
  formatNumber,
  formatPercent,
  lineText,
  plural,
} from '../format.ts';
import { type LabelledLine, numberTable, twoColumns } from '../table.ts';

interface QualityTextOptions {
  /** Default: none. */
  readonly colours?: Colours;
  /** The number of the first feature in the input; default 1. */
  readonly firstFeature?: number;
}

/** Beyond this ratio of scales one λ hardly suits all features, and training takes far longer. */
const largeRatio = 1e3;

/** The report for people: sizes, labels, and what is worth a look. */
export function qualityText(quality: Quality, options: QualityTextOptions = {}): string {
  const { colours = picocolors.createColors(false), firstFeature = 1 } = options;
  const findings = twoColumns(findingLines(quality, firstFeature));
  const blocks = [
    twoColumns(sizeLines(quality)),
    labelText(quality),
    findings === ''
      ? colours.green('nothing that looks wrong')
      : `${colours.yellow('worth a look:')}\n${findings}`,
  ];
  return blocks.filter((block) => block !== '').join('\n\n');
}

function rangeText({ smallest, largest }: { smallest: number; largest: number }): string {
  return `${formatNumber(smallest)} to ${formatNumber(largest)}`;
}

function sizeLines(quality: Quality): LabelledLine[] {
  const { nonzeros, density, values, weights } = quality;
  const { range, distinct, top } = quality.labels;
  const { smallest, largest, median } = quality.rowLengths;
  const different = distinct === null ? 'more than 1,000' : formatCount(distinct);
  const isListed = listsLabels(quality) && distinct === top.length;
  return [
    ['data', lineText(quality.name)],
    ['rows', formatCount(quality.rows)],
    ['features', formatCount(quality.columns)],
    ['non-zeros', `${formatCount(nonzeros)} (${formatPercent(density)} of all entries)`],
    [
      'per row',
      `${formatCount(smallest)} to ${formatCount(largest)}, median ${formatCount(median)}`,
    ],
    ['values', values && `${rangeText(values)}${values.whole ? ', all whole numbers' : ''}`],
    ['weights', weights && `${rangeText(weights)}, sum ${formatNumber(weights.sum)}`],
    [
      'labels',
      range && !isListed
        ? `${rangeText(range)}, mean ${formatNumber(range.mean)}, ${different} different`
        : undefined,
    ],
  ];
}

/** Whether labels look like classes: they have names, or occur several times. */
function listsLabels({ labels, rows }: Quality): boolean {
  const { distinct, range } = labels;
  if (distinct === null || distinct === 0) return false;
  return range === undefined || distinct <= Math.max(2, rows / 2);
}

function labelText(quality: Quality): string {
  if (!listsLabels(quality)) return '';
  const { distinct, top } = quality.labels;
  const rows = top.map(({ label, count, share }) => [
    label === '' ? '(none)' : lineText(label),
    formatCount(count),
    formatPercent(share),
  ]);
  const more = (distinct ?? 0) - top.length;
  const text = `labels, by number of rows:\n${numberTable(rows)}`;
  return more > 0 ? `${text}\nand ${formatCount(more)} more` : text;
}

function findingLines(quality: Quality, firstFeature: number): LabelledLine[] {
  const { equalRows, scales, labels, weights } = quality;
  const feature = ({ column, name }: NamedColumn): string =>
    lineText(name ?? column + firstFeature);
  const sized = (column: NamedColumn, value: number) =>
    `${feature(column)} (${formatNumber(value)})`;
  const isUneven = scales !== undefined && scales.ratio > largeRatio;
  const scaleOf = (end: 'smallest' | 'largest') => sized(scales![end], scales![end].size);
  const remedy = '--scale std makes them comparable (the default for tables)';
  const isSingle = labels.distinct === 1 && quality.rows > 1;
  const rowsThat = (count: number, text: string) =>
    count > 0 ? `${plural(count, 'row')} ${text}` : undefined;
  return [
    ['left out', namesLine(quality.identifiers, 'different in every row; --keep keeps them')],
    ['dates', namesLine(quality.dates, 'as days since 1970-01-01')],
    ['empty rows', listed(quality.emptyRows, (row) => `row ${row + 1}`)],
    ['equal rows', listed(equalRows, ({ row, earlier }) => `${row + 1} = ${earlier + 1}`)],
    ['contradictions', rowsThat(equalRows.otherLabel, 'equal to an earlier one but for the label')],
    ['weight 0', rowsThat(weights?.zeros ?? 0, 'without effect')],
    ['empty features', listed(quality.emptyColumns, feature)],
    ['constant features', listed(quality.constantColumns, (one) => sized(one, one.value))],
    [
      'equal features',
      listed(quality.equalColumns, (one) => `${feature(one)} = ${feature(one.earlier)}`),
    ],
    [
      'scales',
      isUneven ? `from ${scaleOf('smallest')} to ${scaleOf('largest')}; ${remedy}` : undefined,
    ],
    ['labels', isSingle ? 'one label alone; there is nothing to tell apart' : undefined],
  ];
}

function namesLine(names: readonly string[] | undefined, what: string): string | undefined {
  return names && `${names.map(lineText).join(', ')}: ${what}`;
}

function listed<Item>({ count, first }: Findings<Item>, text: (item: Item) => string) {
  if (count === 0) return undefined;
  const rest = count > first.length ? ', …' : '';
  return `${formatCount(count)}: ${first.map(text).join(', ')}${rest}`;
}
