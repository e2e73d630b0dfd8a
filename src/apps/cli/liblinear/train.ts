import type { Dataset, DatasetPart } from '../../../data/dataset.ts';
import { DataError } from '../../../errors.ts';
import { writeAtomically } from '../../../files.ts';
import { liblinearText } from '../../../model/export/liblinear.ts';
import { inBlocks } from '../../../model/export/text.ts';
import { labelsOf } from '../../../model/metrics/classes.ts';
import { readDataset } from '../../../train/read.ts';
import type { Action } from '../command.ts';
import { checkOutput, defaultModelPath } from '../files.ts';
import { exitCodes, type Terminal } from '../terminal.ts';
import { type LiblinearRequest, readLiblinearArguments } from './arguments.ts';
import { type FittedVector, fitLiblinear, type LiblinearProblem, scoreHeldOut } from './fit.ts';

/** The data with one more column, the last, that has the same value in every row. */
function withBias(dataset: Dataset, bias: number): Dataset {
  const { columns, rows, nonzeros } = dataset;
  if (bias === 0) return { ...dataset, columns: columns + 1 };
  return {
    ...dataset,
    parts: dataset.parts.map((part) => partWithBias(part, columns, bias)),
    columns: columns + 1,
    nonzeros: nonzeros + rows,
  };
}

function partWithBias(part: DatasetPart, column: number, bias: number): DatasetPart {
  const rows = part.labels.length;
  const length = part.indices.length + rows;
  const rowOffsets = new Int32Array(new SharedArrayBuffer(4 * (rows + 1)));
  const indices = new Int32Array(new SharedArrayBuffer(4 * length));
  const values = new Float32Array(new SharedArrayBuffer(4 * length));
  for (let row = 0; row < rows; row += 1) {
    const [from, to] = [part.rowOffsets[row], part.rowOffsets[row + 1]];
    const start = rowOffsets[row];
    indices.set(part.indices.subarray(from, to), start);
    values.set(part.values.subarray(from, to), start);
    const end = start + to - from;
    indices[end] = column;
    values[end] = bias;
    rowOffsets[row + 1] = end + 1;
  }
  return { ...part, rowOffsets, indices, values };
}

/** LIBLINEAR stores labels in a C int. */
const labelLimit = 2 ** 31;

/**
 * The labels of a classification in the order of LIBLINEAR: as they first occur in the rows, but +1
 * before -1 if there are no others. Of two labels the first is the positive side.
 */
function labelsInOrder({ name, parts, labelNames }: Dataset): number[] {
  if (labelNames) {
    const text = JSON.stringify(labelNames.find((label) => !/^[+-]?[0-9]+$/.test(label)));
    throw new DataError(`${name}: label ${text}; LIBLINEAR has whole numbers for labels`);
  }
  const labels = [...new Set(parts.flatMap((part) => [...new Set(part.labels)]))];
  const invalid = labels.find((label) => !Number.isInteger(label) || Math.abs(label) >= labelLimit);
  if (invalid !== undefined) {
    throw new DataError(
      `${name}: label ${invalid}; expected whole numbers (-s 11, 12 and 13 fit real labels)`,
    );
  }
  return labels.length === 2 && labels[0] === -1 && labels[1] === 1 ? [1, -1] : labels;
}

/** The share of rows with the right label; `scores` by vector, `labels` in the order of vectors. */
function accuracyOf(
  scores: readonly Float64Array[],
  labels: readonly number[],
  truth: Float64Array,
): number {
  // Of two labels the second is the positive side, as in our models; of more the largest score.
  const predicted = (row: number) => {
    if (scores.length === 1) return labels[scores[0][row] > 0 ? 1 : 0];
    return labels[scores.reduce((best, own, k) => (own[row] > scores[best][row] ? k : best), 0)];
  };
  return truth.filter((label, row) => label === predicted(row)).length / truth.length;
}

/** The squared correlation is NaN if the predictions or the labels are the same in all rows. */
function regressionQuality(scores: Float64Array, truth: Float64Array) {
  const rows = truth.length;
  const mean = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0) / rows;
  const [meanScore, meanLabel] = [mean(scores), mean(truth)];
  let [squares, together, ofScores, ofLabels] = [0, 0, 0, 0];
  for (let row = 0; row < rows; row += 1) {
    const [score, label] = [scores[row] - meanScore, truth[row] - meanLabel];
    squares += (scores[row] - truth[row]) ** 2;
    together += score * label;
    ofScores += score * score;
    ofLabels += label * label;
  }
  return {
    meanSquaredError: squares / rows,
    squaredCorrelation: (together * together) / (ofScores * ofLabels),
  };
}

/** `dso liblinear-train`: words as LIBLINEAR's own program takes them. */
export const liblinearTrainCommand: Action<object> = async ({ terminal }, ...words) => {
  const request = readLiblinearArguments(words);
  const { data, model: path = defaultModelPath(data), folds, threads } = request;
  if (folds === undefined) checkOutput('model_file', path, [data]);
  const dataset = await readDataset(data, {
    callingThread: true,
    ...(threads !== undefined && { threads }),
  });
  const { task } = request.solver.loss(request.epsilon);
  const labels = task === 'classification' ? labelsInOrder(dataset) : undefined;
  warnOfWeights(request, labels, terminal);
  const hasColumn = request.bias >= 0 && !request.freeBias;
  const rows = hasColumn ? withBias(dataset, request.bias) : dataset;
  const problem = { dataset: rows, request, classes: labels && ascending(labels) };
  if (folds !== undefined) {
    await terminal.print(await validate(problem, folds));
    return exitCodes.done;
  }
  const fits = await fitLiblinear(problem);
  const ordered = labels ? inOrderOf(labels, fits) : fits;
  await writeModelFile(path, dataset.columns, request, labels, ordered);
  if (!request.quiet) for (const one of ordered) await terminal.print(describe(one, request, rows));
  return fits.every(({ converged }) => converged) ? exitCodes.done : exitCodes.unfinished;
};

const ascending = (labels: readonly number[]) => labels.toSorted((left, right) => left - right);

function warnOfWeights(
  { classWeights, quiet }: LiblinearRequest,
  labels: readonly number[] | undefined,
  terminal: Terminal,
): void {
  if (quiet) return;
  for (const label of classWeights.keys()) {
    if (labels?.includes(label)) continue;
    const reason = labels ? 'no row has that label' : 'regression has no classes';
    terminal.note(`-w${label} changes nothing: ${reason}`);
  }
}

/** From ascending labels to LIBLINEAR's order; of two, the positive side is the first. */
function inOrderOf(labels: readonly number[], fits: FittedVector[]): FittedVector[] {
  if (labels.length > 2) {
    const sorted = ascending(labels);
    return labels.map((label) => fits[sorted.indexOf(label)]);
  }
  if (labels[0] > labels[1]) return fits;
  // 0 − w rather than −w, which would make −0 of a weight of 0.
  return fits.map((one) => ({ ...one, weights: one.weights.map((weight) => 0 - weight) }));
}

async function writeModelFile(
  path: string,
  features: number,
  { solver, bias }: LiblinearRequest,
  labels: readonly number[] | undefined,
  fits: readonly FittedVector[],
): Promise<void> {
  const lines = liblinearText({
    solver: solver.name,
    ...(labels && { labels }),
    features,
    bias: bias >= 0 ? bias : -1,
    vectors: fits.map(({ weights }) => weights),
    ...(bias >= 0 && { biasWeights: Float64Array.from(fits, ({ weights }) => weights[features]) }),
  });
  await writeAtomically(path, async (file) => {
    for (const block of inBlocks(lines)) await file.write(block);
  });
}

/** The lines that scripts parse in the output of liblinear-train. */
function describe(one: FittedVector, { solver }: LiblinearRequest, { columns }: Dataset): string {
  const lines = [`optimization finished, #iter = ${one.epochs}`];
  if (!one.converged) lines.push('', 'WARNING: reaching max number of iterations', '');
  const value = solver.dual ? -one.dual : one.primal;
  lines.push(`Objective value = ${value.toFixed(6)}`);
  if (solver.penalty().name === 'l1') {
    const nonzero = one.weights.reduce((count, weight) => count + (weight === 0 ? 0 : 1), 0);
    lines.push(`#nonzeros/#features = ${nonzero}/${columns}`);
  } else if (solver.dual && solver.name !== 'L2R_LR_DUAL' && one.supportVectors !== undefined) {
    lines.push(`nSV = ${one.supportVectors}`);
  }
  return `${lines.join('\n')}\n`;
}

async function validate(problem: LiblinearProblem, folds: number): Promise<string> {
  const { dataset, classes } = problem;
  const scores = await scoreHeldOut(problem, folds);
  const truth = labelsOf(dataset);
  if (classes) {
    const percent = Number((100 * accuracyOf(scores, classes, truth)).toPrecision(6));
    return `Cross Validation Accuracy = ${percent}%\n`;
  }
  const { meanSquaredError, squaredCorrelation } = regressionQuality(scores[0], truth);
  const short = (value: number) => `${Number(value.toPrecision(6))}`;
  return (
    `Cross Validation Mean squared error = ${short(meanSquaredError)}\n` +
    `Cross Validation Squared correlation coefficient = ${short(squaredCorrelation)}\n`
  );
}
