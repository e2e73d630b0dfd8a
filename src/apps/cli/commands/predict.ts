import type { PredictFlags } from '../../../cli/definitions/predict.ts';
import { exitCodes } from '../../../cli/exit-codes.ts';
import { checkOutput, checkStandardInput, standardStream } from '../../../cli/outputs.ts';
import { readForModel } from '../../../cli/reading.ts';
import type { Terminal } from '../../../cli/terminal.ts';
import type { Dataset } from '../../../data/dataset.ts';
import { writeAtomically } from '../../../files.ts';
import { readModel } from '../../../model/file.ts';
import type { Model } from '../../../model/model.ts';
import type { PredictionOutput } from '../../../model/predict/predict.ts';
import { checkOutput as checkPrediction } from '../../../model/predict/predict.ts';
import {
  headerLine,
  predictionLines,
  predictionObjects,
} from '../../../reporting/text/predictions.ts';
import { createProgress } from '../progress.ts';

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
