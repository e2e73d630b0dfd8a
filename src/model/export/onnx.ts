import { UsageError } from '../../errors.ts';
import { traitsOf } from '../../problem/losses/loss.ts';
import { type Calibration, type Label, type Model, vectorCount } from '../model.ts';
import { givesProbabilities } from '../predict/predict.ts';
import { type Attribute, lengthOf, OnnxGraph } from './onnx-graph.ts';

/** The size limit of Protocol Buffers, and so of an ONNX file. */
const byteLimit = 2 ** 31 - 1;
/** Names longer than this in all stay out of the metadata. */
const nameBytesLimit = 1_000_000;
const largestFloat = 3.4028234663852886e38;

type Platt = Extract<Calibration, { method: 'platt' }>;
type Isotonic = Extract<Calibration, { method: 'isotonic' }>;

/**
 * The model as ONNX. Input `x`: floats, rows × columns. Outputs: in classification `label`,
 * `scores` (one per class; of two classes −u and u) and, where the model has them,
 * `probabilities`; in regression `prediction`. Several labels at once: `scores` alone, and
 * `probabilities`.
 */
export function* onnxModel(model: Model): Generator<Uint8Array> {
  checkSize(4 * model.columns * (model.classes?.length ?? 1));
  const graph = new OnnxGraph();
  const raw = graph.input({ name: 'x', type: 'float', shape: ['rows', model.columns] });
  const rows = model.unitRows ? graph.node('Normalizer', [raw], ['unit'], { norm: 'L2' }) : raw;
  if (model.classes === undefined) addRegression(graph, model, rows);
  else addClassification(graph, model, model.classes, rows);
  const pieces = graph.model(model.provenance?.version ?? '', properties(model)).flat();
  checkSize(lengthOf(pieces));
  yield* pieces;
}

function checkSize(size: number): void {
  if (size <= byteLimit) return;
  throw new UsageError(
    `--to onnx: ${size} bytes of weights; an ONNX file ends at 2 GB. ` +
      'json, csv and liblinear take models of any size',
  );
}

function addRegression(graph: OnnxGraph, model: Model, rows: string): void {
  const logarithm = traitsOf(model.loss).link === 'log';
  const score = logarithm ? 'score' : 'prediction';
  graph.node('LinearRegressor', [rows], [score], linear(model));
  if (logarithm) graph.node('Exp', [score], ['prediction']);
  graph.output({ name: 'prediction', type: 'float', shape: ['rows', 1] });
}

function addClassification(
  graph: OnnxGraph,
  model: Model,
  classes: readonly Label[],
  rows: string,
): void {
  const shape = ['rows', classes.length];
  if (model.multiLabel) {
    graph.node('LinearRegressor', [rows], ['scores'], linear(model));
  } else {
    const { targets: _, ...weights } = linear(model);
    const integers = classes.every((label) => Number.isSafeInteger(label));
    const labels: Record<string, Attribute> = integers
      ? { classlabels_ints: classes as readonly number[] }
      : { classlabels_strings: classes.map(String) };
    graph.node('LinearClassifier', [rows], ['label', 'scores'], { ...labels, ...weights });
    graph.output({ name: 'label', type: integers ? 'int64' : 'string', shape: ['rows'] });
  }
  graph.output({ name: 'scores', type: 'float', shape });
  if (!givesProbabilities(model)) return;
  addProbabilities(graph, model, classes.length);
  graph.output({ name: 'probabilities', type: 'float', shape });
}

/** Coefficients by class; two classes share a vector, which counts against the first of them. */
function linear(model: Model): Record<string, Attribute> {
  const opposed = model.classes !== undefined && vectorCount(model) === 1 && !model.multiLabel;
  const both = (values: Float64Array): Float32Array => {
    if (!opposed) return float32(values);
    const joined = new Float64Array(2 * values.length);
    joined.set(values.map((value) => -value));
    joined.set(values, values.length);
    return float32(joined);
  };
  return {
    targets: model.classes?.length ?? 1,
    coefficients: both(model.weights),
    intercepts: both(model.intercepts),
    post_transform: 'NONE',
  };
}

function float32(values: Float64Array): Float32Array {
  const tooLarge = values.find((value) => Math.abs(value) > largestFloat);
  if (tooLarge === undefined) return Float32Array.from(values);
  throw new UsageError(`--to onnx: the weight ${tooLarge} does not fit 32-bit floats`);
}

function addProbabilities(graph: OnnxGraph, model: Model, count: number): void {
  const { calibration, multiLabel } = model;
  // One-against-rest: each class for itself, then made to sum to 1.
  const shared = count > 2 && !multiLabel;
  if (calibration?.some(({ method }) => method === 'isotonic')) {
    addIsotonic(graph, calibration, count, shared);
    return;
  }
  const logits = calibration ? addPlatt(graph, calibration as readonly Platt[], count) : 'scores';
  if (!shared) return void graph.node('Sigmoid', [logits], ['probabilities']);
  // σ(u_k) / Σ σ(u_j) is the softmax of ln σ(u) = −ln(1 + e^−u), which does not underflow.
  const opposite = graph.node('Neg', [logits], ['opposite']);
  const deficit = graph.node('Softplus', [opposite], ['deficit']);
  const logarithm = graph.node('Neg', [deficit], ['logarithm']);
  graph.node('Softmax', [logarithm], ['probabilities'], { axis: 1 });
}

/** 1 / (1 + exp(a u + b)) = σ(−a u − b); of two classes the other one has σ(a u + b). */
function addPlatt(graph: OnnxGraph, calibration: readonly Platt[], count: number): string {
  const opposed = calibration.length < count;
  const slopes = calibration.map(({ slope }) => -slope);
  const offsets = calibration.map(({ offset }) => -offset);
  // Scores of two classes are −u and u already: the slope is the same for both.
  const factor = graph.constant('slope', [count], opposed ? [...slopes, ...slopes] : slopes);
  const shift = graph.constant('offset', [count], opposed ? [-offsets[0], ...offsets] : offsets);
  const scaled = graph.node('Mul', ['scores', factor], ['scaled']);
  return graph.node('Add', [scaled, shift], ['shifted']);
}

function addIsotonic(
  graph: OnnxGraph,
  calibration: readonly Calibration[],
  count: number,
  shared: boolean,
): void {
  if (calibration.some(({ method }) => method !== 'isotonic')) {
    throw new UsageError('--to onnx: calibrated by Platt scaling and isotonic regression at once');
  }
  const opposed = calibration.length < count;
  graph.constant('zero', [], [0]);
  graph.constant('one', [], [1]);
  const columns = (calibration as readonly Isotonic[]).map((curve, vector) =>
    addCurve(graph, curve, opposed ? 1 : vector, count),
  );
  if (opposed) columns.unshift(graph.node('Sub', ['one', columns[0]], ['otherwise']));
  if (!shared) return void graph.node('Concat', columns, ['probabilities'], { axis: 1 });
  const single = graph.node('Concat', columns, ['single'], { axis: 1 });
  // A small number for all classes, so that a row with a sum of 0 gives all the same.
  const least = graph.constant('least', [], [1e-30]);
  const positive = graph.node('Add', [single, least], ['positive']);
  graph.node('Normalizer', [positive], ['probabilities'], { norm: 'L1' });
}

/**
 * p₀ + Σ (p_{i+1} − p_i) · clip((u − s_i) / (s_{i+1} − s_i), 0, 1): each piece rises over its own
 * interval and is flat elsewhere. The score of one class is picked by a product with a unit vector.
 */
function addCurve(
  graph: OnnxGraph,
  { scores, probabilities }: Isotonic,
  position: number,
  count: number,
): string {
  const pieces = Math.max(1, scores.length - 1);
  const each = (value: (piece: number) => number): number[] =>
    Array.from({ length: pieces }, (_, piece) => (scores.length === 1 ? 0 : value(piece)));
  const lows = each((piece) => scores[piece]);
  const steepness = each((piece) => Math.min(1 / (scores[piece + 1] - scores[piece]), 1e38));
  const rises = each((piece) => probabilities[piece + 1] - probabilities[piece]);
  const unit = Array.from({ length: count }, (_, index) => (index === position ? 1 : 0));
  const constant = (part: string, shape: readonly number[], values: readonly number[]): string =>
    graph.constant(`${part}${position}`, shape, values);
  const node = (operator: string, inputs: readonly string[], part: string): string =>
    graph.node(operator, inputs, [`${part}${position}`]);
  const score = node('MatMul', ['scores', constant('pick', [count, 1], unit)], 'score');
  const beyond = node('Sub', [score, constant('low', [1, pieces], lows)], 'beyond');
  const steep = constant('steepness', [1, pieces], steepness);
  const share = node('Clip', [node('Mul', [beyond, steep], 'reached'), 'zero', 'one'], 'share');
  const gain = node('MatMul', [share, constant('rise', [pieces, 1], rises)], 'gain');
  const sum = node('Add', [gain, constant('start', [1], [probabilities[0]])], 'sum');
  return node('Clip', [sum, 'zero', 'one'], 'probability');
}

function properties(model: Model): Record<string, string> {
  const { certificate, provenance, featureNames, classes } = model;
  const names = featureNames && JSON.stringify(featureNames);
  return {
    'dso.loss': model.loss.name,
    'dso.penalty': model.penalty.name,
    'dso.lambda': String(model.lambda),
    'dso.primal': String(certificate.primal),
    'dso.gap': String(certificate.gap),
    'dso.relativeGap': String(certificate.relativeGap),
    'dso.stopped': certificate.stopped,
    ...(classes && { 'dso.classes': JSON.stringify(classes) }),
    ...(provenance && {
      'dso.data': provenance.data,
      'dso.options': JSON.stringify(provenance.options),
    }),
    ...(names && names.length <= nameBytesLimit && { 'dso.featureNames': names }),
  };
}
