import { lossEntry } from '../../problem/losses/index.ts';
import { type Model, vectorCount } from '../model.ts';
import { classOf, nameOf, nonzeroEntries, numberText } from './tables.ts';

/**
 * Text like that of `vw --invert_hash`: a header, then `name:index:weight` for every weight that is
 * not 0; of several classes `name[class]`, numbered from 0. It is for people, and for scripts that
 * read such files: Vowpal Wabbit itself loads only its binary models.
 */
export function* readableModel(model: Model): Generator<string> {
  const { classes } = model;
  const count = vectorCount(model);
  const labels = (classes ?? []).filter((label) => typeof label === 'number');
  yield `Version dso ${oneLine(model.provenance?.version ?? '')}`.trimEnd().concat('\n');
  yield 'Id \n';
  yield `Min label:${labels.length > 0 ? Math.min(...labels) : 0}\n`;
  yield `Max label:${labels.length > 0 ? Math.max(...labels) : 0}\n`;
  yield `bits:${bitsOf(model, count)}\n`;
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

/** Names may hold colons, as they may there: the index and weight are the last two fields. */
function oneLine(name: string): string {
  return name.replace(/[\r\n]/g, ' ');
}

/** Bits that number all weights and constants. */
function bitsOf({ columns }: Model, count: number): number {
  let bits = 0;
  while (2 ** bits < (columns + 1) * count) bits++;
  return bits;
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
 * a quote, comma or line end stands in quotes. A class begins with its intercept.
 */
export function* csvTable(model: Model): Generator<string> {
  yield 'feature,name,class,weight\r\n';
  for (let vector = 0; vector < vectorCount(model); vector++) {
    const label = quoted(String(classOf(model, vector) ?? ''));
    yield `,(intercept),${label},${numberText(model.intercepts[vector])}\r\n`;
    for (const { column, weight } of nonzeroEntries(model, vector)) {
      const name = quoted(model.featureNames?.[column] ?? '');
      yield `${column + 1},${name},${label},${weight}\r\n`;
    }
  }
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
