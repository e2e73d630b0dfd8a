import { writeAtomically } from '../../data/atomic.ts';
import type { PredictionOutput } from '../../metrics/predict.ts';
import { checkOutput as checkPrediction, predict } from '../../metrics/predict.ts';
import { readModel } from '../../model/format.ts';
import type { PredictFlags } from '../definitions/predict.ts';
import { exitCodes } from '../exit-codes.ts';
import { checkOutput, checkStandardInput, standardStream } from '../outputs.ts';
import { createProgress } from '../progress.ts';
import { readForModel } from '../reading.ts';
import type { Terminal } from '../terminal.ts';

/** Lines are written this many at a time. */
const linesPerWrite = 4096;

export async function predictCommand(
  modelPath: string,
  data: string,
  flags: PredictFlags,
  terminal: Terminal,
): Promise<number> {
  const target = flags.output ?? standardStream;
  checkStandardInput([modelPath, data]);
  checkOutput('--output', target, [modelPath, data]);
  const output = chooseOutput(flags);
  const model = await readModel(modelPath);
  checkPrediction(model, output);
  const progress = createProgress(terminal, flags.quiet ?? false);
  const dataset = await readForModel(model, data, flags, progress);
  const predictions = predict(model, dataset, { output });
  if (target === standardStream) {
    for (const text of lines(predictions)) {
      if (terminal.outputClosed) break;
      await terminal.print(text);
    }
  } else {
    await writeAtomically(target, async (file) => {
      for (const text of lines(predictions)) await file.write(text);
    });
  }
  return exitCodes.done;
}

function chooseOutput(flags: PredictFlags): PredictionOutput {
  if (flags.scores) return 'scores';
  return flags.probabilities ? 'probabilities' : 'labels';
}

/** One value per line in its shortest form that reads back as the same number. */
function* lines(values: Float64Array): Generator<string> {
  for (let start = 0; start < values.length; start += linesPerWrite) {
    yield `${values.subarray(start, start + linesPerWrite).join('\n')}\n`;
  }
}
