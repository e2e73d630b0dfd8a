import { evaluate } from '../../metrics/evaluate.ts';
import { readModel } from '../../model/format.ts';
import type { EvaluateFlags } from '../definitions/evaluate.ts';
import { exitCodes } from '../exit-codes.ts';
import { describeMetrics } from '../metrics-text.ts';
import { checkStandardInput } from '../outputs.ts';
import { createProgress } from '../progress.ts';
import { readForModel } from '../reading.ts';
import type { Terminal } from '../terminal.ts';

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
