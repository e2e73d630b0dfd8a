import { UsageError } from '../errors.ts';
import { hasLogLink } from '../losses/link.ts';
import { givesProbabilities } from '../metrics/probabilities.ts';
import { numberText } from '../model/export/tables.ts';
import type { Calibration, Model } from '../model/model.ts';
import { vectorCount, weightsOf } from '../model/model.ts';
import * as rows from './typescript-rows.ts';
import * as results from './typescript-scores.ts';

/** More weights than this are base64: a compiler takes long over so many numbers. */
const literalLimit = 1000;
const numbersPerLine = 8;
const base64Width = 90;

/** The model as a module of TypeScript without dependencies, with `predict` and `scores`. */
export function* typescriptModule(model: Model): Generator<string> {
  const named = model.featureNames !== undefined || model.recipe?.hashBits !== undefined;
  yield* comment(model);
  yield* description(model);
  yield* weightLiterals(model);
  yield rows.rowSource;
  if (named) yield* namedRows(model);
  else yield rows.plainRowSource;
  yield results.scoreSource(model.unitRows === true);
  yield* predictions(model);
}

function* comment({ loss, penalty, lambda, certificate, provenance }: Model): Generator<string> {
  yield '// Written by dso export --to typescript.\n';
  yield `// Loss ${oneLine(loss.name)}, penalty ${oneLine(penalty.name)}, lambda ${lambda}, `;
  yield `relative duality gap ${certificate.relativeGap}.\n`;
  if (provenance)
    yield `// Data ${oneLine(provenance.data)}, dso ${oneLine(provenance.version)}.\n`;
}

/** A comment ends with its line: what a model file says must not become code. */
function oneLine(text: string): string {
  return text.replace(/[\r\n\u2028\u2029]/g, ' ');
}

function* description(model: Model): Generator<string> {
  const { classes, columns } = model;
  yield `\nexport const columns = ${columns};\n`;
  if (classes === undefined) return;
  yield `\nexport const classes = [${classes.map((label) => JSON.stringify(label)).join(', ')}] as const;\n`;
  yield '\nexport type Label = (typeof classes)[number];\n';
}

function* weightLiterals(model: Model): Generator<string> {
  const vectors = Array.from({ length: vectorCount(model) }, (_, vector) =>
    weightsOf(model, vector),
  );
  const stored = vectors.map(storedColumns);
  const total = stored.reduce((sum, columns) => sum + columns.length, 0);
  const packed = total > literalLimit;
  const isSparse = (vector: number): boolean => 2 * stored[vector].length < model.columns;
  const anySparse = vectors.some((_, vector) => isSparse(vector));
  if (packed) yield rows.base64Source;
  if (packed && anySparse) yield rows.base64IndexSource;
  if (anySparse) yield rows.sparseSource;
  yield `\nconst intercepts: readonly number[] = [${Array.from(model.intercepts, numberText).join(', ')}];\n`;
  yield '\nconst weights: readonly Float64Array[] = [\n';
  for (const [vector, weights] of vectors.entries()) {
    if (isSparse(vector)) {
      const values = Float64Array.from(stored[vector], (column) => weights[column]);
      yield '  sparse(\n';
      yield packed ? base64(Int32Array.from(stored[vector]), 'int32s') : listed(stored[vector]);
      yield ',\n';
      yield packed ? base64(values, 'float64s') : listed(values);
      yield ',\n  ),\n';
    } else {
      yield packed
        ? base64(weights, 'float64s')
        : `    Float64Array.from(\n${listed(weights)},\n    )`;
      yield ',\n';
    }
  }
  yield '];\n';
}

/** Columns whose weight is not +0. */
function storedColumns(weights: Float64Array): number[] {
  const columns: number[] = [];
  for (let column = 0; column < weights.length; column++) {
    if (!Object.is(weights[column], 0)) columns.push(column);
  }
  return columns;
}

function listed(numbers: ArrayLike<number>): string {
  const lines: string[] = [];
  const texts = Array.from(numbers, numberText);
  for (let start = 0; start < texts.length; start += numbersPerLine) {
    lines.push(`      ${texts.slice(start, start + numbersPerLine).join(', ')},\n`);
  }
  return `    [\n${lines.join('')}    ]`;
}

function base64(numbers: Float64Array | Int32Array, reader: string): string {
  const bytes = numbers.BYTES_PER_ELEMENT;
  const view = new DataView(new ArrayBuffer(numbers.byteLength));
  for (const [index, value] of numbers.entries()) {
    if (bytes === 8) view.setFloat64(bytes * index, value, true);
    else view.setInt32(bytes * index, value, true);
  }
  const text = Buffer.from(view.buffer).toString('base64').replace(/=+$/, '');
  const lines: string[] = [];
  for (let start = 0; start < text.length; start += base64Width) {
    lines.push(`      '${text.slice(start, start + base64Width)}'`);
  }
  return `    ${reader}(\n${lines.join(' +\n')},\n    )`;
}

function* namedRows({ featureNames, recipe }: Model): Generator<string> {
  const kind = "'number' | 'category' | 'label' | 'weight' | 'ignored'";
  yield `\nconst fields: ReadonlyMap<string, ${kind}> = new Map([\n`;
  for (const field of recipe?.fields ?? []) {
    yield `  [${JSON.stringify(field.name)}, '${field.kind}'],\n`;
  }
  yield ']);\n';
  const missing = recipe?.missing ?? 'indicator';
  yield `\nconst missing: 'indicator' | 'zero' | 'error' = '${missing}';\n`;
  const absent = [...rows.missingTexts, ...(recipe?.missingValues ?? [])];
  yield `const absent: readonly string[] = [${absent.map((text) => JSON.stringify(text)).join(', ')}];\n`;
  if (recipe?.hashBits !== undefined) {
    yield `\nconst hashBits = ${recipe.hashBits};\n`;
    yield rows.hashedNamesSource;
  } else {
    yield '\nconst names: readonly string[] = [\n';
    for (const name of featureNames ?? []) yield `  ${JSON.stringify(name)},\n`;
    yield '];\n';
    yield rows.listedNamesSource;
  }
  yield rows.namedRowSource;
}

function* predictions(model: Model): Generator<string> {
  const { classes, multiLabel } = model;
  const log = hasLogLink(model.loss.name);
  if (classes === undefined) {
    if (log) yield results.expSource;
    yield results.predictionSources[log ? 'mean' : 'value'];
    return;
  }
  const several = vectorCount(model) > 1;
  yield results.predictionSources[multiLabel ? 'labels' : several ? 'several' : 'two'];
  if (!givesProbabilities(model)) return;
  yield* calibrations(model.calibration);
  yield results.probabilitySources[multiLabel ? 'each' : several ? 'shared' : 'two'];
}

function* calibrations(calibration: readonly Calibration[] | undefined): Generator<string> {
  if (calibration === undefined) {
    yield results.expSource + results.sigmoidSource + results.logisticSource;
    return;
  }
  const method = calibration[0]?.method;
  if (calibration.some((each) => each.method !== method)) {
    throw new UsageError(
      '--to typescript: calibrated by Platt scaling and isotonic regression at once',
    );
  }
  const pairs = calibration.map((each) =>
    each.method === 'platt'
      ? `  [${numberText(each.slope)}, ${numberText(each.offset)}],\n`
      : `  [\n${listed(each.scores)},\n${listed(each.probabilities)},\n  ],\n`,
  );
  if (method === 'platt') {
    yield results.expSource + results.sigmoidSource;
    yield `\nconst platt: readonly (readonly [number, number])[] = [\n${pairs.join('')}];\n`;
    yield results.plattSource;
  } else {
    const curve = 'readonly [readonly number[], readonly number[]]';
    yield `\nconst curves: readonly (${curve})[] = [\n${pairs.join('')}];\n`;
    yield results.isotonicSource;
  }
}
