import type { Dataset } from '../../data/dataset.ts';
import type { Label } from '../../data/labels.ts';
import type { Scaling } from '../../data/scale.ts';
import type { Interval } from '../../engine/checkpoint/writer.ts';
import type { Imbalance } from '../../engine/partition.ts';
import type { DualPoint } from '../../model/dual-point.ts';
import type { Metrics } from '../../model/metrics/evaluate.ts';
import type { ThresholdGoal } from '../../model/metrics/threshold.ts';
import type { Calibration, Certificate, Model } from '../../model/model.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import type { Penalty } from '../../problem/penalties/index.ts';
import type { Hindrance } from '../../solvers/progress-watch.ts';
import type { Solver } from '../../solvers/registry.ts';
import type { ClassWeights } from '../class-weights.ts';
import type { BeginEvent, EpochEvent, SampleEvent } from '../events.ts';

export interface TrainOptions {
  /** Default: hinge. */
  loss?: Loss;
  /** Default: L2. */
  penalty?: Penalty;
  /** Default: 1/m, LIBLINEAR's C = 1. */
  lambda?: number;
  /** Default: solvers.auto(). */
  solver?: Solver;
  /** Worker threads; default: all cores, never more than the grid. Does not change the result. */
  threads?: number;
  /** Workers of the logical p × p grid; default: a rule on the data's shape. */
  grid?: number;
  /** Default 1. */
  seed?: number;
  /** Default 10,000. */
  epochs?: number;
  /** Relative duality gap to stop at; default 1e-3. */
  tolerance?: number;
  /** Seconds of training. */
  time?: number;
  /** Rows to measure the error on after every epoch. */
  test?: Dataset;
  /** Part of the rows (0 < f < 1) to set aside for the test, chosen by the seed. */
  holdout?: number;
  /** Also measure the area under the precision-recall curve on the test rows; default false. */
  auprc?: boolean;
  /** What is measured on the test rows: the best point so far (default), or every iterate. */
  testOn?: 'best' | 'latest';
  /** A row may belong to any number of classes: its label lists them, separated by commas. */
  multiLabel?: boolean;
  /**
   * Of two classes the positive one, which high scores mean. Default: 1 against 0 or −1, true against
   * false, yes against no, else the rarer one.
   */
  positive?: Label;
  /** An unpenalised intercept; default: true for tables, else false. */
  intercept?: boolean;
  /** Factors of the weights of rows, by class; default 1 for all. */
  classWeights?: ClassWeights;
  /**
   * Divides every column of numbers by its largest absolute value (`max`) or its standard deviation
   * (`std`), or every row by its length (`unit-rows`), for training alone: the model is for the data
   * as it is. Default: `std` for tables, where possible, else `none`.
   */
  scale?: Scaling;
  /** Fits a map from scores to probabilities, on the scores of rows held out in turn; default 5 folds. */
  calibrate?: { readonly method: Calibration['method']; readonly folds?: number };
  /**
   * Of two classes: a row is positive if its probability is above this number or, where the model
   * has none, its score. Default: if its score is above 0.
   */
  threshold?: number;
  /** Chooses the threshold on the scores of rows held out in turn, in the folds of `calibrate`, else 5. */
  thresholdFor?: ThresholdGoal;
  /** A positive factor for each column's penalty. */
  penaltyFactors?: Float64Array;
  /**
   * A point to start from instead of w = 0, such as a model: weights by column, intercepts, and a
   * dual point by row trained on, which an earlier run returns with `alpha`. Several vectors are one
   * behind the other.
   */
  start?: {
    readonly weights: Float64Array;
    readonly intercepts?: Float64Array;
    readonly alpha?: Float64Array;
    /** The positive class that these weights are for, where the option `positive` is not given. */
    readonly positive?: Label;
  };
  /** Also return where the dual variables ended, to start from; default false. In one process. */
  alpha?: boolean;
  /** Also return the dual point that proves the bound, for verify(); default false. Not with bmrm. */
  keepDual?: boolean;
  /**
   * Stops after this number of evaluations, each of another point, without a lower test error.
   * Unless the run has converged, the model is the point with the lowest test error.
   */
  earlyStop?: number;
  /** Saves the run in a folder while it trains, and at its end; default interval: 60 seconds. */
  checkpoint?: { readonly folder: string; readonly every?: Interval };
  /** A folder of checkpoints to resume from; options that affect the model must be unchanged. */
  resume?: string;
  /**
   * Bytes that the process may take, for data whose entries are left on disk (openDataset); default:
   * three quarters of the machine's. Does not change the result.
   */
  memory?: number;
  /** Folder for the scratch file of such a run; default: the system's for temporary files. */
  scratch?: string;
  /** Empties the data set as soon as it is laid out for training, to save its memory. */
  consume?: boolean;
  /** For tests: records block visits as they happen, [count, worker, block, worker, block, …]. */
  trace?: Int32Array;
  /** An exception in it, or the rejection of its promise, stops the run and rejects train(). */
  onEpoch?: (event: EpochEvent) => unknown;
  /** The data is laid out, in every process of a job; training begins. */
  onBegin?: (event: BeginEvent) => void;
  /** At most twice a second, and at the end: threads, memory and large weights. */
  onSample?: (event: SampleEvent) => void;
  /** A checkpoint was saved, by all processes of a job: the run can be resumed from this epoch. */
  onCheckpoint?: (epoch: number) => void;
  /**
   * Messages for users: the solver chosen and why, memory, imbalance. `warning` is true for what
   * they must know, as a checkpoint that could not be written.
   */
  onNotice?: (message: string, warning?: boolean) => void;
  /** Ends the run as Ctrl-C does: the current model is returned, stopped = 'interrupted'. */
  signal?: AbortSignal;
}

type DescribedByModel = Pick<
  Model,
  'solver' | 'lambda' | 'rows' | 'columns' | 'nonzeros' | 'classes' | 'grid' | 'seed'
>;

/** The numbers `dso train --json` prints. */
export interface TrainReport extends Certificate, DescribedByModel {
  readonly loss: string;
  readonly penalty: string;
  /** Of two classes the one that high scores mean. */
  readonly positive?: Label;
  /** That of the model, given or chosen. */
  readonly threshold?: number;
  /** Vectors of weights, where there are several; primal, dual and the like are of their sum. */
  readonly vectors?: number;
  readonly threads: number;
  /** Processes of the job, where there are several. */
  readonly ranks?: number;
  readonly passes: number;
  /** The checkpoint that the run continued from: its epoch, and the seconds of training until then. */
  readonly resumed?: { readonly epoch: number; readonly seconds: number };
  /** Of this run alone; `read` is 0 unless the caller sets it. */
  readonly seconds: { read: number; partition: number; train: number; total: number };
  readonly imbalance: Imbalance;
  /** What the threads did with their time, over all epochs. */
  readonly effort: EpochEvent['effort'];
  /** Rotations of the ring per epoch: the ring solver's, on more than one worker. */
  readonly rotations?: number;
  /**
   * Where many epochs have not met the tolerance: what was measured, of the first such vector, and another
   * solver that takes the problem.
   */
  readonly hindrance?: Hindrance & {
    /** Whether the scale `std` was not on and would be taken; missing in earlier records. */
    readonly mayScale?: boolean;
    readonly alternative?: Solver['name'];
  };
  readonly test?: Metrics;
}

export interface TrainResult {
  readonly model: Model;
  readonly report: TrainReport;
  /**
   * dso-async: all block visits in the order they began, worker · grid + block, grid² an epoch.
   * solvers.dsoAsync({ order }) makes the same visits again, one after the other.
   */
  readonly visits?: Int32Array;
  /** With the option `alpha`: the last dual point, by row trained on; bmrm has none. */
  readonly alpha?: Float64Array;
  /** With the option `keepDual`: the dual point that proves the bound of the model. */
  readonly dual?: DualPoint;
  /** dso-async: primal and dual after every epoch. */
  readonly bounds?: readonly { readonly primal: number; readonly dual: number }[];
}
