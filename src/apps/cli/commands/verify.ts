import { existsSync } from 'node:fs';
import { DataError } from '../../../errors.ts';
import { type DualPoint, dualPath, readDualPoint } from '../../../model/dual-point.ts';
import { readModel } from '../../../model/file.ts';
import type { Model } from '../../../model/model.ts';
import { describeVerification } from '../../../reporting/text/verification.ts';
import { verify } from '../../../train/verify/verify.ts';
import type { Action } from '../command.ts';
import { checkFiles, standardStream } from '../files.ts';
import { withProgress } from '../interrupts.ts';
import type { VerifyFlags } from '../options.ts';
import { chooseLoss } from '../problem.ts';
import { DataReader, readPenaltyFactors } from '../reading.ts';
import { exitCodes } from '../terminal.ts';

export const verifyCommand: Action<VerifyFlags> = async ({ flags, terminal }, path, data) => {
  const { penaltyFactors, threads } = flags;
  checkFiles([path, data, flags.dual, penaltyFactors]);
  const model = await readModel(path);
  const loss = flags.loss === undefined ? undefined : await chooseLoss({ loss: flags.loss });
  const verification = await withProgress(terminal, flags, async (progress) => {
    const notice = (message: string) => progress.notice(message);
    const dual = await findDualPoint(path, model, flags.dual, notice);
    const dataset = await new DataReader(flags, progress).asTrainedOn(model, data);
    const factors =
      penaltyFactors === undefined
        ? undefined
        : await readPenaltyFactors(penaltyFactors, dataset.columns);
    progress.stage('verifying');
    return verify(model, dataset, { dual, penaltyFactors: factors, loss, threads });
  });
  const text = () => describeVerification(verification, terminal.outputColours);
  await terminal.printResult(flags.json, verification, text);
  return verification.confirmed ? exitCodes.done : exitCodes.failure;
};

/** The one that was named, or that beside the model if it is the model's own. */
async function findDualPoint(
  path: string,
  model: Model,
  given: string | undefined,
  notice: (message: string) => void,
): Promise<DualPoint | undefined> {
  if (given !== undefined) return readDualPoint(given, model);
  if (path === standardStream || !existsSync(dualPath(path))) return undefined;
  try {
    return await readDualPoint(dualPath(path), model);
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    notice(`not used: ${error.message}`);
    return undefined;
  }
}
