import picocolors from 'picocolors';
import type { Findings, NamedColumn, Quality } from '../../data/quality/quality.ts';
import { type Colours, formatCount, formatNumber, formatPercent, plural } from '../format.ts';
import { numberTable, twoColumns } from '../table.ts';

export interface QualityTextOptions {
  /** Default: none. */
  readonly colours?: Colours;
  /** The number of the first feature in the input; default 1. */
  readonly firstFeature?: number;
}

/**
 * A ratio of scales from which on one setting of the penalty can hardly suit all features, and
 * training takes many times as long: incomes beside ages, or beside categories, which are 1.
 */
const wideRatio = 1e3;

/** The report for people: sizes, labels, and what is worth a look. */
export function qualityText(quality: Quality, options: QualityTextOptions = {}): string {
  const { colours = picocolors.createColors(false), firstFeature = 1 } = options;
  const findings = findingRows(quality, firstFeature);
  const blocks = [twoColumns(sizeRows(quality)), labelText(quality)];
  if (findings.length === 0) {
    blocks.push(colours.green('nothing that looks wrong'));
  } else {
    blocks.push(`${colours.yellow('worth a look:')}\n${twoColumns(findings)}`);
  }
  return blocks.filter((block) => block !== '').join('\n\n');
}

function sizeRows(quality: Quality): [string, string][] {
  const { rowLengths, nonzeros, density, values, weights, labels } = quality;
  const rows: [string, string][] = [
    ['data', quality.name],
    ['rows', formatCount(quality.rows)],
    ['features', formatCount(quality.columns)],
    ['non-zeros', `${formatCount(nonzeros)} (${formatPercent(density)} of all entries)`],
    [
      'per row',
      `${formatCount(rowLengths.smallest)} to ${formatCount(rowLengths.largest)}, ` +
        `median ${formatCount(rowLengths.median)}`,
    ],
  ];
  if (values) {
    const range = `${formatNumber(values.smallest)} to ${formatNumber(values.largest)}`;
    rows.push(['values', `${range}${values.whole ? ', all whole numbers' : ''}`]);
  }
  if (weights) {
    const range = `${formatNumber(weights.smallest)} to ${formatNumber(weights.largest)}`;
    rows.push(['weights', `${range}, sum ${formatNumber(weights.sum)}`]);
  }
  if (labels.range && !(listsLabels(quality) && labels.distinct === labels.top.length)) {
    const { smallest, largest, mean } = labels.range;
    const range = `${formatNumber(smallest)} to ${formatNumber(largest)}`;
    rows.push(['labels', `${range}, mean ${formatNumber(mean)}, ${countedLabels(quality)}`]);
  }
  return rows;
}

function countedLabels({ labels }: Quality): string {
  return `${labels.distinct === null ? 'more than 1,000' : formatCount(labels.distinct)} different`;
}

/** Whether labels look like classes: they have names, or come back again and again. */
function listsLabels({ labels, rows }: Quality): boolean {
  const { distinct, range } = labels;
  if (distinct === null || distinct === 0) return false;
  return range === undefined || distinct <= Math.max(2, rows / 2);
}

function labelText(quality: Quality): string {
  if (!listsLabels(quality)) return '';
  const { distinct, top } = quality.labels;
  const rows = top.map(({ label, count, share }) => [
    label === '' ? '(none)' : String(label),
    formatCount(count),
    formatPercent(share),
  ]);
  const more = (distinct ?? 0) - top.length;
  const text = `labels, by number of rows:\n${numberTable(rows)}`;
  return more > 0 ? `${text}\nand ${formatCount(more)} more` : text;
}

function findingRows(quality: Quality, firstFeature: number): [string, string][] {
  const { emptyRows, emptyColumns, constantColumns, equalColumns, equalRows } = quality;
  const feature = ({ column, name }: NamedColumn): string => name ?? String(column + firstFeature);
  const rows: [string, string][] = [];
  const find = <Place>(title: string, found: Findings<Place>, text: (place: Place) => string) => {
    if (found.count > 0) rows.push([title, listed(found, text)]);
  };
  find('empty rows', emptyRows, (row) => `row ${row + 1}`);
  find('equal rows', equalRows, ({ row, earlier }) => `${row + 1} = ${earlier + 1}`);
  if (equalRows.otherLabel > 0) {
    const count = plural(equalRows.otherLabel, 'row');
    rows.push(['contradictions', `${count} equal to an earlier one but for the label`]);
  }
  if ((quality.weights?.zeros ?? 0) > 0) {
    rows.push(['weight 0', `${plural(quality.weights?.zeros ?? 0, 'row')} without effect`]);
  }
  find('empty features', emptyColumns, feature);
  find('constant features', constantColumns, (place) => {
    return `${feature(place)} (${formatNumber(place.value)})`;
  });
  find('equal features', equalColumns, (place) => `${feature(place)} = ${feature(place.earlier)}`);
  rows.push(...scaleRows(quality, feature), ...classRows(quality));
  return rows;
}

function scaleRows({ scales }: Quality, feature: (place: NamedColumn) => string) {
  if (!scales || scales.ratio <= wideRatio) return [];
  const { smallest, largest } = scales;
  const place = (scale: typeof smallest) => `${feature(scale)} (${formatNumber(scale.size)})`;
  const text = `from ${place(smallest)} to ${place(largest)}; --scale max makes them equal`;
  return [['scales', text]] satisfies [string, string][];
}

function classRows({ labels, rows }: Quality): [string, string][] {
  if (labels.distinct !== 1 || rows < 2) return [];
  return [['labels', 'one label alone; there is nothing to tell apart']];
}

function listed<Place>({ count, first }: Findings<Place>, text: (place: Place) => string): string {
  const rest = count > first.length ? ', …' : '';
  return `${formatCount(count)}: ${first.map(text).join(', ')}${rest}`;
}
