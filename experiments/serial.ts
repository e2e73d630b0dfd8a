/**
 * Figure "serial": test error of linear SVMs trained by DSO, SGD and BMRM on one core, against the
 * number of iterations; here also against time, with the objective, and with the state of the art.
 */
import { losses } from '../src/problem/losses/index.ts';
import { contest, entrantsOf, type Round, roundSummary, roundTable } from './support/contest.ts';
import { debdesc, generated, type Sample } from './support/data.ts';
import type { Claim, Experiment, Outcome, Setting } from './support/experiment.ts';
import { costUntilError } from './support/progress.ts';
import { combine, duel, endText, race, runOf } from './support/verdict.ts';

/** Mean test errors within this ratio are comparable. */
const comparableErrors = 1.1;

/** Ratios of time within which two solvers count as comparable. */
const comparableTimes = 3;

async function perform(setting: Setting): Promise<Outcome> {
  const found = await debdesc(setting);
  const samples: Sample[] = [generated('real-sim', 1, setting)];
  if (typeof found !== 'string') samples.push(found);
  const comparisons: Outcome['comparisons'][number][] = [];
  const rounds: Round[] = [];
  for (const sample of samples) {
    const result = await contest(sample, setting, {
      entrants: entrantsOf(setting.textOf('solvers')),
      losses: [losses.hinge()],
      lambdas: [1e-5, 1e-6],
      threads: 1,
      grid: 1,
    });
    comparisons.push({ name: sample.name, comparison: result.comparison });
    rounds.push(...result.rounds);
  }
  for (const round of rounds) setting.say(roundTable(round));
  return {
    results: rounds.map(roundSummary),
    claims: claimsOf(rounds),
    figures: [],
    comparisons,
    skipped: typeof found === 'string' ? [found] : [],
  };
}

function claimsOf(rounds: readonly Round[]): Claim[] {
  const sgd = rounds.map((round) => duel(round, 'dso', 'sgd'));
  const bmrm = rounds.map((round) => duel(round, 'dso', 'bmrm'));
  const text = (duels: typeof sgd) => duels.map((one) => one?.text ?? 'not run').join(' | ');
  return [
    {
      claim: 'DSO shows comparable efficiency to that of SGD (test error against iterations)',
      measured: `mean test error over 40 iterations, dso / sgd: ${text(sgd)}`,
      verdict: combine(sgd.map((one) => one && one.epochs <= comparableErrors)),
    },
    {
      claim: 'DSO outperforms BMRM',
      measured: `mean test error over 40 iterations, dso / bmrm: ${text(bmrm)}`,
      verdict: combine(bmrm.flatMap((one) => [one && one.epochs < 1, one && one.seconds < 1])),
    },
    {
      claim: 'saddle point optimization is a viable strategy even in the serial setting',
      measured: `as good on the test rows as the best P: ${rounds.map(viabilityText).join(' | ')}`,
      verdict: combine(rounds.map(isViable)),
    },
    stateOfTheArt(rounds),
  ];
}

function isViable(round: Round): boolean | undefined {
  const run = runOf(round, 'dso');
  return run && costUntilError(run, round.goals) !== undefined;
}

function viabilityText(round: Round): string {
  const run = runOf(round, 'dso');
  const cost = run && costUntilError(run, round.goals);
  const names = round.problem.runs.map(({ solver }) => endText(round, solver));
  const when = cost ? `dso after ${cost.epochs} epochs` : 'dso never';
  return `${round.sample}, ${round.title}: ${when} (in the end: ${names.join('; ')})`;
}

function stateOfTheArt(rounds: readonly Round[]): Claim {
  const races = rounds.flatMap((round) =>
    ['ring', 'dcd'].map((name) => race(round, 'dso', name, 'primal')),
  );
  return {
    claim: '(beyond the paper) DSO is on a par with dual coordinate steps: ring, dcd',
    measured: `P within 1 % of the best: ${races.map((one) => one?.text ?? 'neither').join(' | ')}`,
    verdict: combine(races.map((one) => one && one.seconds <= comparableTimes)),
  };
}

export const serial: Experiment = {
  name: 'serial',
  summary: 'linear SVM on one core: test error and objective of DSO, SGD and BMRM (figure 3)',
  time: 10,
  extras: {
    solvers: { default: 'dso,sgd,bmrm,ring,dcd', text: 'solvers to compare, separated by commas' },
  },
  run: perform,
};
