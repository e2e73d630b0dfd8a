import { lossEntry } from '../../problem/losses/index.ts';
import { type Label, type Model, vectorCount, weightsOf } from '../model.ts';

/** The name of a column; where it has none its number as in LIBSVM data, from 1. */
export function nameOf(model: Pick<Model, 'featureNames'>, column: number): string {
  return model.featureNames?.[column] ?? String(column + 1);
}

/** The class whose score a vector gives; undefined in regression. */
function classOf({ classes, multiLabel }: Model, vector: number): Label | undefined {
  return classes?.[classes.length === 2 && !multiLabel ? 1 : vector];
}

/** The weights of a vector that are not 0, columns ascending. */
export function* nonzeroEntries(
  model: Model,
  vector: number,
): Generator<{ column: number; weight: number }> {
  const weights = weightsOf(model, vector);
  for (let column = 0; column < weights.length; column++) {
    if (weights[column] !== 0) yield { column, weight: weights[column] };
  }
}

/** The fewest digits that read back as the same double, the sign of −0 included. */
export function numberText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** Without line ends: a text of a model file must not begin another line of the output. */
export function oneLine(text: string): string {
  return text.replace(/[\r\n\u2028\u2029]/g, ' ');
}

/** Joins short texts to longer ones: a write for every weight would be slow. */
export function* inBlocks(lines: Iterable<string>, size = 1 << 16): Generator<string> {
  let block = '';
  for (const line of lines) {
    block += line;
    if (block.length >= size) {
      yield block;
      block = '';
    }
  }
  if (block !== '') yield block;
}

/**
 * Text like that of `vw --invert_hash`: a header, then `name:index:weight` for every weight that is
 * not 0; of several classes `name[class]`, numbered from 0. It is for people, and for scripts that
 * read such files: Vowpal Wabbit itself loads only its binary models. Names may hold colons: the
 * index and weight are the last two fields.
 */
export function* readableModel(model: Model): Generator<string> {
  const { classes } = model;
  const count = vectorCount(model);
  const labels = (classes ?? []).filter((label) => typeof label === 'number');
  yield `Version dso ${oneLine(model.provenance?.version ?? '')}`.trimEnd().concat('\n');
  yield 'Id \n';
  yield `Min label:${labels.length > 0 ? Math.min(...labels) : 0}\n`;
  yield `Max label:${labels.length > 0 ? Math.max(...labels) : 0}\n`;
  // Bits that number all weights and constants.
  yield `bits:${Math.ceil(Math.log2((model.columns + 1) * count))}\n`;
  yield 'lda:0\n0 ngram:\n0 skip:\n';
  yield `options:${optionsOf(model, count)}\n`;
  yield ':0\n';
  for (let vector = 0; vector < count; vector++) {
    const suffix = count > 1 ? `[${vector}]` : '';
    for (const { column, weight } of nonzeroEntries(model, vector)) {
      yield `${oneLine(nameOf(model, column))}${suffix}:${column * count + vector}:${weight}\n`;
    }
    const intercept = model.intercepts[vector];
    if (intercept !== 0) {
      yield `Constant${suffix}:${model.columns * count + vector}:${intercept}\n`;
    }
  }
}

function optionsOf({ loss, penalty, lambda, classes }: Model, count: number): string {
  const name = lossEntry(loss.name)?.vowpalWabbit;
  return [
    name === undefined ? '' : ` --loss_function ${name}`,
    penalty.l1 > 0 ? ` --l1 ${lambda * penalty.l1}` : '',
    penalty.l2 > 0 ? ` --l2 ${lambda * penalty.l2}` : '',
    count > 1 ? ` --oaa ${classes!.length}` : '',
  ].join('');
}

/**
 * A table of the weights that are not 0, as RFC 4180 has it: lines end with CRLF, and a field with
 * a quote, comma or line end is quoted. A class begins with its intercept. Names that a spreadsheet
 * would take for a formula get an apostrophe in front, as OWASP recommends.
 */
export function* csvTable(model: Model): Generator<string> {
  yield 'feature,name,class,weight\r\n';
  for (let vector = 0; vector < vectorCount(model); vector++) {
    const named = classOf(model, vector) ?? '';
    const label = typeof named === 'number' ? String(named) : textCell(named);
    yield `,(intercept),${label},${numberText(model.intercepts[vector])}\r\n`;
    for (const { column, weight } of nonzeroEntries(model, vector)) {
      const name = textCell(model.featureNames?.[column] ?? '');
      yield `${column + 1},${name},${label},${weight}\r\n`;
    }
  }
}

/** What begins a formula; spreadsheets take the wide characters for the narrow ones. */
const formula = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

const plainNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** With an apostrophe in front of what a spreadsheet would take for a formula. */
export function asText(name: string): string {
  return formula.test(name) && !plainNumber.test(name) ? `'${name}` : name;
}

/** A cell of CSV. */
export function textCell(name: string): string {
  const text = asText(name);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
