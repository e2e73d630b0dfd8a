import { UsageError } from '../../errors.ts';
import { traitsOf } from '../../problem/losses/loss.ts';
import { type Label, type Model, vectorCount } from '../model.ts';
import { givesProbabilities } from '../predict/predict.ts';
import { nameOf, nonzeroEntries } from './text.ts';

/**
 * PMML 4.4, a RegressionModel. Every column is a field of numbers that counts as 0 where it is
 * missing. Scores are normalised by a function that keeps their order, so the class is ours for any
 * loss; probabilities are among the outputs only where the loss gives them.
 */
export function* pmmlDocument(model: Model): Generator<string> {
  if (model.unitRows) {
    throw new UsageError(
      '--to pmml: rows of this model are divided by their length, which a RegressionModel cannot do',
    );
  }
  if (model.multiLabel) {
    throw new UsageError('--to pmml: a RegressionModel gives one class, not several labels');
  }
  const names = Array.from({ length: model.columns }, (_, column) =>
    writable(nameOf(model, column)),
  );
  const labels = model.classes?.map((label) => writable(String(label))) ?? [];
  if (names.includes('')) {
    throw new UsageError('--to pmml: a feature without a name; PMML needs distinct names');
  }
  checkDistinct('features', names);
  checkDistinct('classes', labels);
  const target = freeName('label', new Set(names));
  yield '<?xml version="1.0" encoding="UTF-8"?>\n';
  yield '<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">\n';
  yield `  <Header description=${attribute(describe(model))}>\n`;
  const version = model.provenance && ` version=${attribute(model.provenance.version)}`;
  yield `    <Application name="dso"${version ?? ''}/>\n  </Header>\n`;
  yield* dataDictionary(model, names, target);
  yield* regressionModel(model, names, target);
  yield '</PMML>\n';
}

/** Two texts may differ only in what XML cannot write. */
function checkDistinct(what: string, texts: readonly string[]): void {
  const seen = new Set<string>();
  for (const text of texts) {
    if (seen.has(text)) {
      throw new UsageError(
        `--to pmml: two ${what} ${JSON.stringify(text)}, as XML can write them; ` +
          'PMML needs distinct names',
      );
    }
    seen.add(text);
  }
}

/** This name, or the next that no field has. */
function freeName(preferred: string, taken: ReadonlySet<string>): string {
  let name = preferred;
  while (taken.has(name)) name += '_';
  return name;
}

function* dataDictionary(
  { classes }: Model,
  names: readonly string[],
  target: string,
): Generator<string> {
  yield `  <DataDictionary numberOfFields="${names.length + 1}">\n`;
  if (classes === undefined) {
    yield `    <DataField name=${attribute(target)} optype="continuous" dataType="double"/>\n`;
  } else {
    const type = dataType(classes);
    yield `    <DataField name=${attribute(target)} optype="categorical" dataType="${type}">\n`;
    for (const label of classes) yield `      <Value value=${attribute(String(label))}/>\n`;
    yield '    </DataField>\n';
  }
  for (const name of names) {
    yield `    <DataField name=${attribute(name)} optype="continuous" dataType="double"/>\n`;
  }
  yield '  </DataDictionary>\n';
}

function dataType(classes: readonly Label[]): string {
  if (classes.some((label) => typeof label === 'string')) return 'string';
  return classes.every((label) => Number.isInteger(label)) ? 'integer' : 'double';
}

function* regressionModel(
  model: Model,
  names: readonly string[],
  target: string,
): Generator<string> {
  const { classes } = model;
  yield `  <RegressionModel modelName="dso" functionName="${model.task}"`;
  yield ` normalizationMethod="${normalizationOf(model)}">\n`;
  yield '    <MiningSchema>\n';
  yield `      <MiningField name=${attribute(target)} usageType="target"/>\n`;
  for (const name of names) {
    yield `      <MiningField name=${attribute(name)} missingValueReplacement="0"/>\n`;
  }
  yield '    </MiningSchema>\n';
  yield* outputs(model, names);
  if (classes === undefined) yield* table(model, names, 0);
  else if (vectorCount(model) > 1) {
    for (const [vector, label] of classes.entries()) yield* table(model, names, vector, label);
  } else {
    yield* table(model, names, 0, classes[1]);
    // What is left to 1 goes to the last table.
    yield `    <RegressionTable intercept="0" targetCategory=${attribute(String(classes[0]))}/>\n`;
  }
  yield '  </RegressionModel>\n';
}

/** Each class for itself where that gives probabilities; large scores would all be 1 that way. */
function normalizationOf(model: Model): string {
  if (model.classes === undefined) return traitsOf(model.loss).link === 'log' ? 'exp' : 'none';
  return vectorCount(model) > 1 && !showsProbabilities(model) ? 'softmax' : 'logit';
}

function showsProbabilities(model: Model): boolean {
  return model.calibration === undefined && givesProbabilities(model);
}

function* outputs(model: Model, names: readonly string[]): Generator<string> {
  const { classes } = model;
  if (classes === undefined || !showsProbabilities(model)) return;
  const taken = new Set(names);
  yield '    <Output>\n';
  for (const label of classes) {
    const value = String(label);
    const name = freeName(writable(`probability(${value})`), taken);
    yield `      <OutputField name=${attribute(name)} optype="continuous"`;
    yield ` dataType="double" feature="probability" value=${attribute(value)}/>\n`;
  }
  yield '    </Output>\n';
}

function* table(
  model: Model,
  names: readonly string[],
  vector: number,
  label?: Label,
): Generator<string> {
  const category = label === undefined ? '' : ` targetCategory=${attribute(String(label))}`;
  yield `    <RegressionTable intercept="${model.intercepts[vector]}"${category}>\n`;
  for (const { column, weight } of nonzeroEntries(model, vector)) {
    yield `      <NumericPredictor name=${attribute(names[column])} coefficient="${weight}"/>\n`;
  }
  yield '    </RegressionTable>\n';
}

function describe({ loss, penalty, lambda, certificate }: Model): string {
  return (
    `loss ${loss.name}, penalty ${penalty.name}, lambda ${lambda}, ` +
    `relative duality gap ${certificate.relativeGap}`
  );
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/** What XML has no way to write: other control characters, and the two non-characters. */
const unwritable = /[^\t\n\r\u0020-\ufffd]/g;

/** The text with the replacement character for what XML cannot write. */
function writable(text: string): string {
  return Array.from(text.toWellFormed(), (character) =>
    character.length === 1 ? character.replace(unwritable, '\ufffd') : character,
  ).join('');
}

/** A quoted value of an attribute. */
function attribute(text: string): string {
  const escaped = writable(text).replace(/[&<>"\t\n\r]/g, (character) => escapes[character]);
  return `"${escaped}"`;
}
