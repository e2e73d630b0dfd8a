import { UsageError } from '../../errors.ts';
import { largestColumns, type Side, summarizeWeights } from '../../model/metrics/weight-summary.ts';
import { type Label, type Model, vectorCount, weightsOf } from '../../model/model.ts';
import { leastObjective } from '../../problem/losses/index.ts';
import { describePenalty } from '../../problem/penalties/index.ts';
import {
  type Colours,
  dataSize,
  formatCount,
  formatGapUp,
  formatNumber,
  formatPercent,
  lineText,
  plural,
} from '../format.ts';
import { type LabelledLine, numberTable, tableLines, twoColumns } from '../table.ts';
import { describeCertificate, describeZeros } from './summary.ts';

interface Feature {
  /** As in the data: from 1, or from 0 with --zero-based. */
  readonly feature: number;
  readonly name?: string;
  readonly weight: number;
}

export interface FeatureOptions {
  readonly top: number;
  readonly names: readonly string[];
  readonly firstFeature: number;
}

/** The vector that separates a class from the others, and on which side of 0 the class is. */
export interface ClassSide {
  readonly vector: number;
  readonly label: Label;
  readonly side: Exclude<Side, 'both'>;
}

/** Whether one vector serves the whole model: a regression, or both of two classes. */
export function sharesVector(model: Model): boolean {
  return vectorCount(model) === 1 && !model.multiLabel;
}

/** One vector of weights, with the class whose rows score above 0. */
export function summarizeVector(model: Model, vector: number) {
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
  return largestColumns(weights, top, side).map((column) => ({
    feature: column + firstFeature,
    ...(names[column] !== undefined && { name: names[column] }),
    weight: weights[column],
  }));
}

/** The class of this name; throws a UsageError if the model has none. */
export function findClass(model: Model, name: string): ClassSide {
  const { classes } = model;
  if (classes === undefined) {
    throw new UsageError(`--class ${name}: the model is a regression and has no classes`);
  }
  const index = classes.findIndex((label) => String(label) === name);
  if (index < 0) {
    const some = classes.slice(0, 5).map(lineText).join(', ');
    const more = classes.length > 5 ? `, … (${classes.length} in all)` : '';
    throw new UsageError(`--class ${name}: the model has no such class; it has ${some}${more}`);
  }
  const shared = sharesVector(model);
  return {
    vector: shared ? 0 : index,
    label: classes[index],
    side: shared && index === 0 ? 'negative' : 'positive',
  };
}

/** Up to this many classes have a line each and their features shown. */
const mostClasses = 20;

/** How the model was made and what it is, but for its single weights. */
export function describeModel(model: Model): string {
  const { loss, weights, unitRows, calibration, threshold, provenance } = model;
  const { nonzero, l1Norm, l2Norm } = summarizeWeights(weights);
  const part = formatPercent(weights.length === 0 ? 0 : nonzero / weights.length);
  const options = Object.entries(provenance?.options ?? {});
  return twoColumns([
    ['task', describeTask(model)],
    [
      'loss',
      `${lineText(loss.name)}${loss.parameter === 0 ? '' : ` (parameter ${loss.parameter})`}`,
    ],
    ...trainingLines(model),
    ...certificateLines(model),
    ['weights', `${formatCount(nonzero)} of ${formatCount(weights.length)} are not 0 (${part})`],
    ['norms', `L1 ${formatNumber(l1Norm)}, L2 ${formatNumber(l2Norm)}`],
    interceptLine(model.intercepts),
    // What happens to data before and after it is scored.
    ['features', describeNames(model)],
    ['fields', describeFields(model)],
    ['rows', unitRows ? 'divided by their length before they are scored' : undefined],
    ['probabilities', calibration && `calibrated (${calibration[0].method})`],
    ['threshold', threshold === undefined ? undefined : formatNumber(threshold)],
    ['made by', provenance && `dso ${lineText(provenance.version)}`],
    ['data', provenance && lineText(provenance.data)],
    [
      'options',
      lineText(options.map(([name, value]) => `${name} ${value}`).join(', ')) || undefined,
    ],
  ]);
}

/** The file of another program contains neither λ nor the size of the data. */
function trainingLines(model: Model): LabelledLine[] {
  const { rows, columns, nonzeros, solver, grid, seed, lambda } = model;
  const penalty = lineText(describePenalty(model.penalty));
  return model.certificate.stopped === 'imported'
    ? [
        ['penalty', penalty],
        ['columns', formatCount(columns)],
        ['solver', lineText(solver)],
      ]
    : [
        ['penalty', `${penalty}, lambda ${formatNumber(lambda)}`],
        ['trained on', dataSize(rows, columns, nonzeros)],
        ['solver', `${lineText(solver)}, grid ${grid}, seed ${seed}`],
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

function certificateLines(model: Model): LabelledLine[] {
  const { certificate, certificates, classes, weights } = model;
  const { primal, dual, stopped, epochs, provedZeros } = certificate;
  const least = leastObjective(model.loss);
  if (stopped === 'imported') {
    return [['certificate', 'none: another program trained it, and left no proof']];
  }
  if (stopped === 'stream') {
    return [['certificate', 'none: it learned from a stream that was not stored']];
  }
  const worst = certificates?.reduce((a, b) => (b.relativeGap > a.relativeGap ? b : a));
  const worstClass = worst && lineText(classes![certificates!.indexOf(worst)]);
  return [
    ['stopped', `${stopped} after ${plural(epochs, 'epoch')}`],
    ['objective', `${primal}, at least ${Math.max(dual, least)} for any weights`],
    ['certificate', describeCertificate(certificate, least)],
    ['worst class', worst && `${worstClass}: ${describeCertificate(worst, least)}`],
    ['zeros', provedZeros === undefined ? undefined : describeZeros(certificate, weights.length)],
  ];
}

function interceptLine(intercepts: Float64Array): LabelledLine {
  if (intercepts.length === 1) return ['intercept', formatNumber(intercepts[0])];
  const least = intercepts.reduce((low, value) => Math.min(low, value));
  const most = intercepts.reduce((high, value) => Math.max(high, value));
  const range = `from ${formatNumber(least)} to ${formatNumber(most)}`;
  return ['intercepts', least === most ? formatNumber(least) : range];
}

function describeNames({ featureNames, recipe }: Model): string | undefined {
  if (recipe?.hashBits !== undefined) return `names hashed to ${recipe.hashBits} bits`;
  return featureNames && `${formatCount(featureNames.length)} names`;
}

/** JSON lines may have no field of a fixed kind. */
function describeFields({ recipe }: Model): string | undefined {
  const [numbers, categories] = ['number', 'category'].map(
    (one) => recipe?.fields?.filter(({ kind }) => kind === one).length ?? 0,
  );
  if (numbers + categories === 0) return undefined;
  return `${formatCount(numbers)} of numbers, ${formatCount(categories)} of categories`;
}

/** A line for each vector; the first ones where there are very many. */
export function describeClasses(model: Model): string {
  const { length } = model.classes!;
  const shown = Math.min(length, mostClasses);
  const lines = Array.from({ length: shown }, (_, vector) => {
    const summary = summarizeVector(model, vector);
    const { relativeGap = Infinity } = summary.certificate ?? {};
    return [
      lineText(summary.class!),
      formatCount(summary.nonzero),
      ...[summary.l1Norm, summary.l2Norm, summary.intercept].map(formatNumber),
      relativeGap < Infinity ? formatGapUp(relativeGap) : '–',
    ];
  });
  const table = numberTable([['class', 'not 0', 'L1', 'L2', 'intercept', 'gap'], ...lines]);
  const more = formatCount(length - shown);
  return length > shown
    ? `${table}\n… and ${more} more: --class NAME shows one, --json all`
    : table;
}

/** The largest weights on both sides of 0 of a model with one vector, or of the requested class. */
export function describeFeatures(
  model: Model,
  shown: ClassSide | undefined,
  options: FeatureOptions,
  colours: Colours,
): string {
  // Two classes share a vector: what lowers the score of one raises that of the other.
  const sides = shown && sharesVector(model) ? [shown.side] : (['positive', 'negative'] as const);
  const lists = sides.flatMap((side) => {
    const features = topFeatures(model, shown?.vector ?? 0, side, options);
    if (features.length === 0) return [];
    return [`features that ${effectOf(model, shown, side)}:\n${featureLines(features, colours)}`];
  });
  return lists.join('\n\n');
}

function effectOf(model: Model, shown: ClassSide | undefined, side: ClassSide['side']): string {
  const { classes } = model;
  const isPositive = side === 'positive';
  if (classes === undefined) return `${isPositive ? 'raise' : 'lower'} the prediction`;
  if (sharesVector(model)) return `speak for ${lineText(classes[isPositive ? 1 : 0])}`;
  return `speak ${isPositive ? 'for' : 'against'} ${lineText(shown!.label)}`;
}

function featureLines(features: readonly Feature[], { green, red }: Colours): string {
  const rows = features.map(({ feature, name, weight }) => [
    String(feature),
    signed(weight).padEnd(12),
    lineText(name ?? ''),
  ]);
  return tableLines(rows, (column) => column > 0)
    .map((line) =>
      line.replace(/(?<= )[-+]\S+/, (weight) => (weight.startsWith('-') ? red : green)(weight)),
    )
    .join('\n');
}

/** Of a few classes the largest weights in two lines each; of many nothing. */
export function describeAllFeatures(model: Model, options: FeatureOptions): string {
  const classes = model.classes!;
  if (classes.length > mostClasses) return '';
  const blocks = classes.map((label, vector) => {
    const [positive, negative] = (['positive', 'negative'] as const).map((side) =>
      topFeatures(model, vector, side, options)
        .map(({ feature, name, weight }) => `${lineText(name ?? feature)} ${signed(weight)}`)
        .join(', '),
    );
    return `${lineText(label)}\n  for      ${positive || 'none'}\n  against  ${negative || 'none'}`;
  });
  return blocks.join('\n');
}

function signed(weight: number): string {
  return `${weight < 0 ? '-' : '+'}${formatNumber(Math.abs(weight))}`;
}
