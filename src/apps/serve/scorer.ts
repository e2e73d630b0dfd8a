import packageDescription from '../../../package.json' with { type: 'json' };
import { type Label, type Model, vectorCount } from '../../model/model.ts';
import {
  becomeProbabilities,
  givesProbabilities,
  isPositive,
  labelAt,
  meanOf,
} from '../../model/predict/predict.ts';
import { Predictor, type PredictorOptions } from '../../model/predict/predictor.ts';
import type { LoadedModel } from './model-reloader.ts';
import { rowOf } from './rows.ts';

/**
 * Answers rows with the text that `dso predict --json` prints for them, to the last digit, and
 * with `warnings` where the model could not use all of the row. A row is
 * read and scored once; label and probabilities are made of its scores.
 */
export class Scorer {
  readonly #model: Model;
  readonly #predictor: Predictor;
  readonly #scores: Float64Array;
  /** Keys of JSON objects, by class. */
  readonly #keys: readonly string[];
  readonly #probable: boolean;
  /** Whether two classes share one vector. */
  readonly #shared: boolean;

  constructor(model: Model, options?: PredictorOptions) {
    this.#model = model;
    this.#predictor = new Predictor(model, options);
    this.#scores = new Float64Array(vectorCount(model));
    this.#keys = (model.classes ?? []).map((label) => `${JSON.stringify(String(label))}:`);
    this.#probable = givesProbabilities(model);
    this.#shared = this.#scores.length === 1 && !model.multiLabel;
  }

  /** The answer to a row of JSON; throws a DataError that says what is wrong with the row. */
  answer(row: unknown): string {
    const scores = this.#scores;
    scores.set(this.#predictor.scores(rowOf(row)));
    const text = this.#answerText();
    const { warnings } = this.#predictor;
    if (warnings.length === 0) return text;
    return `${text.slice(0, -1)},"warnings":${JSON.stringify(warnings)}}`;
  }

  #answerText(): string {
    const scores = this.#scores;
    const { classes } = this.#model;
    if (classes === undefined) return this.#valueText(scores[0]);
    const text = this.#classText(classes, scores);
    if (!this.#probable) return `${text}}`;
    becomeProbabilities(this.#model, scores);
    if (!this.#shared) return `${text},"probabilities":${this.#byClass(scores)}}`;
    const [negative, positive] = this.#keys;
    const [probability] = scores;
    return `${text},"probabilities":{${negative}${1 - probability},${positive}${probability}}}`;
  }

  /** Also the score of a regression, where that is not the value. */
  #valueText(score: number): string {
    const value = meanOf(this.#model, score);
    return value === score ? `{"label":${value}}` : `{"label":${value},"score":${score}}`;
  }

  #classText(classes: readonly Label[], scores: Float64Array): string {
    if (this.#model.multiLabel) {
      const own = classes.filter((_, index) => isPositive(scores[index]));
      return `{"labels":${JSON.stringify(own)},"scores":${this.#byClass(scores)}`;
    }
    const label = JSON.stringify(labelAt(this.#model, classes, scores, 0));
    return this.#shared
      ? `{"label":${label},"score":${scores[0]}`
      : `{"label":${label},"scores":${this.#byClass(scores)}`;
  }

  /** Written by hand: an object would put classes that are whole numbers first. */
  #byClass(values: Float64Array): string {
    let text = '';
    for (let index = 0; index < values.length; index++) {
      text += `${index === 0 ? '{' : ','}${this.#keys[index]}${values[index]}`;
    }
    return `${text}}`;
  }
}

/** For probes: that there is a model, and which. */
export function healthOf(name: string, { model, version, loadedAt }: LoadedModel): object {
  return {
    status: 'ok',
    model: name,
    version,
    loadedAt: loadedAt.toISOString(),
    gap: model.certificate.gap,
    relativeGap: model.certificate.relativeGap,
    dso: packageDescription.version,
  };
}

/**
 * Everything about the model but its numbers: no weights, names of features or points of a
 * calibration. A custom loss is named without its file.
 */
export function descriptionOf(name: string, { model, version, loadedAt }: LoadedModel): object {
  const { weights: _, intercepts: _biases, featureNames, loss, calibration, ...rest } = model;
  return {
    model: name,
    version,
    loadedAt: loadedAt.toISOString(),
    ...rest,
    loss: { name: loss.name, parameter: loss.parameter },
    named: featureNames !== undefined || rest.recipe?.hashBits !== undefined,
    ...(calibration && { calibration: calibration.map(({ method }) => method) }),
  };
}

/** Most fields of an example. */
const exampleFields = 8;

/** An example of a row that the model can score, as JSON. */
export function exampleRow({ model }: LoadedModel): string {
  const { featureNames, recipe } = model;
  const fields = (recipe?.fields ?? []).filter(
    ({ kind }) => kind === 'number' || kind === 'category',
  );
  if (fields.some(({ kind }) => kind === 'number')) {
    const values = fields.slice(0, exampleFields).map(({ name, kind, date }) => {
      if (kind === 'number') return [name, date ? '2024-12-31' : 1] as const;
      const start = `${name}=`;
      const feature = featureNames?.find((one) => one.startsWith(start) && one !== `${start}?`);
      return [name, feature?.slice(start.length) ?? null] as const;
    });
    return JSON.stringify(Object.fromEntries(values));
  }
  if (featureNames?.[0] !== undefined) return JSON.stringify({ [featureNames[0]]: 1 });
  if (recipe?.hashBits !== undefined) return '{"name":1}';
  return '{"indices":[0],"values":[1]}';
}
