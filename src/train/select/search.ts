import type { Dataset } from '../../data/dataset.ts';
import {
  gatherFloats,
  type ProcessGroup,
  singleProcess,
} from '../../engine/processes/process-group.ts';
import { UsageError } from '../../errors.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import type { Penalty } from '../../problem/penalties/index.ts';
import { omit } from '../options/option.ts';
import type { TrainResult } from '../options/options.ts';
import { timeBudget, train } from '../train.ts';
import {
  crossValidateInGroup,
  type ValidateOptions,
  type Validation,
  withoutSelection,
} from './cross-validate.ts';
import { checkMeasure, isBetter, type MeasureName } from './measure.ts';

/** `time` is for the whole search. */
export interface SearchOptions extends Omit<ValidateOptions, 'loss' | 'penalty' | 'onFit'> {
  /** All for the same task. */
  readonly losses: readonly Loss[];
  readonly penalties: readonly Penalty[];
  /** Called after each model: the candidate, models trained for it, and how many there will be. */
  readonly onFit?: (candidate: number, done: number, of: number) => void;
}

/** A loss and a penalty, and what cross-validation says of them. */
export interface Candidate {
  readonly loss: Loss;
  readonly penalty: Penalty;
  readonly validation: Validation;
}

export interface Search {
  readonly metric: MeasureName;
  /** The best first, by the mean of their best λ; of equal ones the one that was named first. */
  readonly ranking: readonly Candidate[];
  readonly winner: Candidate;
  /** false where a signal or the limit on time left candidates, folds or λs out. */
  readonly complete: boolean;
}

/** Cross-validates every loss with every penalty, on the same folds and by the same measure. */
export async function search(dataset: Dataset, options: SearchOptions): Promise<Search> {
  return searchInGroup(dataset, options, singleProcess);
}

/** The same in all processes of a group, each with all rows and some of the folds; all get it. */
export async function searchInGroup(
  dataset: Dataset,
  { losses, penalties, metric, onFit, time = Infinity, ...options }: SearchOptions,
  group: ProcessGroup,
): Promise<Search> {
  const name = metric ?? (losses[0]?.task === 'regression' ? 'mse' : 'error');
  checkCandidates(losses, penalties, name);
  const pairs = losses.flatMap((loss) => penalties.map((penalty) => ({ loss, penalty })));
  const budget = timeBudget(time, pairs.length, 1);
  const isAborted = () => Number(options.signal?.aborted ?? false);
  const found: Candidate[] = [];
  let complete = true;
  for (const [index, pair] of pairs.entries()) {
    const clocks = await gatherFloats(group, Float64Array.of(budget(), isAborted()));
    // That of the first process decides for all.
    const [[share]] = clocks;
    // The first candidate is tried in any case: it says what is wrong if nothing can be measured.
    const isOver = !(share > 0) || clocks.some(([, aborted]) => aborted === 1);
    if (index > 0 && isOver) complete = false;
    if (!complete) break;
    const own = {
      ...options,
      ...pair,
      ...(share < Infinity && { time: Math.max(share, Number.MIN_VALUE) }),
      metric: name,
      ...(onFit && { onFit: (done: number, of: number) => onFit(index, done, of) }),
    };
    const validation = await crossValidateInGroup(dataset, own, group);
    // What was measured on some of the folds is compared only if there is nothing else.
    if (!validation.complete) complete = false;
    if (validation.complete || found.length === 0) found.push({ ...pair, validation });
  }
  const order = (left: number, right: number) =>
    Number(isBetter(name, right, left)) - Number(isBetter(name, left, right));
  const meanOf = ({ validation }: Candidate) => validation.best.mean;
  const ranking = found.sort((left, right) => order(meanOf(left), meanOf(right)));
  return { metric: name, ranking, winner: ranking[0], complete };
}

/** The same, then trains on all rows with the winner's loss, penalty and λ. */
export async function searchAndTrain(
  dataset: Dataset,
  options: SearchOptions & { readonly choose?: 'best' | 'simplest' },
): Promise<TrainResult & { readonly search: Search }> {
  const { choose = 'best', ...rest } = options;
  const found = await search(dataset, rest);
  const { loss, penalty, validation } = found.winner;
  const { lambda } = validation[choose];
  const others = withoutSelection(omit(rest, 'losses', 'penalties', 'onFit'));
  const trained = await train(dataset, { ...others, loss, penalty, lambda });
  return { ...trained, search: found };
}

function checkCandidates(
  losses: readonly Loss[],
  penalties: readonly Penalty[],
  metric: MeasureName,
): void {
  if (losses.length === 0) throw new UsageError('no loss to search among; give at least one');
  if (penalties.length === 0) throw new UsageError('no penalty to search among; give at least one');
  const other = losses.find(({ task }) => task !== losses[0].task);
  if (other) {
    throw new UsageError(
      `the ${losses[0].name} loss is for ${losses[0].task} and the ${other.name} loss for ${other.task}: no measure fits both`,
    );
  }
  for (const loss of losses) checkMeasure(metric, loss);
  const [first] = losses;
  const differs = losses.some(
    ({ name, parameter }) => name !== first.name || parameter !== first.parameter,
  );
  if (metric === 'loss' && differs) {
    const fitting = first.task === 'classification' ? 'error or auc' : 'mse or mae';
    throw new UsageError(`metric loss cannot compare losses with one another; choose ${fitting}`);
  }
}
