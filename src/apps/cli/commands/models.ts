/** Commands that take a model: predict, evaluate, inspect, export, and import, which makes one. */
import { basename } from 'node:path';
import type { Dataset } from '../../../data/dataset.ts';
import { titleOfSource } from '../../../data/read/sources.ts';
import { UsageError } from '../../../errors.ts';
import { exportNotices, exportPieces, importModel } from '../../../model/export/index.ts';
import { readModel, writeModel } from '../../../model/file.ts';
import { curvesOf } from '../../../model/metrics/curves.ts';
import { type ClassificationMetrics, evaluate } from '../../../model/metrics/evaluate.ts';
import { summarizeWeights } from '../../../model/metrics/weight-summary.ts';
import { type Model, positiveClass, vectorCount } from '../../../model/model.ts';
import { checkOutput, type PredictionOutput } from '../../../model/predict/predict.ts';
import { curveCharts } from '../../../reporting/charts/curves.ts';
import { plural, visibleText } from '../../../reporting/format.ts';
import { describeMetrics } from '../../../reporting/text/metrics.ts';
import {
  type ClassSide,
  describeAllFeatures,
  describeClasses,
  describeFeatures,
  describeModel,
  type FeatureOptions,
  findClass,
  sharesVector,
  summarizeVector,
  topFeatures,
} from '../../../reporting/text/model.ts';
import {
  headerLine,
  predictionLines,
  predictionObjects,
} from '../../../reporting/text/predictions.ts';
import { pick } from '../../../train/options/option.ts';
import type { Action } from '../command.ts';
import { checkFigure, writeFigure } from '../figures.ts';
import { checkFiles, readBytes, readLines, standardStream, writePieces } from '../files.ts';
import { withProgress } from '../interrupts.ts';
import type {
  EvaluateFlags,
  ExportFlags,
  ImportFlags,
  InspectFlags,
  PredictFlags,
} from '../options.ts';
import { DataReader } from '../reading.ts';
import type { Terminal } from '../terminal.ts';

export const exportCommand: Action<ExportFlags> = async ({ flags, terminal }, path) => {
  const { to, output: target = standardStream } = flags;
  checkFiles([path], { '--output': target });
  if (to === 'onnx' && target === standardStream && terminal.io.stdout.isTTY) {
    throw new UsageError('--to onnx gives binary data, not for a terminal: write it with -o FILE');
  }
  const model = await readModel(path);
  await writePieces(target, exportPieces(model, to), terminal);
  if (flags.quiet) return;
  for (const notice of exportNotices(model, to)) terminal.note(notice);
};

export const importCommand: Action<ImportFlags> = async ({ flags, terminal }, path) => {
  const target = flags.output ?? defaultOutput(path);
  checkFiles([path], { '--output': target });
  const model = importModel(await readBytes(path), titleOfSource(path));
  await writeModel(target, model);
  if (flags.quiet || target === standardStream) return;
  terminal.say(`${terminal.colours.bold(visibleText(target))}: ${describeImported(model)}`);
};

/** `models/a.liblinear` → `a.liblinear.model` in the current folder. */
function defaultOutput(path: string): string {
  if (path !== standardStream) return `${basename(path)}.model`;
  throw new UsageError('a model from standard input has no name: give it one with -o MODEL');
}

function describeImported(model: Model): string {
  const { classes } = model;
  const kind = classes === undefined ? 'regression' : `${classes.length} classes`;
  const vectors = vectorCount(model);
  const size = plural(model.columns, 'column');
  return `${kind}, ${model.loss.name} loss, ${size}${vectors > 1 ? ` × ${vectors} vectors` : ''}`;
}

export const inspectCommand: Action<InspectFlags> = async ({ flags, terminal }, path) => {
  checkFiles([path, flags.names]);
  const model = await readModel(path);
  const shown = flags.class === undefined ? undefined : findClass(model, flags.class);
  const options: FeatureOptions = {
    top: flags.top,
    names: flags.names === undefined ? (model.featureNames ?? []) : await readLines(flags.names),
    firstFeature: flags.zeroBased ? 0 : 1,
  };
  if (flags.json) await terminal.printJson(inspection(model, shown, options));
  else await terminal.print(`${describeInspected(model, shown, options, terminal)}\n`);
};

/** The model without its weights, except the largest ones. */
function inspection(model: Model, shown: ClassSide | undefined, options: FeatureOptions): object {
  const { weights, featureNames: _names, intercepts: _intercepts, ...description } = model;
  const all = Array.from({ length: vectorCount(model) }, (_, vector) => vector);
  const vectors = all
    .filter((vector) => shown === undefined || vector === shown.vector)
    .map((vector) => ({
      ...summarizeVector(model, vector),
      positive: topFeatures(model, vector, 'positive', options),
      negative: topFeatures(model, vector, 'negative', options),
    }));
  const positive = positiveClass(model);
  const named = { ...description, ...(positive !== undefined && { positive }) };
  return { ...named, weights: summarizeWeights(weights), vectors };
}

function describeInspected(
  model: Model,
  shown: ClassSide | undefined,
  options: FeatureOptions,
  terminal: Terminal,
): string {
  const parts =
    sharesVector(model) || shown
      ? [describeModel(model), describeFeatures(model, shown, options, terminal.outputColours)]
      : [describeModel(model), describeClasses(model), describeAllFeatures(model, options)];
  return parts.filter((part) => part !== '').join('\n\n');
}

export const predictCommand: Action<PredictFlags> = async ({ flags, terminal }, path, data) => {
  const target = flags.output ?? standardStream;
  checkFiles([path, data], { '--output': target });
  const model = await readModel(path);
  checkOutput(model, chooseOutput(flags));
  if (flags.threshold !== undefined && positiveClass(model) === undefined) {
    throw new UsageError('--threshold is for models of two classes; this is none');
  }
  const dataset = await withProgress(terminal, flags, (progress) =>
    new DataReader(flags, progress).forModel(model, data),
  );
  const { threshold = model.threshold } = flags;
  const deciding = { ...model, ...(threshold !== undefined && { threshold }) };
  await writePieces(target, predictions(deciding, dataset, flags), terminal);
};

function chooseOutput(flags: PredictFlags): PredictionOutput {
  if (flags.scores) return 'scores';
  return flags.probabilities ? 'probabilities' : 'labels';
}

function* predictions(model: Model, dataset: Dataset, flags: PredictFlags): Generator<string> {
  if (flags.json) {
    yield* predictionObjects(model, dataset);
    return;
  }
  const output = chooseOutput(flags);
  if (flags.header) yield headerLine(model, output);
  yield* predictionLines(model, dataset, output);
}

export const evaluateCommand: Action<EvaluateFlags> = async ({ flags, terminal }, path, data) => {
  const { figure } = flags;
  checkFigure(figure);
  checkFiles([path, data], { '--figure': figure }, flags.json);
  const model = await readModel(path);
  if (figure !== undefined && positiveClass(model) === undefined) {
    throw new UsageError('--figure: the curves are those of two classes; the model has others');
  }
  const dataset = await withProgress(terminal, flags, (progress) =>
    new DataReader(flags, progress).forModel(model, data, true),
  );
  const options = pick(flags, 'positive', 'threshold', 'thresholdFor');
  const metrics = evaluate(model, dataset, options);
  const text = () => describeMetrics(metrics, model.classes);
  await terminal.printResult(flags.json, metrics, text);
  if (flags.figure !== undefined) {
    const { threshold } = metrics as ClassificationMetrics;
    const curves = curvesOf(model, dataset, { ...pick(flags, 'positive'), threshold });
    const title = `${basename(path)} on ${dataset.name}`;
    await writeFigure(flags.figure, curveCharts(curves, title), terminal);
  }
};
