import type { Dataset } from '../../data/dataset.ts';
import { asText } from '../../model/export/text.ts';
import type { Label, Model } from '../../model/model.ts';
import {
  becomeProbabilities,
  givesProbabilities,
  isPositive,
  labelAt,
  meansOf,
  type PredictionOutput,
  predict,
} from '../../model/predict/predict.ts';
import { scoreBlocks } from '../../model/predict/score.ts';
import { lineText } from '../format.ts';
import { sharesVector } from './model.ts';

/** How many labels are written at a time. */
const linesPerWrite = 4096;

/** The names of the columns of `predictionLines`, separated by tabs. */
export function headerLine(model: Model, output: PredictionOutput): string {
  if (output === 'labels') return 'label\n';
  if (sharesVector(model)) return output === 'scores' ? 'score\n' : 'probability\n';
  const cellOf = (label: Label) => lineText(typeof label === 'string' ? asText(label) : label);
  return `${model.classes!.map(cellOf).join('\t')}\n`;
}

/** A line for each row; numbers read back as the same, those of several classes have tabs between. */
export function* predictionLines(model: Model, dataset: Dataset, output: PredictionOutput) {
  if (output === 'labels') {
    yield* labelLines(predict(model, dataset));
    return;
  }
  const vectors = model.intercepts.length;
  for (const { rows, scores } of scoreBlocks(model, dataset)) {
    if (output === 'probabilities') becomeProbabilities(model, scores);
    let text = '';
    for (let row = 0; row < rows; row++) {
      text += `${scores.subarray(row * vectors, (row + 1) * vectors).join('\t')}\n`;
    }
    yield text;
  }
}

function* labelLines(labels: Float64Array | readonly string[]): Generator<string> {
  for (let start = 0; start < labels.length; start += linesPerWrite) {
    const some = labels.slice(start, start + linesPerWrite);
    yield `${some instanceof Float64Array ? some.join('\n') : some.map(lineText).join('\n')}\n`;
  }
}

/** An object of JSON for each row. */
export function* predictionObjects(model: Model, dataset: Dataset): Generator<string> {
  const vectors = model.intercepts.length;
  const probable = givesProbabilities(model);
  for (const { firstRow, rows, scores } of scoreBlocks(model, dataset)) {
    const values = model.classes ? scores : meansOf(model, scores, dataset.name, firstRow);
    const probabilities = scores.slice();
    if (probable) becomeProbabilities(model, probabilities);
    let text = '';
    for (let row = 0; row < rows; row++) {
      const [start, end] = [row * vectors, (row + 1) * vectors];
      const parts = model.classes
        ? classParts(model, model.classes, scores.subarray(start, end))
        : valueParts(values[row], scores[row]);
      if (probable) {
        const own = probabilities.subarray(start, end);
        // Of two classes the negative one has the rest.
        const whole = sharesVector(model) ? Float64Array.of(1 - own[0], own[0]) : own;
        parts.push(`"probabilities":${byClass(model.classes!, whole)}`);
      }
      text += `{${parts.join(',')}}\n`;
    }
    yield text;
  }
}

/** Also the score of a regression, where that is not the value. */
function valueParts(value: number, score: number): string[] {
  return value === score ? [`"label":${value}`] : [`"label":${value}`, `"score":${score}`];
}

function classParts(model: Model, classes: readonly Label[], scores: Float64Array): string[] {
  const own = model.multiLabel
    ? `"labels":${JSON.stringify(classes.filter((_, index) => isPositive(scores[index])))}`
    : `"label":${JSON.stringify(labelAt(model, classes, scores, 0))}`;
  return sharesVector(model)
    ? [own, `"score":${scores[0]}`]
    : [own, `"scores":${byClass(classes, scores)}`];
}

/** Written by hand: an object would put classes that are whole numbers first. */
function byClass(classes: readonly Label[], values: Float64Array): string {
  const parts = classes.map((label, index) => `${JSON.stringify(String(label))}:${values[index]}`);
  return `{${parts.join(',')}}`;
}
