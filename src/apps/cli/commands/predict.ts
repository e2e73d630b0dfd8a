import type { Dataset } from '../../../data/dataset.ts';
import { readModel } from '../../../model/file.ts';
import { evaluate } from '../../../model/metrics/evaluate.ts';
import type { Model } from '../../../model/model.ts';
import { checkOutput, type PredictionOutput } from '../../../model/predict/predict.ts';
import { describeMetrics } from '../../../reporting/text/metrics.ts';
import {
  headerLine,
  predictionLines,
  predictionObjects,
} from '../../../reporting/text/predictions.ts';
import type { Action } from '../command.ts';
import { checkFiles, standardStream, writePieces } from '../files.ts';
import { withProgress } from '../interrupts.ts';
import type { EvaluateFlags, PredictFlags } from '../options.ts';
import { readForModel } from '../reading.ts';

export const predictCommand: Action<PredictFlags> = async ({ flags, terminal }, path, data) => {
  const target = flags.output ?? standardStream;
  checkFiles([path, data], { '--output': target });
  const model = await readModel(path);
  checkOutput(model, chooseOutput(flags));
  const dataset = await withProgress(terminal, flags, (progress) =>
    readForModel(model, data, flags, progress),
  );
  await writePieces(target, predictions(model, dataset, flags), terminal);
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
  checkFiles([path, data]);
  const model = await readModel(path);
  const dataset = await withProgress(terminal, flags, (progress) =>
    readForModel(model, data, flags, progress, true),
  );
  const metrics = evaluate(model, dataset);
  if (flags.json) await terminal.printJson(metrics);
  else await terminal.print(`${describeMetrics(metrics, model.classes)}\n`);
};
