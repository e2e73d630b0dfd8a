// oxlint-disable-next-line import/no-unassigned-import -- the check of the version runs first
import './node-version.ts';

export {
  type DataDescription,
  type DataSummary,
  readFeatureNames,
  type WriteOptions,
  writeDataset,
} from './data/binary/convert.ts';
/** The library: train, predict and evaluate regularized linear models on sparse data. */
export { openDataset } from './data/binary/stored.ts';
export type { Dataset, DatasetPart, Likeness, Recipe, RecipeField } from './data/dataset.ts';
export { datasetFromCsr, datasetFromRows } from './data/from-arrays.ts';
export { describeQuality, type Quality } from './data/quality/quality.ts';
export type { DataSource } from './data/read/sources.ts';
export { type Scaling, scalings } from './data/scale.ts';
export { readQuery } from './data/tables/query.ts';
export type { Interval as CheckpointInterval } from './engine/checkpoint/writer.ts';
export { DataError, DsoError, UsageError } from './errors.ts';
export { type DualPoint, readDualPoint, writeDualPoint } from './model/dual-point.ts';
export { type ExportFormat, exportModel, importModel } from './model/export/index.ts';
export { decodeModel, encodeModel, readModel, writeModel } from './model/file.ts';
export type { MeasureOptions } from './model/metrics/binary.ts';
export { type Curves, curvesOf } from './model/metrics/curves.ts';
export {
  type ClassificationMetrics,
  type ClassMetrics,
  type Confusion,
  evaluate,
  type Metrics,
  type MulticlassMetrics,
  type MultiLabelMetrics,
  type RegressionMetrics,
} from './model/metrics/evaluate.ts';
export type { ThresholdGoal } from './model/metrics/threshold.ts';
export {
  type Calibration,
  type Certificate,
  type Label,
  type Model,
  type ModelDescription,
  type Provenance,
  vectorCount,
  weightsOf,
} from './model/model.ts';
export { predict } from './model/predict/predict.ts';
export { scoreDataset, scoreVectors } from './model/predict/score.ts';
export { loadLoss, losses } from './problem/losses/index.ts';
export type { Loss, LossFunctions, PrimalLoss } from './problem/losses/loss.ts';
export { type Penalty, penalties } from './problem/penalties/index.ts';
export { writeReport } from './reporting/pages/comparison-files.ts';
export { solverByName, solvers } from './solvers/index.ts';
export type {
  AdmmSettings,
  BmrmSettings,
  DcdSettings,
  DsoAsyncSettings,
  DsoSettings,
  LbfgsSettings,
  RingSettings,
  SgdSettings,
  Solver,
} from './solvers/registry.ts';
export type { ClassWeights } from './train/class-weights.ts';
export { type CompareOptions, compare } from './train/compare/compare.ts';
export type { Comparison, Run } from './train/compare/comparison.ts';
export type { BeginEvent, EpochEvent, SampleEvent, StopReason } from './train/events.ts';
export type { TrainOptions, TrainReport, TrainResult } from './train/options/options.ts';
export {
  type ConvertOptions,
  convertDataset,
  describeData,
  type ReadDatasetOptions,
  readDataset,
} from './train/read.ts';
export {
  crossValidate,
  crossValidateAndTrain,
  type ValidatedLambda,
  type ValidateOptions,
  type Validation,
} from './train/select/cross-validate.ts';
export type { LambdaOptions } from './train/select/lambdas.ts';
export type { MeasureName } from './train/select/measure.ts';
export { type PathOptions, type PathPoint, trainPath, walkPath } from './train/select/path.ts';
export {
  type Candidate,
  type Search,
  type SearchOptions,
  search,
  searchAndTrain,
} from './train/select/search.ts';
export { train } from './train/train.ts';
export type { VerifyOptions } from './train/verify/as-trained.ts';
export { type Verification, verify } from './train/verify/verify.ts';
export { startFromModel } from './train/warm-start.ts';
