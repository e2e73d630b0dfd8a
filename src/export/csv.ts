import { classOf, nonzeroEntries, numberText } from '../model/export/tables.ts';
import type { Model } from '../model/model.ts';
import { vectorCount } from '../model/model.ts';

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
