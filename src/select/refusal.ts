import { UsageError } from '../errors.ts';
import type { TrainOptions } from '../train/options/options.ts';

/** Options of training that are for one run alone. */
export type SingleRun = 'lambda' | 'checkpoint' | 'resume' | 'start' | 'alpha' | 'calibrate';

const singleRun: Readonly<Record<SingleRun, string>> = {
  lambda: 'give lambdas, a list',
  checkpoint: 'what is kept would be one model of many',
  resume: 'what was kept is one model of many',
  start: 'each model starts from the one before it',
  alpha: 'train the model that was chosen to get its dual point',
  calibrate: 'train the model that was chosen with it',
};

/** Types keep such options away; plain JavaScript would see them ignored. */
export function refuseSingleRun(of: string, options: TrainOptions): void {
  for (const [name, reason] of Object.entries(singleRun)) {
    if (options[name as SingleRun] === undefined) continue;
    throw new UsageError(`${name} is not an option of ${of}: ${reason}`);
  }
}
