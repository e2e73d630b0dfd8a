/** Predictions without Node's API or any dependency: for browsers, edge workers and servers. */
import { decodeModelFile } from './model/predict/decode.ts';
import { Predictor, type PredictorOptions } from './model/predict/predictor.ts';

export type { NamedRow } from './data/fields/row-encoder.ts';
export type { Label } from './model/model.ts';
export type { Row, SparseRow } from './model/predict/predictor.ts';
export { Predictor, type PredictorOptions, type ScoringModel } from './model/predict/predictor.ts';

export interface LoadOptions extends PredictorOptions {
  /** Whether to compare the checksums in the file; default true. */
  readonly verify?: boolean;
}

/** A predictor from the bytes of a model file. */
export function loadModel(
  bytes: Uint8Array | ArrayBuffer,
  { verify = true, ...options }: LoadOptions = {},
): Predictor {
  const view = bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes);
  return new Predictor(decodeModelFile(view, verify), options);
}
