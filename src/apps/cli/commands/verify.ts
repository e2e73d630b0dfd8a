import { existsSync } from 'node:fs';
import {
  type DualPoint,
  dualPath,
  OtherModelError,
  readDualPoint,
} from '../../../model/dual-point.ts';
import { readModel } from '../../../model/file.ts';
import type { Model } from '../../../model/model.ts';
import { describeVerification } from '../../../reporting/text/verification.ts';
import { verify } from '../../../train/verify/verify.ts';
import type { Action } from '../command.ts';
import { checkFiles, standardStream } from '../files.ts';
import { withProgress } from '../interrupts.ts';
import type { VerifyFlags } from '../options.ts';
import { chooseLoss } from '../problem.ts';
import { chooseSource, DataReader, readPenaltyFactors } from '../reading.ts';
import { exitCodes } from '../terminal.ts';

export const verifyCommand: Action<VerifyFlags> = async ({ flags, terminal }, path, data) => {
  const { penaltyFactors: factors, threads, sql } = flags;
  const source = chooseSource(data, sql);
  checkFiles([path, sql === undefined ? source : undefined, flags.dual, factors]);
  const model = await readModel(path);
  const loss = flags.loss === undefined ? undefined : await chooseLoss({ loss: flags.loss });
  const { dataset, dual, penaltyFactors } = await withProgress(
    terminal,
    flags,
    async (progress) => {
      const reader = new DataReader(flags, progress);
      const read = sql === undefined ? reader.asTrainedOn(model, source) : reader.query(sql);
      const { columns } = await read;
      return {
        dual: await findDualPoint(path, model, flags.dual, (message) =>
          progress.notice(message, true),
        ),
        dataset: await read,
        penaltyFactors:
          factors === undefined ? undefined : await readPenaltyFactors(factors, columns),
      };
    },
  );
  // It keeps this thread busy: a signal must end the process, and not wait until it is heard.
  const verification = await verify(model, dataset, { dual, penaltyFactors, loss, threads });
  const text = () => describeVerification(verification, model.loss, terminal.outputColours);
  await terminal.printResult(flags.json, verification, text);
  return verification.confirmed ? exitCodes.done : exitCodes.failure;
};

/** The one that was named, or that beside the model if it is the model's own. */
async function findDualPoint(
  path: string,
  model: Model,
  given: string | undefined,
  warn: (message: string) => void,
): Promise<DualPoint | undefined> {
  if (given !== undefined) return readDualPoint(given, model);
  if (path === standardStream || !existsSync(dualPath(path))) return undefined;
  try {
    return await readDualPoint(dualPath(path), model);
  } catch (error) {
    if (!(error instanceof OtherModelError)) throw error;
    warn(`not used: ${error.message}`);
    return undefined;
  }
}
