import type { Label } from '../../data/labels.ts';
import type { ByteChunks } from '../../data/read/byte-blocks.ts';
import { DataError } from '../../errors.ts';
import { meanOfScore } from '../../losses/link.ts';
import type { Certificate, Model } from '../../model/model.ts';
import { ClassPair } from '../../online/class-pair.ts';
import { type ProgressiveReport, ProgressiveSums } from '../../online/progress.ts';
import { type RowBlock, RowStream, type StreamOptions } from '../../online/row-stream.ts';
import type { Penalty } from '../../penalties/penalty.ts';
import { type LearnerSettings, OnlineLearner } from './learner.ts';

export interface LearningOptions extends LearnerSettings {
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
export class Learning {
  readonly #name: string;
  readonly #options: LearningOptions;
  readonly #stream: RowStream;
  readonly #learner: OnlineLearner;
  readonly #sums: ProgressiveSums;
  readonly #pair = new ClassPair();
  #nonzeros = 0;
  #last: ProgressiveReport | undefined;

  constructor(name: string, options: LearningOptions) {
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
      loss: {
        name: loss.name,
        parameter: loss.parameter,
        ...(loss.module && { module: loss.module }),
      },
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
        : (meanOfScore(loss.name, score) - target) ** 2;
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
