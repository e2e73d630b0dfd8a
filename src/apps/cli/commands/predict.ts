import type { Dataset } from '../../../data/dataset.ts';
import { writeAtomically } from '../../../files.ts';
import { readModel } from '../../../model/file.ts';
import { evaluate } from '../../../model/metrics/evaluate.ts';
import type { Model } from '../../../model/model.ts';
import {
  checkOutput as checkPrediction,
  type PredictionOutput,
} from '../../../model/predict/predict.ts';
import { describeMetrics } from '../../../reporting/text/metrics.ts';
import {
  headerLine,
  predictionLines,
  predictionObjects,
} from '../../../reporting/text/predictions.ts';
import type { EvaluateFlags, PredictFlags } from '../options.ts';
import { createProgress } from '../progress.ts';
import { checkOutput, checkStandardInput, readForModel, standardStream } from '../reading.ts';
import { exitCodes, type Terminal } from '../terminal.ts';

export async function predictCommand(
  modelPath: string,
  data: string,
  flags: PredictFlags,
  terminal: Terminal,
): Promise<number> {
  const target = flags.output ?? standardStream;
  checkStandardInput([modelPath, data]);
  checkOutput('--output', target, [modelPath, data]);
  const model = await readModel(modelPath);
  checkPrediction(model, chooseOutput(flags));
  const progress = createProgress(terminal, flags.quiet ?? false);
  const dataset = await readForModel(model, data, flags, progress);
  if (target === standardStream) {
    for (const text of predictions(model, dataset, flags)) {
      if (terminal.outputClosed) break;
      await terminal.print(text);
    }
  } else {
    await writeAtomically(target, async (file) => {
      for (const text of predictions(model, dataset, flags)) await file.write(text);
    });
  }
  return exitCodes.done;
}

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

export async function evaluateCommand(
  modelPath: string,
  data: string,
  flags: EvaluateFlags,
  terminal: Terminal,
): Promise<number> {
  checkStandardInput([modelPath, data]);
  const model = await readModel(modelPath);
  const progress = createProgress(terminal, flags.quiet ?? false);
  const dataset = await readForModel(model, data, flags, progress, true);
  const metrics = evaluate(model, dataset);
  const text = flags.json ? JSON.stringify(metrics) : describeMetrics(metrics, model.classes);
  await terminal.print(`${text}\n`);
  return exitCodes.done;
}
