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
import { type LearnerSettings, OnlineLearner } from './learner.ts';
import {
  BinaryLabels,
  CancellableIterator,
  type RowBlock,
  RowStream,
  type StreamOptions,
} from './row-stream.ts';

/** How well rows were predicted before they were learned. */
export interface ProgressiveReport {
  readonly rows: number;
  /** Mean loss of all rows so far, and of those since the last report; rows count by weight. */
  readonly loss: number;
  readonly recentLoss: number;
  /**
   * Classification: the share of rows whose class was not predicted. Regression: the mean squared
   * error.
   */
  readonly error: number;
  readonly recentError: number;
}

/** Adds up losses and errors, and tells when to report: after 1, 2, 4, 8 … rows or at intervals. */
export class ProgressiveSums {
  readonly #every: number | undefined;
  readonly #all = { loss: new CompensatedSum(), error: new CompensatedSum(), mass: 0 };
  #recent = freshSums();
  #rows = 0;
  #reported = 0;
  #next: number;

  constructor(every?: number) {
    this.#every = every;
    this.#next = every ?? 1;
  }

  /** Whether a report is due after this row. */
  add(loss: number, error: number, weight: number): boolean {
    for (const sums of [this.#all, this.#recent]) {
      sums.loss.add(weight * loss);
      sums.error.add(weight * error);
      sums.mass += weight;
    }
    this.#rows += 1;
    return this.#rows === this.#next;
  }

  /** Whether rows have come since the last report. */
  get hasNews(): boolean {
    return this.#rows > this.#reported;
  }

  /** All that is known; what follows counts as recent in the next report. */
  report(): ProgressiveReport {
    const mean = (sum: CompensatedSum, mass: number) => (mass > 0 ? sum.total / mass : 0);
    const [all, recent] = [this.#all, this.#recent];
    this.#recent = freshSums();
    this.#reported = this.#rows;
    if (this.#rows === this.#next) this.#next += this.#every ?? this.#next;
    return {
      rows: this.#rows,
      loss: mean(all.loss, all.mass),
      recentLoss: mean(recent.loss, recent.mass),
      error: mean(all.error, all.mass),
      recentError: mean(recent.error, recent.mass),
    };
  }
}

function freshSums() {
  return { loss: new CompensatedSum(), error: new CompensatedSum(), mass: 0 };
}

export interface StreamTrainingOptions extends LearnerSettings {
  readonly penalty: Penalty;
  readonly reading: StreamOptions;
  /** Reports come after so many rows each time; default: after 1, 2, 4, 8 … rows. */
  readonly reportEvery?: number;
  readonly onReport: (report: ProgressiveReport) => void;
  readonly onNotice: (message: string) => void;
}

/** Rows that were not kept prove nothing. */
const noCertificate: Certificate = {
  primal: Infinity,
  dual: -Infinity,
  gap: Infinity,
  relativeGap: Infinity,
  epochs: 1,
  stopped: 'stream',
};

/** A model on its way, and how well it has predicted what it then learned. */
export class StreamTraining {
  readonly #name: string;
  readonly #options: StreamTrainingOptions;
  readonly #stream: RowStream;
  readonly #learner: OnlineLearner;
  readonly #sums: ProgressiveSums;
  readonly #pair = new BinaryLabels();
  #nonzeros = 0;
  #last: ProgressiveReport | undefined;

  constructor(name: string, options: StreamTrainingOptions) {
    this.#name = name;
    this.#options = options;
    this.#stream = new RowStream(name, options.reading);
    this.#learner = new OnlineLearner(options);
    this.#sums = new ProgressiveSums(options.reportEvery);
  }

  get rows(): number {
    return this.#learner.rows;
  }

  async *blocks(chunks: ByteChunks): AsyncGenerator<RowBlock> {
    for await (const block of this.#stream.blocks(chunks)) {
      for (const notice of this.#stream.notices.splice(0)) this.#options.onNotice(notice);
      yield block;
    }
  }

  /** Learns row by row, and says after each how many there have been. */
  *learn(block: RowBlock): Generator<number> {
    const { rowOffsets, labels, indices, values, weights } = block;
    for (let row = 0; row < labels.length; row += 1) {
      const known = this.#pair.count;
      const target = this.#explained(() => this.#targetOf(labelOf(block, row)));
      const weight = weights ? weights[row] : 1;
      const [from, to] = [rowOffsets[row], rowOffsets[row + 1]];
      const entry = { indices, values, from, to, target, weight };
      const score = this.#explained(() => this.#learner.learn(entry));
      this.#nonzeros += to - from;
      if (this.#note(score, target, weight, known)) this.#tell();
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
    if (!this.canBeModel) throw new DataError(`${this.#name}: ${this.#pair.complaint}`);
    const { loss, penalty, lambda } = this.#options;
    const isClassifier = loss.task === 'classification';
    const { featureNames, recipe } = this.#stream;
    const columns = Math.max(this.#stream.columns, this.#learner.columns);
    const weights = this.#learner.weights(columns);
    const intercepts = Float64Array.of(this.#learner.intercept);
    // The class that came first was +1; losses of classes do not change under a change of both signs.
    const reversed = isClassifier && this.#pair.isReversed;
    const turned = (values: Float64Array) => (reversed ? values.map((value) => 0 - value) : values);
    return {
      task: loss.task,
      loss: lossReference(loss),
      penalty: { name: penalty.name, l1: penalty.l1, l2: penalty.l2 },
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

  /** How it went until now; told once more if there is something new. */
  report(): ProgressiveReport {
    if (this.#sums.hasNews || !this.#last) this.#tell();
    return this.#last as ProgressiveReport;
  }

  #tell(): void {
    this.#last = this.#sums.report();
    this.#options.onReport(this.#last);
  }

  /** Whether it is time to report; `known` classes were known when the row came. */
  #note(score: number, target: number, weight: number, known: number): boolean {
    const { loss } = this.#options;
    const value = loss.value(score, target, loss.parameter);
    const error =
      loss.task === 'classification'
        ? Number(this.#isWrong(score, target, known))
        : (meanOfScore(loss.link, score) - target) ** 2;
    return this.#sums.add(value, error, weight);
  }

  /** What a model says: a score above 0 is the positive class. Of one known class there is no doubt. */
  #isWrong(score: number, target: number, known: number): boolean {
    if (known < 2) return known === 0 || target < 0;
    const sign = this.#pair.isReversed ? -1 : 1;
    return sign * score > 0 !== sign * target > 0;
  }

  #targetOf(label: Label): number {
    const { loss } = this.#options;
    const row = this.rows + 1;
    if (label === '' || Number.isNaN(label)) throw new DataError(`row ${row} has no label`);
    if (loss.task === 'classification') return this.#pair.targetOf(label, row);
    const target = Number(label);
    const wanted = loss.labels?.wanted ?? 'a number';
    if (Number.isFinite(target) && (loss.labels?.accepts(target) ?? true)) return target;
    throw new DataError(`row ${row} has label ${label}; the ${loss.name} loss wants ${wanted}`);
  }

  /** Faults of rows come without the name of the stream. */
  #explained<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof DataError)) throw error;
      throw new DataError(`${this.#name}: ${error.message}`, { cause: error });
    }
  }
}

function labelOf({ labels, labelTexts }: RowBlock, row: number): Label {
  return labelTexts ? labelTexts[labels[row]] : labels[row];
}

export interface ProgressiveOptions extends StreamTrainingOptions {
  /**
   * When the model is handed on: after so many rows, or seconds, each time, also while no rows come.
   * It may be both.
   */
  readonly snapshot: { readonly rows?: number; readonly seconds?: number };
  readonly onSnapshot: (model: Model) => Promise<void>;
  /** Ends the stream here; what has been learned becomes the model. */
  readonly signal?: AbortSignal;
}

export interface ProgressiveResult {
  readonly model: Model;
  readonly report: ProgressiveReport;
}

/**
 * Learns from rows as they come, each predicted before it is learned, and hands on the model from
 * time to time. Rows are not kept, so nothing is proved about the model.
 */
export async function learnStream(
  source: ByteChunks,
  name: string,
  options: ProgressiveOptions,
): Promise<ProgressiveResult> {
  const { snapshot, onSnapshot, signal } = options;
  const learning = new StreamTraining(name, options);
  const arrivals = new CancellableIterator(learning.blocks(plainChunks(source, name)), signal);
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
