import { createProgress } from '../../apps/cli/progress.ts';
import { evaluate } from '../../metrics/evaluate.ts';
import { readModel } from '../../model/file.ts';
import { describeMetrics } from '../../reporting/text/metrics.ts';
import type { EvaluateFlags } from '../definitions/evaluate.ts';
import { exitCodes } from '../exit-codes.ts';
import { checkStandardInput } from '../outputs.ts';
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
