import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import picocolors from 'picocolors';
import { openDataset } from '../../src/data/binary/stored.ts';
import { type Dataset, sharedPart } from '../../src/data/dataset.ts';
import { readDataset } from '../../src/data/read/read.ts';
import { unseen } from '../../src/errors.ts';
import type { Random } from '../../src/math/random.ts';
import { decodeModel, encodeModel } from '../../src/model/file.ts';
import { type Model, vectorCount } from '../../src/model/model.ts';
import { Predictor } from '../../src/model/predict/predictor.ts';
import {
  describeAllFeatures,
  describeClasses,
  describeFeatures,
  describeModel,
  sharesVector,
} from '../../src/reporting/text/model.ts';
import {
  checkDataset,
  contentOf,
  difference,
  Fault,
  messageOf,
  type Read,
  readInMemory,
  readOrMessage,
} from './datasets.ts';
import { type DsobSeed, dsobSeeds, forgedDsob } from './dsob-files.ts';
import { minimize } from './minimize.ts';
import { forgedModel, modelSeeds } from './model-files.ts';
import { type Attack, Counts, type Failure, type Target } from './target.ts';

/** Where columns are no more than this, everything of a model or data is used. */
const mostNumbers = 1 << 20;
/** More memory than before, in kilobytes. */
const mostGrowth = 1 << 19;

type Kind = 'model' | 'dsob';
type Outcome = 'accepted' | 'refused';

/** An answer, or a message for the user. */
function orMessage<Result>(use: () => Result): Result | undefined {
  try {
    return use();
  } catch (error) {
    messageOf(error);
    return undefined;
  }
}

function checkLines(text: string): void {
  for (const line of text.split('\n')) {
    if (unseen.test(line)) throw new Fault('control characters in a text', JSON.stringify(line));
  }
}

function checkNumbers(numbers: ArrayLike<number>, what: string): void {
  for (let at = 0; at < numbers.length; at += 1) {
    if (!Number.isFinite(numbers[at]))
      throw new Fault(`${what} is not finite`, `${what} ${numbers[at]}`);
  }
}

/** A model that is accepted works like any other. */
function useModel(model: Model): void {
  const { columns, weights, intercepts } = model;
  checkNumbers(intercepts, 'an intercept');
  if (weights.length > mostNumbers) return;
  checkNumbers(weights, 'a weight');
  const options = { top: 5, names: model.featureNames ?? [], firstFeature: 1 };
  checkLines(describeModel(model));
  if (sharesVector(model)) {
    checkLines(describeFeatures(model, undefined, options, picocolors.createColors(false)));
  } else checkLines(`${describeClasses(model)}\n${describeAllFeatures(model, options)}`);
  const predictor = new Predictor(model);
  const row = { indices: [0, 2, columns], values: [1, -2, 3] };
  const scores = orMessage(() => predictor.scores(row));
  if (scores) {
    checkNumbers(scores, 'a score');
    if (scores.length !== vectorCount(model)) throw new Fault('another number of scores');
    const label = orMessage(() => predictor.predict(row));
    if (label !== undefined && typeof label === 'number' && Number.isNaN(label)) {
      throw new Fault('a prediction is NaN');
    }
    if (predictor.givesProbabilities) {
      const found = predictor.probabilities(row);
      if (!found.every((one) => one >= 0 && one <= 1))
        throw new Fault('a probability', found.join());
    }
  }
  orMessage(() => predictor.scores({ legs: 2, colour: 'red', label: null }));
  const bytes = encodeModel(model);
  const again = encodeModel(decodeModel(bytes, 'again.model'));
  if (!Buffer.from(bytes).equals(again)) throw new Fault('written again it has other bytes');
}

/** How many entries each column has. */
function countsOf({ parts, columns }: Dataset): Int32Array {
  const counts = new Int32Array(columns);
  for (const { indices } of parts) for (const column of indices) counts[column] += 1;
  return counts;
}

class ModelAttack implements Attack {
  readonly counts = new Counts();
  readonly #folder: string;
  readonly #models = modelSeeds();
  readonly #data: readonly DsobSeed[];
  #files = 0;

  constructor(folder: string, data: readonly DsobSeed[]) {
    this.#folder = folder;
    this.#data = data;
  }

  async attempt(random: Random): Promise<Failure | undefined> {
    const kind = random.below(2) === 0 ? 'model' : 'dsob';
    const bytes =
      kind === 'model' ? forgedModel(random, this.#models) : forgedDsob(random, this.#data);
    const fault = await this.#faultOf(kind, bytes, true);
    return fault && this.#failure(fault, kind, bytes);
  }

  async #faultOf(kind: Kind, bytes: Uint8Array, counted = false): Promise<Fault | undefined> {
    const before = process.resourceUsage().maxRSS;
    try {
      const outcome = kind === 'model' ? this.#tryModel(bytes) : await this.#tryData(bytes);
      const growth = process.resourceUsage().maxRSS - before;
      if (growth > mostGrowth) throw new Fault('memory', `${growth >> 10} MB more memory`);
      if (counted) this.counts.add(`${kind} ${outcome}`);
      return undefined;
    } catch (error) {
      if (error instanceof Fault) return error;
      const { name, message, stack = '' } = error as Error;
      return new Fault(`${name} ${message.replaceAll(/\d+/g, 'N')}`, stack);
    }
  }

  #tryModel(bytes: Uint8Array): Outcome {
    const model = orMessage(() => decodeModel(bytes, 'input.model'));
    if (!model) return 'refused';
    useModel(model);
    if (this.#models.includes(bytes) && !Buffer.from(encodeModel(model)).equals(bytes)) {
      throw new Fault('a valid model is read as another one');
    }
    return 'accepted';
  }

  async #tryData(bytes: Uint8Array): Promise<Outcome> {
    const path = join(this.#folder, 'input.dsob');
    writeFileSync(path, bytes);
    const read = await readOrMessage(() => readDataset(path));
    const streamed = await readOrMessage(() => readInMemory(bytes, path, {}, [1000, 7]));
    this.#compare(path, read, streamed);
    if ('dataset' in read) {
      checkDataset(read.dataset, false);
      if (read.dataset.columns <= mostNumbers) this.#useStored(path, read.dataset);
      return 'accepted';
    }
    if (!read.message.startsWith(path)) throw new Fault('a message without the file', read.message);
    // What is wrong with it may be in bytes that are not read.
    orMessage(() => openDataset(path));
    return 'refused';
  }

  #compare(path: string, read: Read, streamed: Read): void {
    if ('message' in read && 'message' in streamed) return;
    const [one, other] = [read, streamed].map((found) =>
      'dataset' in found ? contentOf(found.dataset) : found.message,
    );
    if (one !== other)
      throw new Fault('a stream is read as another one', `${path}: ${difference(one, other)}`);
  }

  /** What is left on disk is the same data. */
  #useStored(path: string, dataset: Dataset): void {
    const { stored, ...opened } = openDataset(path);
    const scanned = orMessage(() => Array.from(stored!.scan(), (part) => sharedPart(part)));
    const counts = orMessage(() => stored!.countColumns(dataset.columns));
    // Only what is left on disk needs the counts.
    if (!scanned || !counts) return;
    if (!Buffer.from(counts.buffer).equals(Buffer.from(countsOf(dataset).buffer))) {
      throw new Fault('other counts of columns than there are');
    }
    const [one, other] = [contentOf(dataset), contentOf({ ...opened, parts: scanned })];
    if (one !== other) throw new Fault('on disk it is other data', difference(one, other));
  }

  async #failure(fault: Fault, kind: Kind, bytes: Uint8Array): Promise<Failure> {
    const smallest =
      fault.kind === 'memory'
        ? bytes
        : await minimize(
            bytes,
            async (one) => (await this.#faultOf(kind, one))?.kind === fault.kind,
          );
    const path = join(this.#folder, `${this.#files++}.${kind}`);
    writeFileSync(path, smallest);
    const command = kind === 'model' ? `dso inspect ${path}` : `dso describe ${path}`;
    return { what: fault.message, command };
  }
}

export const model: Target = {
  summary: 'model files and .dsob files that are forged, with the right checksums',
  quick: 2000,
  mostSeconds: 60,
  open: async (folder) => new ModelAttack(folder, await dsobSeeds()),
};
