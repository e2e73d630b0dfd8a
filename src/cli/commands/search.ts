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
import { UsageError } from '../../errors.ts';
import type { Penalty } from '../../penalties/penalty.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { searchChart } from '../../reporting/charts/selection.ts';
import { plural } from '../../reporting/format.ts';
import {
  incompleteNote,
  measureKey,
  searchCsv,
  searchTable,
  validationJson,
} from '../../reporting/text/selection.ts';
import { nameOfSource } from '../../train/read-dataset.ts';
import { type Search, type SearchOptions, search } from '../../train/select/search.ts';
import { warmThreads } from '../../train/threads.ts';
import { withoutUndefined } from '../defined.ts';
import type { SearchFlags } from '../definitions/search.ts';
import { exitCodes } from '../exit-codes.ts';
import { chooseLoss, choosePenalty, chooseSolver, lossParameters } from '../problem.ts';
import { readData } from '../reading.ts';
import type { Terminal } from '../terminal.ts';

export async function searchCommand(
  data: string,
  given: SearchFlags,
  terminal: Terminal,
): Promise<number> {
  const { lambda: _, ...flags } = given;
  const model = flags.refit ? (flags.output ?? defaultModelPath(data)) : undefined;
  checkFiles(data, flags, model);
  const losses = await chooseLosses(flags);
  const penalties = choosePenalties(flags);
  const solver = chooseSolver(flags);
  const candidates = losses.length * penalties.length;
  warmThreads(flags.threads);
  const scene = new Scene(terminal, flags, model);
  try {
    const started = performance.now();
    const dataset = await readData(data, flags, scene.progress);
    const options = { solver, ...(await readFactors(flags, dataset)) };
    const read = (performance.now() - started) / 1000;
    const among = { ...options, losses, penalties };
    const found = await scene.untilEnded(searchAmong(dataset, among, given, scene));
    if (!found) return scene.signalCode ?? exitCodes.failure;
    const { folds, choose } = flags;
    await tell(found, flags, candidates, scene, nameOfSource(data));
    const known = jsonOf(found, choose, folds);
    if (scene.signalCode !== undefined || model === undefined) {
      await scene.printJson(known);
      return scene.signalCode ?? (found.complete ? exitCodes.done : exitCodes.unfinished);
    }
    const { loss, penalty, validation } = found.winner;
    const { lambda } = validation[choose];
    const all = { ...options, ...trainingSettings(flags), loss, penalty, lambda };
    const { report, code } = await refit(dataset, all, model, scene, read);
    await scene.printJson({ ...known, model, report });
    return code;
  } finally {
    scene.close();
  }
}

function searchAmong(
  dataset: Dataset,
  among: SearchOptions,
  flags: SearchFlags,
  { progress, interrupts }: Scene,
): Promise<Search> {
  const { folds, metric } = flags;
  const candidates = among.losses.length * among.penalties.length;
  const stage = 'searching';
  interrupts.defer();
  progress.stage(stage, 0);
  return search(dataset, {
    ...among,
    ...commonSettings(flags),
    folds,
    ...withoutUndefined({ metric }),
    onFit: (place, done, of) => progress.stage(stage, (place + done / of) / candidates),
    signal: interrupts.signal,
  });
}

async function tell(
  found: Search,
  { choose, folds }: SearchFlags,
  candidates: number,
  scene: Scene,
  title: string,
): Promise<void> {
  await scene.show({
    table: () => searchTable(found, choose, scene.terminal.outputColours),
    csv: () => searchCsv(found),
    figure: () => searchChart(found, title),
  });
  const missing = candidates - found.ranking.length;
  if (missing > 0)
    scene.say(`incomplete: ${plural(missing, 'candidate')} of ${candidates} left out`);
  for (const note of incompleteNote(found.winner.validation, folds)) scene.say(note);
}

function jsonOf({ metric, complete, ranking }: Search, choose: 'best' | 'simplest', folds: number) {
  return {
    metric: measureKey(metric),
    complete,
    folds,
    ranking: ranking.map(({ loss, penalty, validation }) => ({
      loss: loss.name,
      ...(loss.parameterName !== undefined && { [loss.parameterName]: loss.parameter }),
      penalty: penalty.name,
      ...(penalty.name === 'elastic-net' && { l1Ratio: penalty.l1 }),
      ...validationJson(validation, choose),
    })),
  };
}

/** The losses by name; a parameter goes to the loss whose it is, and one of none is an error. */
async function chooseLosses(flags: SearchFlags): Promise<Loss[]> {
  const used = new Set<string>();
  const losses: Loss[] = [];
  for (const loss of flags.loss) {
    const plain = await chooseLoss({ loss, penalty: 'l2' });
    const own = lossParameters.find((parameter) => parameter === plain.parameterName);
    const value = own && flags[own];
    if (own === undefined || value === undefined) {
      losses.push(plain);
      continue;
    }
    used.add(own);
    losses.push(await chooseLoss({ loss, penalty: 'l2', [own]: value }));
  }
  for (const name of lossParameters) {
    if (flags[name] === undefined || used.has(name)) continue;
    throw new UsageError(
      `--${name} ${flags[name]}: not a setting of any of the losses ${flags.loss.join(', ')}`,
    );
  }
  return losses;
}

/** An elastic net for each of L1's shares. */
function choosePenalties(flags: Omit<SearchFlags, 'lambda'>): Penalty[] {
  const { penalty: names, l1Ratio: ratios, lower, upper, nonNegative } = flags;
  if (ratios && !names.includes('elastic-net')) {
    throw new UsageError(
      `--l1-ratio ${ratios.join(',')}: a setting of --penalty elastic-net; the penalties are ${names.join(', ')}`,
    );
  }
  const bounds = withoutUndefined({ lower, upper, nonNegative });
  return names.flatMap((penalty) => {
    const own = { loss: 'hinge', penalty, ...bounds };
    if (penalty !== 'elastic-net' || !ratios) return [choosePenalty(own)];
    return ratios.map((l1Ratio) => choosePenalty({ ...own, l1Ratio }));
  });
}
