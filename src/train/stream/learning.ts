import type { Label } from '../../data/labels.ts';
import {
  type ByteChunks,
  compressionOf,
  decompress,
  magicLength,
  peekUntil,
} from '../../data/read/byte-blocks.ts';
import { DataError } from '../../errors.ts';
import { CompensatedSum } from '../../math/vectors.ts';
import type { Certificate, Model } from '../../model/model.ts';
import { meanOfScore } from '../../problem/losses/loss.ts';
import type { Penalty } from '../../problem/penalties/index.ts';
import { lossReference } from '../assemble.ts';
import { pick } from '../options/option.ts';
import { type LearnerSettings, OnlineLearner } from './learner.ts';
import {
  BinaryLabels,
  CancellableIterator,
  type RowBlock,
  RowStream,
  type StreamOptions,
  withName,
} from './row-stream.ts';

/** How well rows were predicted before they were learned. */
export interface ProgressiveReport {
  readonly rows: number;
  /** Mean loss of all rows so far, and of those since the last report; rows count by weight. */
  readonly loss: number;
  readonly recentLoss: number;
  /** The share of rows whose class was not predicted; in regression the mean squared error. */
  readonly error: number;
  readonly recentError: number;
}

/** Losses and errors of rows, by their weights. */
class WeightedSums {
  readonly #loss = new CompensatedSum();
  readonly #error = new CompensatedSum();
  #weight = 0;

  add(loss: number, error: number, weight: number): void {
    this.#loss.add(weight * loss);
    this.#error.add(weight * error);
    this.#weight += weight;
  }

  get means(): { loss: number; error: number } {
    const mean = ({ total }: CompensatedSum) => (this.#weight > 0 ? total / this.#weight : 0);
    return { loss: mean(this.#loss), error: mean(this.#error) };
  }
}

export interface ProgressiveOptions extends LearnerSettings {
  readonly penalty: Penalty;
  /** Of two classes the positive one; default: by their names, else the rarer of the first rows. */
  readonly positive?: Label;
  readonly reading: StreamOptions;
  /** Rows between two reports; default: after 1, 2, 4, 8 … rows. */
  readonly reportEvery?: number;
  /** Rows or seconds after which the model is passed on, also while no rows come. */
  readonly snapshot: { readonly rows?: number; readonly seconds?: number };
  readonly onReport: (report: ProgressiveReport) => void;
  readonly onNotice: (message: string) => void;
  readonly onSnapshot: (model: Model) => Promise<void>;
  /** Ends the stream here; what has been learned becomes the model. */
  readonly signal?: AbortSignal;
}

/** Rows that were not stored prove nothing. */
const noCertificate: Certificate = {
  primal: Infinity,
  dual: -Infinity,
  gap: Infinity,
  relativeGap: Infinity,
  epochs: 1,
  stopped: 'stream',
};

/** A model in training, and how well it predicted each row before it learned from it. */
class StreamTraining {
  readonly #name: string;
  readonly #options: ProgressiveOptions;
  readonly stream: RowStream;
  readonly #learner: OnlineLearner;
  readonly #all = new WeightedSums();
  #recent = new WeightedSums();
  /** Rows after which the next report is due. */
  #next: number;
  readonly #pair: BinaryLabels;
  #nonzeros = 0;
  #last: ProgressiveReport | undefined;

  constructor(name: string, options: ProgressiveOptions) {
    this.#name = name;
    this.#options = options;
    this.stream = new RowStream(name, options.reading, options.onNotice);
    this.#learner = new OnlineLearner(options);
    this.#pair = new BinaryLabels(options.positive);
    this.#next = options.reportEvery ?? 1;
  }

  get rows(): number {
    return this.#learner.rows;
  }

  /** Learns row by row, and yields after each how many there have been. */
  *learn(block: RowBlock): Generator<number> {
    const { rowOffsets, labels, indices, values, weights, labelTexts } = block;
    for (let row = 0; row < labels.length; row += 1) {
      const known = this.#pair.count;
      const label = labelTexts ? labelTexts[labels[row]] : labels[row];
      const weight = weights ? weights[row] : 1;
      const [from, to] = [rowOffsets[row], rowOffsets[row + 1]];
      const { target, score } = withName(this.#name, () => {
        const signed = this.#targetOf(label);
        const entry = { indices, values, from, to, target: signed, weight };
        return { target: signed, score: this.#learner.learn(entry) };
      });
      this.#nonzeros += to - from;
      const { loss } = this.#options;
      const value = loss.value(score, target, loss.parameter);
      const error = this.#errorOf(score, target, known);
      for (const sums of [this.#all, this.#recent]) sums.add(value, error, weight);
      if (this.rows === this.#next) this.#report();
      yield this.rows;
    }
  }

  /** Whether enough has been seen for a model: two classes, or a row. */
  get canBeModel(): boolean {
    if (this.rows === 0) return false;
    return this.#options.loss.task === 'regression' || this.#pair.count === 2;
  }

  /** The model of the rows so far. */
  model(): Model {
    if (this.rows === 0) throw new DataError(`${this.#name}: no rows; expected at least one`);
    if (!this.canBeModel) throw new DataError(`${this.#name}: ${this.#pair.problem}`);
    const { loss, penalty, lambda } = this.#options;
    const isClassifier = loss.task === 'classification';
    const { featureNames, recipe } = this.stream;
    const columns = Math.max(this.stream.columns, this.#learner.columns);
    const weights = this.#learner.weights(columns);
    const intercepts = Float64Array.of(this.#learner.intercept);
    // The class that came first was +1; losses of classes do not change under a change of both signs.
    const reversed = isClassifier && this.#pair.isReversed;
    const turned = (values: Float64Array) => (reversed ? values.map((value) => 0 - value) : values);
    return {
      task: loss.task,
      loss: lossReference(loss),
      penalty: pick(penalty, 'name', 'l1', 'l2'),
      lambda,
      ...(isClassifier && { classes: this.#pair.classes }),
      columns,
      rows: this.rows,
      nonzeros: this.#nonzeros,
      solver: 'sgd',
      grid: 1,
      seed: 1,
      certificate: noCertificate,
      ...(recipe && { recipe }),
      weights: turned(weights),
      intercepts: turned(intercepts),
      ...(featureNames && { featureNames: [...featureNames] }),
    };
  }

  /** The last report, or a further one if rows have come since. */
  report(): ProgressiveReport {
    return this.#last?.rows === this.rows ? this.#last : this.#report();
  }

  /** All that is known; what follows counts as recent in the next report. */
  #report(): ProgressiveReport {
    const { rows } = this;
    const { loss, error } = this.#all.means;
    const { loss: recentLoss, error: recentError } = this.#recent.means;
    this.#recent = new WeightedSums();
    if (rows === this.#next) this.#next += this.#options.reportEvery ?? rows;
    this.#last = { rows, loss, recentLoss, error, recentError };
    this.#options.onReport(this.#last);
    return this.#last;
  }

  /**
   * The squared error, or whether a model would predict the other class: a score above 0 is the
   * positive class. `known` classes were known when the row came; a single one is predicted always.
   */
  #errorOf(score: number, target: number, known: number): number {
    const { loss } = this.#options;
    if (loss.task === 'regression') return (meanOfScore(loss.link, score) - target) ** 2;
    if (known < 2) return Number(known === 0 || target < 0);
    const sign = this.#pair.isReversed ? -1 : 1;
    return Number(sign * score > 0 !== sign * target > 0);
  }

  #targetOf(label: Label): number {
    const { loss } = this.#options;
    const row = this.rows + 1;
    if (label === '' || Number.isNaN(label)) throw new DataError(`row ${row} has no label`);
    if (loss.task === 'classification') return this.#pair.targetOf(label, row);
    const target = Number(label);
    const wanted = loss.labels?.wanted ?? 'a number';
    if (Number.isFinite(target) && (loss.labels?.accepts(target) ?? true)) return target;
    throw new DataError(`row ${row} has label ${label}; the ${loss.name} loss needs ${wanted}`);
  }
}

/**
 * Learns from rows as they come, each predicted before it is learned, and passes on the model from
 * time to time. Rows are not stored, so nothing is proved about the model.
 */
export async function learnStream(
  source: ByteChunks,
  name: string,
  options: ProgressiveOptions,
): Promise<{ readonly model: Model; readonly report: ProgressiveReport }> {
  const { snapshot, onSnapshot, signal } = options;
  const learning = new StreamTraining(name, options);
  const blocks = learning.stream.blocks(plainChunks(source, name));
  const arrivals = new CancellableIterator(blocks, signal);
  const period = 1000 * (snapshot.seconds ?? Infinity);
  let due = performance.now() + period;
  let saved = 0;
  const save = async () => {
    due = performance.now() + period;
    saved = learning.rows;
    if (learning.canBeModel) await onSnapshot(learning.model());
  };
  for (;;) {
    const isAhead = learning.rows > saved;
    const block = await arrivals.next(isAhead ? Math.max(0, due - performance.now()) : Infinity);
    if (block === 'end') break;
    if (block !== 'late') {
      for (const rows of learning.learn(block)) {
        if (snapshot.rows !== undefined && rows % snapshot.rows === 0) await save();
      }
    }
    if (learning.rows > saved && performance.now() >= due) await save();
  }
  return { model: learning.model(), report: learning.report() };
}

async function* plainChunks(source: ByteChunks, name: string): ByteChunks {
  const { head, chunks } = await peekUntil(source, ({ length }) => length >= magicLength);
  yield* decompress(chunks, compressionOf(head, head.length > 0 ? name : ''), name);
}
