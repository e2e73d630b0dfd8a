import { modelHash, readVisits, type VisitRecord } from '../../apps/cli/commands/replay.ts';
import { createProgress } from '../../apps/cli/progress.ts';
import type { Dataset } from '../../data/dataset.ts';
import { hashData } from '../../data/fingerprint.ts';
import { DataError } from '../../errors.ts';
import { writeModel } from '../../model/file.ts';
import type { Model } from '../../model/model.ts';
import { plural } from '../../reporting/format.ts';
import { solvers } from '../../solvers/index.ts';
import type { Solver } from '../../solvers/solver.ts';
import type { EpochEvent } from '../../train/events.ts';
import { train } from '../../train/train.ts';
import { withoutUndefined } from '../defined.ts';
import type { ReplayFlags } from '../definitions/replay.ts';
import { exitCodes } from '../exit-codes.ts';
import { checkOutput, checkStandardInput } from '../outputs.ts';
import { chooseLoss, choosePenalty, chooseSolver, readPenaltyFactors } from '../problem.ts';
import { readData } from '../reading.ts';
import type { Terminal } from '../terminal.ts';

export async function replayCommand(
  visits: string,
  data: string,
  flags: ReplayFlags,
  terminal: Terminal,
): Promise<number> {
  checkStandardInput([visits, data]);
  if (flags.output !== undefined) checkOutput('--output', flags.output, [visits, data]);
  const record = await readVisits(visits);
  const progress = createProgress(terminal, flags.quiet ?? false);
  try {
    const options = { ...record.flags, ...withoutUndefined({ threads: flags.threads }) };
    const dataset = await readData(data, options, progress);
    checkData(dataset, record);
    const loss = await chooseLoss(record.flags);
    progress.start(loss.task, { tolerance: 0, epochs: record.epochs.length, seconds: undefined });
    const events: EpochEvent[] = [];
    const { lambda, seed, tolerance, holdout, earlyStop, intercept, penaltyFactors } = record.flags;
    const { classWeight: classWeights, scale } = record.flags;
    const { model } = await train(dataset, {
      ...withoutUndefined({ lambda, seed, tolerance, holdout, earlyStop, intercept }),
      ...withoutUndefined({ classWeights, scale }),
      ...(penaltyFactors !== undefined && {
        penaltyFactors: await readPenaltyFactors(penaltyFactors, dataset.columns),
      }),
      loss,
      penalty: choosePenalty(record.flags),
      solver: solverOf(record),
      grid: record.grid,
      epochs: record.epochs.length,
      onEpoch(event) {
        progress.epoch(event);
        events.push(event);
      },
    });
    const same = sameStop(model, record);
    if (flags.output !== undefined) await writeModel(flags.output, same);
    progress.end();
    return verdict(same, events, record, flags, terminal);
  } finally {
    progress.end();
  }
}

/** The visits of all epochs in one array, as the solver takes them. */
function solverOf({ flags, epochs, grid }: VisitRecord): Solver {
  const solver = chooseSolver({ ...flags, solver: 'dso-async' });
  if (solver.name !== 'dso-async') throw new Error('not the solver that was asked for');
  const order = new Int32Array(epochs.length * grid * grid);
  for (const [epoch, { visits }] of epochs.entries()) order.set(visits, epoch * grid * grid);
  return solvers.dsoAsync({ ...solver.settings, order });
}

function checkData(dataset: Dataset, { data }: VisitRecord): void {
  if (hashData(dataset) === data) return;
  throw new DataError(`${dataset.name}: not the data of the recorded run (its hash is another)`);
}

/** A replay ends where its record does, whatever ended the recorded run. */
function sameStop(model: Model, { stopped }: VisitRecord): Model {
  return { ...model, certificate: { ...model.certificate, stopped } };
}

function verdict(
  model: Model,
  events: readonly EpochEvent[],
  record: VisitRecord,
  flags: ReplayFlags,
  terminal: Terminal,
): number {
  const { epochs, grid } = record;
  const visits = `${plural(epochs.length, 'epoch')}, ${plural(epochs.length * grid * grid, 'visit')}`;
  const hash = modelHash(model);
  const first = firstDifference(events, record);
  if (hash === record.model && first === undefined) {
    if (!flags.quiet) {
      terminal.say(
        terminal.colours.green(`${visits} replayed serially: the same model, bit for bit`),
      );
      terminal.say(terminal.colours.dim(`sha256 ${hash}`));
    }
    return exitCodes.done;
  }
  const written =
    flags.output === undefined ? '' : `; what the replay arrived at is in ${flags.output}`;
  terminal.error(
    `${visits} replayed serially: not what was recorded; ` +
      (first === undefined
        ? 'objective and bound are the same in every epoch, the model is another'
        : `objective or bound first differ in epoch ${first + 1}`) +
      written,
  );
  return exitCodes.failure;
}

/** The first epoch whose P or D is not the recorded one. JSON has no infinity: it stands as 0. */
function firstDifference(
  events: readonly EpochEvent[],
  { epochs }: VisitRecord,
): number | undefined {
  const recorded = (value: number | undefined) => (Number.isFinite(value) ? value : 0);
  const first = epochs.findIndex(
    ({ primal, dual }, k) =>
      recorded(events[k]?.primal) !== primal || recorded(events[k]?.dual) !== dual,
  );
  return first < 0 ? undefined : first;
}
