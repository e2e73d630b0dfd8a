import type { Dataset } from '../../../data/dataset.ts';
import { warmThreads } from '../../../engine/thread-pool.ts';
import { penaltyEntry } from '../../../problem/penalties/index.ts';
import { searchChart, validationChart } from '../../../reporting/charts/selection.ts';
import { penaltyName, plural } from '../../../reporting/format.ts';
import {
  incompleteNote,
  measureKey,
  searchCsv,
  searchTable,
  validationCsv,
  validationJson,
  validationTable,
} from '../../../reporting/text/selection.ts';
import type { TrainOptions } from '../../../train/options/options.ts';
import { nameOfSource } from '../../../train/read.ts';
import {
  crossValidate,
  type ValidateOptions,
  type Validation,
} from '../../../train/select/cross-validate.ts';
import { type Search, search } from '../../../train/select/search.ts';
import type { CvFlags, SearchFlags } from '../options.ts';
import {
  chooseLoss,
  chooseLosses,
  choosePenalties,
  choosePenalty,
  chooseSolver,
} from '../problem.ts';
import { defaultModelPath, readData } from '../reading.ts';
import {
  checkFiles,
  commonSettings,
  readFactors,
  refit,
  SelectionCommand,
  trainingSettings,
} from '../selection.ts';
import { exitCodes, type Terminal } from '../terminal.ts';

/** How `dso cv` and `dso search` differ. */
interface Selection<Found extends { readonly complete: boolean }> {
  readonly stage: string;
  readonly find: (dataset: Dataset, options: CommonOptions) => Promise<Found>;
  readonly show: (found: Found, command: SelectionCommand) => Promise<void>;
  readonly json: (found: Found) => object;
  /** What the final model is trained with. */
  readonly chosen: (found: Found) => Required<Pick<TrainOptions, 'loss' | 'penalty' | 'lambda'>>;
}

type CommonOptions = Omit<ValidateOptions, 'loss' | 'penalty' | 'onFit'> & {
  readonly onFraction: (fraction: number) => void;
};

async function select<Found extends { readonly complete: boolean }>(
  data: string,
  flags: CvFlags | SearchFlags,
  terminal: Terminal,
  selection: Selection<Found>,
): Promise<number> {
  const model = flags.refit ? (flags.output ?? defaultModelPath(data)) : undefined;
  checkFiles(data, flags, model);
  const solver = chooseSolver(flags);
  warmThreads(flags.threads);
  const command = new SelectionCommand(terminal, flags, model);
  const { progress, interrupts } = command;
  try {
    const started = performance.now();
    const dataset = await readData(data, flags, progress);
    const options = { solver, ...(await readFactors(flags, dataset)) };
    const read = (performance.now() - started) / 1000;
    const { folds, metric } = flags;
    interrupts.defer();
    progress.stage(selection.stage, 0);
    const found = await command.untilEnded(
      selection.find(dataset, {
        ...options,
        ...commonSettings(flags),
        folds,
        ...(metric !== undefined && { metric }),
        onFraction: (fraction) => progress.stage(selection.stage, fraction),
        onNotice: (message) => progress.notice(message),
        signal: interrupts.signal,
      }),
    );
    if (!found) return command.signalCode ?? exitCodes.failure;
    await selection.show(found, command);
    const result = { ...selection.json(found), folds };
    if (command.signalCode !== undefined || model === undefined) {
      await command.printJson(result);
      return command.signalCode ?? (found.complete ? exitCodes.done : exitCodes.unfinished);
    }
    const all = { ...options, ...trainingSettings(flags), ...selection.chosen(found) };
    const { report, code } = await refit(dataset, all, model, command, read);
    await command.printJson({ ...result, model, report });
    return code;
  } finally {
    command.close();
  }
}

export async function cvCommand(data: string, flags: CvFlags, terminal: Terminal): Promise<number> {
  const problem = { loss: await chooseLoss(flags), penalty: choosePenalty(flags) };
  const { choose, folds } = flags;
  const name = `${problem.loss.name} loss, ${penaltyName(problem.penalty)} penalty`;
  return select<Validation>(data, flags, terminal, {
    stage: 'cross-validating',
    find: (dataset, { onFraction, ...options }) =>
      crossValidate(dataset, {
        ...problem,
        ...options,
        onFit: (done, of) => onFraction(done / of),
      }),
    async show(validation, command) {
      await command.show({
        table: () => validationTable(validation, choose, terminal.outputColours),
        csv: () => validationCsv(validation),
        figure: () => validationChart(validation, `${nameOfSource(data)}: ${name}`),
      });
      for (const note of incompleteNote(validation, folds)) command.say(note);
    },
    json: (validation) => validationJson(validation, choose),
    chosen: (validation) => ({ ...problem, lambda: validation[choose].lambda }),
  });
}

export async function searchCommand(
  data: string,
  flags: SearchFlags,
  terminal: Terminal,
): Promise<number> {
  const losses = await chooseLosses(flags);
  const penalties = choosePenalties(flags);
  const candidates = losses.length * penalties.length;
  const { choose, folds } = flags;
  return select<Search>(data, flags, terminal, {
    stage: 'searching',
    find: (dataset, { onFraction, onNotice: _, ...options }) =>
      search(dataset, {
        ...options,
        losses,
        penalties,
        onFit: (index, done, of) => onFraction((index + done / of) / candidates),
      }),
    async show(found, command) {
      await command.show({
        table: () => searchTable(found, choose, terminal.outputColours),
        csv: () => searchCsv(found),
        figure: () => searchChart(found, nameOfSource(data)),
      });
      const missing = candidates - found.ranking.length;
      if (missing > 0)
        command.say(`incomplete: ${plural(missing, 'candidate')} of ${candidates} left out`);
      for (const note of incompleteNote(found.winner.validation, folds)) command.say(note);
    },
    json: (found) => searchJson(found, choose),
    chosen: ({ winner: { loss, penalty, validation } }) => ({
      loss,
      penalty,
      lambda: validation[choose].lambda,
    }),
  });
}

function searchJson({ metric, complete, ranking }: Search, choose: 'best' | 'simplest') {
  return {
    metric: measureKey(metric),
    complete,
    ranking: ranking.map(({ loss, penalty, validation }) => ({
      loss: loss.name,
      ...(loss.parameterName !== undefined && { [loss.parameterName]: loss.parameter }),
      penalty: penalty.name,
      ...(penaltyEntry(penalty.name)?.parameters.includes('l1Ratio') && { l1Ratio: penalty.l1 }),
      ...validationJson(validation, choose),
    })),
  };
}
