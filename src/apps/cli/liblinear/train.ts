import { exitCodes } from '../../../cli/exit-codes.ts';
import { withBias } from '../../../cli/liblinear/bias.ts';
import { labelsInOrder } from '../../../cli/liblinear/labels.ts';
import { accuracyOf, regressionQuality } from '../../../cli/liblinear/validation.ts';
import { checkOutput } from '../../../cli/outputs.ts';
import type { Terminal } from '../../../cli/terminal.ts';
import type { Dataset } from '../../../data/dataset.ts';
import { liblinearText } from '../../../export/liblinear.ts';
import { writeAtomically } from '../../../files.ts';
import { inBlocks } from '../../../model/export/tables.ts';
import { nameOfSource, readDataset } from '../../../train/read-dataset.ts';
import { type LiblinearRequest, readLiblinearArguments } from './arguments.ts';
import { type FittedVector, fitLiblinear, scoreHeldOut } from './fit.ts';

/** `dso liblinear-train`: words as LIBLINEAR's own program takes them. */
export async function liblinearTrainCommand(
  words: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const request = readLiblinearArguments(words);
  const { data, model: path = `${nameOfSource(data)}.model`, folds, threads } = request;
  if (folds === undefined) checkOutput('model_file', path, [data]);
  const dataset = await readDataset(data, { ...(threads !== undefined && { threads }) });
  const labels = isClassifier(request) ? labelsInOrder(dataset) : undefined;
  warnOfWeights(request, labels, terminal);
  const hasColumn = request.bias >= 0 && !request.freeBias;
  const rows = hasColumn ? withBias(dataset, request.bias) : dataset;
  if (folds !== undefined) {
    await terminal.print(await validate(rows, request, labels, folds));
    return exitCodes.done;
  }
  const fits = await fitLiblinear(rows, request, labels && ascending(labels));
  const ordered = labels ? inOrderOf(labels, fits) : fits;
  await writeModelFile(path, dataset.columns, request, labels, ordered);
  if (!request.quiet) for (const one of ordered) await terminal.print(describe(one, request, rows));
  return fits.every(({ converged }) => converged) ? exitCodes.done : exitCodes.unfinished;
}

function isClassifier({ solver, epsilon }: LiblinearRequest): boolean {
  return solver.loss(epsilon).task === 'classification';
}

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
    terminal.say(`note: -w${label} changes nothing: ${reason}`);
  }
}

/** From ascending labels to LIBLINEAR's order; of two, the positive side is the first. */
function inOrderOf(
  labels: readonly number[],
  fits: readonly FittedVector[],
): readonly FittedVector[] {
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

/** The lines that scripts look for in the output of liblinear-train. */
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

async function validate(
  dataset: Dataset,
  request: LiblinearRequest,
  labels: readonly number[] | undefined,
  folds: number,
): Promise<string> {
  const classes = labels && ascending(labels);
  const scores = await scoreHeldOut(dataset, request, classes, folds);
  const truth = joinedLabels(dataset);
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

function joinedLabels({ parts, rows }: Dataset): Float64Array {
  const all = new Float64Array(rows);
  let row = 0;
  for (const { labels } of parts) {
    all.set(labels, row);
    row += labels.length;
  }
  return all;
}
