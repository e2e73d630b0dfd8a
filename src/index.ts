/** The library: train, predict and evaluate regularized linear models on sparse data. */
export type { Interval as CheckpointInterval } from './checkpoint/keeper.ts';
export { type CompareOptions, compare } from './compare/compare.ts';
export type { Comparison, Run } from './compare/comparison.ts';
export { writeReport } from './compare/report.ts';
export { datasetFromCsr, datasetFromRows } from './data/arrays.ts';
export type { Dataset, DatasetPart } from './data/dataset.ts';
export { describeQuality, type Quality } from './data/quality/quality.ts';
export type { Likeness, Recipe, RecipeField } from './data/recipe.ts';
export { type Scaling, scalings } from './data/scale.ts';
export { openDataset } from './data/stored.ts';
export { readQuery } from './data/table/query.ts';
export { DataError, DsoError, UsageError } from './errors.ts';
export { exportModel } from './export/export.ts';
export type { ExportFormat } from './export/formats.ts';
export { importModel } from './export/import.ts';
export { loadLoss, losses } from './losses/index.ts';
export type { Loss, LossFunctions, PrimalLoss } from './losses/loss.ts';
export { evaluate } from './metrics/evaluate.ts';
export type {
  ClassificationMetrics,
  ClassMetrics,
  Confusion,
  Metrics,
  MulticlassMetrics,
  MultiLabelMetrics,
  RegressionMetrics,
} from './metrics/metrics.ts';
export { predict } from './metrics/predict.ts';
export { scoreDataset, scoreVectors } from './metrics/score.ts';
export { decodeModel, encodeModel, readModel, writeModel } from './model/format.ts';
export type {
  Calibration,
  Certificate,
  Label,
  Model,
  ModelDescription,
  Provenance,
} from './model/model.ts';
export { vectorCount, weightsOf } from './model/model.ts';
export { penalties } from './penalties/index.ts';
export type { Penalty } from './penalties/penalty.ts';
export {
  crossValidate,
  crossValidateAndTrain,
  type ValidatedLambda,
  type ValidateOptions,
  type Validation,
} from './select/cross-validate.ts';
export type { LambdaOptions } from './select/lambdas.ts';
export type { MeasureName } from './select/measure.ts';
export { type PathOptions, type PathPoint, trainPath, walkPath } from './select/path.ts';
export {
  type Candidate,
  type Search,
  type SearchOptions,
  search,
  searchAndTrain,
} from './select/search.ts';
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
} from './solvers/solver.ts';
export type { ClassWeights } from './train/class-weights.ts';
export {
  type ConvertOptions,
  convertDataset,
  type DataDescription,
  type DataSummary,
  describeData,
  readFeatureNames,
  type WriteOptions,
  writeDataset,
} from './train/convert.ts';
export type { BeginEvent, EpochEvent, SampleEvent, StopReason } from './train/events.ts';
export { startFromModel } from './train/init.ts';
export type { TrainOptions, TrainReport, TrainResult } from './train/options.ts';
export { type DataSource, type ReadDatasetOptions, readDataset } from './train/read-dataset.ts';
export { train } from './train/train.ts';
