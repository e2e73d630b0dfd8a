import { UsageError } from '../../errors.ts';
import {
  largestColumns,
  type Side,
  summarizeWeights,
  type WeightSummary,
} from '../../model/metrics/weight-summary.ts';
import {
  type Certificate,
  type Label,
  type Model,
  vectorCount,
  weightsOf,
} from '../../model/model.ts';
import { describePenalty } from '../../problem/penalties/index.ts';
import {
  type Colours,
  formatCount,
  formatGapUp,
  formatNumber,
  formatPercent,
  lineText,
  plural,
} from '../format.ts';
import { numberTable, tableLines, twoColumns } from '../table.ts';
import { describeCertificate } from './summary.ts';

export interface Feature {
  /** As in the data: from 1, or from 0 with --zero-based. */
  readonly feature: number;
  readonly name?: string;
  readonly weight: number;
}

/** One vector of weights. */
export interface VectorSummary extends WeightSummary {
  /** Whose rows score above 0; absent in regression. */
  readonly class?: Label;
  readonly intercept: number;
  /** Where there are several vectors. */
  readonly certificate?: Certificate;
}

export interface FeatureOptions {
  readonly top: number;
  readonly names: readonly string[];
  readonly firstFeature: number;
}

/** The vector that tells a class from the others, and on which side of 0 the class is. */
export interface ClassPlace {
  readonly vector: number;
  readonly label: Label;
  readonly side: Exclude<Side, 'both'>;
}

/** Whether one vector serves the whole model: a regression, or both of two classes. */
export function sharesVector(model: Model): boolean {
  return vectorCount(model) === 1 && !model.multiLabel;
}

export function summarizeVector(model: Model, vector: number): VectorSummary {
  const { classes, certificates, intercepts } = model;
  const own = classes?.[sharesVector(model) ? 1 : vector];
  return {
    ...(own !== undefined && { class: own }),
    ...summarizeWeights(weightsOf(model, vector)),
    intercept: intercepts[vector],
    ...(certificates && { certificate: certificates[vector] }),
  };
}

/** The features with the largest weights of one sign. */
export function topFeatures(
  model: Model,
  vector: number,
  side: Side,
  { top, names, firstFeature }: FeatureOptions,
): Feature[] {
  const weights = weightsOf(model, vector);
  return largestColumns(weights, top, side).map((column): Feature => {
    const name = names[column];
    const feature = column + firstFeature;
    const weight = weights[column];
    return name === undefined ? { feature, weight } : { feature, name, weight };
  });
}

/** The class of this name; throws a UsageError if the model has none. */
export function findClass(model: Model, name: string): ClassPlace {
  const { classes } = model;
  if (classes === undefined) {
    throw new UsageError(`--class ${name}: the model is a regression and has no classes`);
  }
  const place = classes.findIndex((label) => String(label) === name);
  if (place < 0) {
    const some = classes.slice(0, 5).map(lineText).join(', ');
    const more = classes.length > 5 ? `, … (${classes.length} in all)` : '';
    throw new UsageError(`--class ${name}: the model has no such class; it has ${some}${more}`);
  }
  const shared = sharesVector(model);
  return {
    vector: shared ? 0 : place,
    label: classes[place],
    side: shared && place === 0 ? 'negative' : 'positive',
  };
}

/** So many classes have a line each and their features shown. */
const mostClasses = 20;

type Row = [string, string];

/** How the model was made and what it is, but for its single weights. */
export function describeModel(model: Model): string {
  const { loss } = model;
  const parameter = loss.parameter === 0 ? '' : ` (parameter ${loss.parameter})`;
  const summary = summarizeWeights(model.weights);
  return twoColumns([
    ['task', describeTask(model)],
    ['loss', `${loss.name}${parameter}`],
    ...trainingRows(model),
    ...certificateRows(model),
    ['weights', describeSparsity(summary.nonzero, model.weights.length)],
    ['norms', `L1 ${formatNumber(summary.l1Norm)}, L2 ${formatNumber(summary.l2Norm)}`],
    interceptRow(model.intercepts),
    ...readingRows(model),
    ...provenanceRows(model),
  ]);
}

/** The file of another program tells neither λ nor the data. */
function trainingRows(model: Model): Row[] {
  const penalty = describePenalty(model.penalty);
  if (model.certificate.stopped === 'imported') {
    return [
      ['penalty', penalty],
      ['columns', formatCount(model.columns)],
      ['solver', model.solver],
    ];
  }
  return [
    ['penalty', `${penalty}, lambda ${formatNumber(model.lambda)}`],
    [
      'trained on',
      `${plural(model.rows, 'row')} × ${plural(model.columns, 'column')}, ` +
        `${formatCount(model.nonzeros)} non-zeros`,
    ],
    ['solver', `${model.solver}, grid ${model.grid}, seed ${model.seed}`],
  ];
}

function describeTask({ classes, multiLabel }: Model): string {
  if (classes === undefined) return 'regression';
  const count = formatCount(classes.length);
  if (multiLabel) return `multi-label: any of ${count} classes`;
  if (classes.length > 2) return `classification: ${count} classes, each against the others`;
  const [negative, positive] = classes.map(lineText);
  return `classification: negative ${negative}, positive ${positive}`;
}

function certificateRows({ certificate, certificates, classes }: Model): Row[] {
  const { primal, dual, relativeGap, stopped } = certificate;
  if (stopped === 'imported') {
    return [['certificate', 'none: another program trained it, and left no proof']];
  }
  if (stopped === 'stream') {
    return [['certificate', 'none: it learned from a stream that was not kept']];
  }
  const rows: Row[] = [
    ['stopped', `${stopped} after ${plural(certificate.epochs, 'epoch')}`],
    ['objective', `${primal}, at least ${dual} for any weights`],
    ['certificate', describeCertificate(relativeGap)],
  ];
  if (!certificates) return rows;
  const worst = placeOfWorst(certificates);
  const text = describeCertificate(certificates[worst].relativeGap);
  return [...rows, ['worst class', `${lineText(classes![worst])}: ${text}`]];
}

function placeOfWorst(certificates: readonly Certificate[]): number {
  let worst = 0;
  for (const [place, { relativeGap }] of certificates.entries()) {
    if (relativeGap > certificates[worst].relativeGap) worst = place;
  }
  return worst;
}

function describeSparsity(nonzero: number, all: number): string {
  const part = all === 0 ? 0 : nonzero / all;
  return `${formatCount(nonzero)} of ${formatCount(all)} are not 0 (${formatPercent(part)})`;
}

function interceptRow(intercepts: Float64Array): Row {
  if (intercepts.length === 1) return ['intercept', formatNumber(intercepts[0])];
  const least = intercepts.reduce((low, value) => Math.min(low, value));
  const most = intercepts.reduce((high, value) => Math.max(high, value));
  if (least === most) return ['intercepts', formatNumber(least)];
  return ['intercepts', `from ${formatNumber(least)} to ${formatNumber(most)}`];
}

/** What happens to data before and after it is scored. */
function readingRows({ featureNames, recipe, unitRows, calibration }: Model): Row[] {
  const rows: Row[] = [];
  if (recipe?.hashBits !== undefined) {
    rows.push(['features', `names hashed to ${recipe.hashBits} bits`]);
  } else if (featureNames) {
    rows.push(['features', `${formatCount(featureNames.length)} names`]);
  }
  if (recipe?.fields) {
    const used = recipe.fields.filter(({ kind }) => kind === 'number' || kind === 'category');
    const categories = used.filter(({ kind }) => kind === 'category').length;
    const numbers = used.length - categories;
    // JSON lines may have none of a fixed kind.
    if (used.length > 0) {
      rows.push([
        'fields',
        `${formatCount(numbers)} of numbers, ${formatCount(categories)} of categories`,
      ]);
    }
  }
  if (unitRows) rows.push(['rows', 'divided by their length before they are scored']);
  if (calibration) rows.push(['probabilities', `calibrated (${calibration[0].method})`]);
  return rows;
}

function provenanceRows({ provenance }: Model): Row[] {
  if (!provenance) return [];
  const options = Object.entries(provenance.options);
  const rows: Row[] = [
    ['made by', `dso ${provenance.version}`],
    ['data', provenance.data],
  ];
  if (options.length > 0) {
    rows.push(['options', options.map(([name, value]) => `${name} ${value}`).join(', ')]);
  }
  return rows;
}

/** A line for each vector; the first ones where there are very many. */
export function describeClasses(model: Model): string {
  const { classes } = model;
  const shown = Math.min(classes!.length, mostClasses);
  const lines = Array.from({ length: shown }, (_, vector) =>
    classLine(summarizeVector(model, vector)),
  );
  const more = classes!.length - shown;
  const rest = `… and ${formatCount(more)} more: --class NAME shows one, --json all`;
  const table = numberTable([['class', 'not 0', 'L1', 'L2', 'intercept', 'gap'], ...lines]);
  return more > 0 ? `${table}\n${rest}` : table;
}

function classLine(summary: VectorSummary): string[] {
  const { certificate } = summary;
  const proved = certificate !== undefined && certificate.relativeGap < Infinity;
  return [
    lineText(summary.class!),
    formatCount(summary.nonzero),
    formatNumber(summary.l1Norm),
    formatNumber(summary.l2Norm),
    formatNumber(summary.intercept),
    proved ? formatGapUp(certificate.relativeGap) : '–',
  ];
}

/** The largest weights on both sides of 0 of a model with one vector, or of the asked class. */
export function describeFeatures(
  model: Model,
  place: ClassPlace | undefined,
  options: FeatureOptions,
  colours: Colours,
): string {
  const vector = place?.vector ?? 0;
  const both = ['positive', 'negative'] as const;
  // Two classes share a vector: what speaks against the one speaks for the other.
  const sides = place && sharesVector(model) ? [place.side] : both;
  const lists = sides.flatMap((side) => {
    const features = topFeatures(model, vector, side, options);
    if (features.length === 0) return [];
    return [
      `features that ${titleOf(model, place, side)}:\n${featureLines(features, colours).join('\n')}`,
    ];
  });
  return lists.join('\n\n');
}

function titleOf(
  model: Model,
  place: ClassPlace | undefined,
  side: 'positive' | 'negative',
): string {
  const { classes } = model;
  if (classes === undefined) {
    return side === 'positive' ? 'raise the prediction' : 'lower the prediction';
  }
  if (sharesVector(model)) {
    return `speak for ${lineText(classes[side === 'positive' ? 1 : 0])}`;
  }
  return `speak ${side === 'positive' ? 'for' : 'against'} ${lineText(place!.label)}`;
}

function featureLines(features: readonly Feature[], { green, red }: Colours): string[] {
  const rows = features.map(({ feature, name, weight }) => [
    String(feature),
    signed(weight).padEnd(12),
    name === undefined ? '' : lineText(name),
  ]);
  return tableLines(rows, { left: (column) => column > 0 }).map((line) =>
    line.replace(/(?<= )[-+]\S+/, (weight) => (weight.startsWith('-') ? red : green)(weight)),
  );
}

/** Of a few classes the largest weights in two lines each; of many nothing. */
export function describeAllFeatures(model: Model, options: FeatureOptions): string {
  const { classes } = model;
  if (classes!.length > mostClasses) return '';
  const blocks = classes!.map((label, vector) => {
    const line = (side: 'positive' | 'negative') =>
      topFeatures(model, vector, side, options).map(shortly).join(', ') || 'none';
    return `${lineText(label)}\n  for      ${line('positive')}\n  against  ${line('negative')}`;
  });
  return blocks.join('\n');
}

function shortly({ feature, name, weight }: Feature): string {
  return `${name === undefined ? feature : lineText(name)} ${signed(weight)}`;
}

function signed(weight: number): string {
  return `${weight < 0 ? '-' : '+'}${formatNumber(Math.abs(weight))}`;
}
