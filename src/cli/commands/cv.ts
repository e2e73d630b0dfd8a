import {
  checkFiles,
  commonSettings,
  defaultModelPath,
  readFactors,
  refit,
  Scene,
  trainingSettings,
} from '../../apps/cli/selection.ts';
import type { Dataset } from '../../data/dataset.ts';
import { validationChart } from '../../reporting/charts/selection.ts';
import {
  incompleteNote,
  validationCsv,
  validationJson,
  validationTable,
} from '../../reporting/text/selection.ts';
import { nameOfSource } from '../../train/read-dataset.ts';
import {
  crossValidate,
  type ValidateOptions,
  type Validation,
} from '../../train/select/cross-validate.ts';
import { warmThreads } from '../../train/threads.ts';
import { withoutUndefined } from '../defined.ts';
import type { CvFlags } from '../definitions/cv.ts';
import { exitCodes } from '../exit-codes.ts';
import { penaltyName } from '../penalty-name.ts';
import { chooseLoss, choosePenalty, chooseSolver } from '../problem.ts';
import { readData } from '../reading.ts';
import type { Terminal } from '../terminal.ts';

export async function cvCommand(data: string, given: CvFlags, terminal: Terminal): Promise<number> {
  const { lambda: _, ...flags } = given;
  const model = flags.refit ? (flags.output ?? defaultModelPath(data)) : undefined;
  checkFiles(data, flags, model);
  const problem = {
    loss: await chooseLoss(flags),
    penalty: choosePenalty(flags),
    solver: chooseSolver(flags),
  };
  warmThreads(flags.threads);
  const scene = new Scene(terminal, flags, model);
  try {
    const started = performance.now();
    const dataset = await readData(data, flags, scene.progress);
    const options = { ...problem, ...(await readFactors(flags, dataset)) };
    const read = (performance.now() - started) / 1000;
    const validation = await scene.untilEnded(validate(dataset, options, given, scene));
    if (!validation) return scene.signalCode ?? exitCodes.failure;
    const name = `${problem.loss.name} loss, ${penaltyName(problem.penalty)} penalty`;
    await tell(validation, flags, scene, `${nameOfSource(data)}: ${name}`);
    const { folds, choose } = flags;
    const known = { ...validationJson(validation, choose), folds };
    if (scene.signalCode !== undefined || model === undefined) {
      await scene.printJson(known);
      return scene.signalCode ?? (validation.complete ? exitCodes.done : exitCodes.unfinished);
    }
    const { lambda } = validation[choose];
    const all = { ...options, ...trainingSettings(flags), lambda };
    const { report, code } = await refit(dataset, all, model, scene, read);
    await scene.printJson({ ...known, model, report });
    return code;
  } finally {
    scene.close();
  }
}

function validate(
  dataset: Dataset,
  problem: ValidateOptions,
  flags: CvFlags,
  { progress, interrupts }: Scene,
): Promise<Validation> {
  const { folds, metric } = flags;
  const stage = 'cross-validating';
  interrupts.defer();
  progress.stage(stage, 0);
  return crossValidate(dataset, {
    ...problem,
    ...commonSettings(flags),
    folds,
    ...withoutUndefined({ metric }),
    onFit: (done, of) => progress.stage(stage, done / of),
    onNotice: (message) => progress.notice(message),
    signal: interrupts.signal,
  });
}

async function tell(
  validation: Validation,
  { choose, folds }: CvFlags,
  scene: Scene,
  title: string,
): Promise<void> {
  await scene.show({
    table: () => validationTable(validation, choose, scene.terminal.outputColours),
    csv: () => validationCsv(validation),
    figure: () => validationChart(validation, title),
  });
  for (const note of incompleteNote(validation, folds)) scene.say(note);
}
