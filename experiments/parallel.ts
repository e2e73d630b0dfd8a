/**
 * Figures "parallel": test error of SVM and logistic regression against time for DSO, PSGD and
 * BMRM; here also the objective, and the other parallel solvers.
 */
import { figure } from '../bench/table.ts';
import { type ShapeName, shapeNames } from '../src/data/shapes.ts';
import { UsageError } from '../src/errors.ts';
import { losses } from '../src/problem/losses/index.ts';
import { contest, entrantsOf, type Round, roundSummary, roundTable } from './support/contest.ts';
import { debdesc, generated, reduction, type Sample } from './support/data.ts';
import type { Claim, Experiment, Outcome, Setting } from './support/experiment.ts';
import { combine, endText, excess, race, runOf } from './support/verdict.ts';

/** Rows of the paper's data that are generated at scale 1. */
const shares: Readonly<Record<ShapeName, number>> = {
  'real-sim': 1,
  webspam: 0.01,
  splice: 0.0005,
};

/** Ratios of cost within which two solvers count as comparable. */
const comparable = 3;

/** A P this far above the best is of the same quality; beyond it is a poor solution. */
const similar = 0.01;

function shapeOf(setting: Setting): ShapeName {
  const given = setting.textOf('like');
  const found = shapeNames.find((name) => name === given);
  if (found) return found;
  throw new UsageError(`--like ${given}: expected one of ${shapeNames.join(', ')}`);
}

async function perform(setting: Setting): Promise<Outcome> {
  const like = shapeOf(setting);
  const sample = generated(like, shares[like], setting);
  // The same λm as in the paper: with fewer rows, the same weight of the loss against the penalty.
  const factor = reduction(like, sample);
  const found = await debdesc(setting);
  const parts = [await contestOn(sample, factor, setting)];
  if (typeof found !== 'string') parts.push(await contestOn(found, 1, setting));
  const rounds = parts.flatMap((part) => part.rounds);
  for (const round of rounds) setting.say(roundTable(round));
  return {
    results: { lambdaFactor: factor, rounds: rounds.map(roundSummary) },
    claims: claimsOf(rounds, factor),
    figures: [],
    comparisons: parts.map(({ name, comparison }) => ({ name, comparison })),
    skipped: typeof found === 'string' ? [found] : [],
  };
}

/** The SVM with two λ and logistic regression with one, each `factor` times the paper's. */
async function contestOn(sample: Sample, factor: number, setting: Setting) {
  const grid = Math.min(setting.numberOf('grid'), sample.train.rows);
  const entrants = entrantsOf(setting.textOf('solvers'));
  const hinge = await contest(sample, setting, {
    // L-BFGS is for smooth losses.
    entrants: entrants.filter(({ name }) => name !== 'lbfgs'),
    losses: [losses.hinge()],
    lambdas: [1e-5 * factor, 1e-6 * factor],
    grid,
  });
  const both = await contest(sample, setting, {
    entrants,
    losses: [losses.logistic()],
    lambdas: [1e-5 * factor],
    grid,
    previous: hinge.comparison,
  });
  return { name: sample.name, ...both };
}

/** The paper's own configuration if it ran, else the plain solver. */
function paperSolver(round: Round): string {
  return runOf(round, 'paper') ? 'paper' : 'dso';
}

function ends(rounds: readonly Round[], names: readonly string[]): string {
  return rounds
    .map(
      (round) =>
        `${round.sample}, ${round.title}: ${names.map((name) => endText(round, name)).join('; ')}`,
    )
    .join(' | ');
}

/** Whether PSGD was within 1 % of its final P before DSO had as small a P. */
function wasQuick(round: Round): boolean | undefined {
  const run = runOf(round, 'psgd');
  const other = runOf(round, paperSolver(round));
  if (!run || !other) return undefined;
  const last = run.events.at(-1)!;
  const settled = run.events.find(({ primal }) => primal <= last.primal * (1 + similar))!;
  const passed = other.events.find(({ primal }) => primal <= settled.primal);
  return passed === undefined || settled.seconds <= passed.seconds;
}

/** Whether DSO ends with fewer errors than PSGD; undefined if they are equal. */
function hasLessError(round: Round): boolean | undefined {
  const dso = runOf(round, paperSolver(round))?.events.at(-1)?.testError;
  const psgd = runOf(round, 'psgd')?.events.at(-1)?.testError;
  return dso === undefined || psgd === undefined || dso === psgd ? undefined : dso < psgd;
}

function claimsOf(rounds: readonly Round[], factor: number): Claim[] {
  const poor = rounds.map((round) => {
    const above = excess(round, 'psgd');
    return above === undefined ? undefined : above > similar;
  });
  const beats = rounds.map((round) => {
    const [dso, psgd] = [excess(round, paperSolver(round)), excess(round, 'psgd')];
    return dso === undefined || psgd === undefined ? undefined : dso < psgd;
  });
  const good = rounds.flatMap((round) =>
    [paperSolver(round), 'bmrm'].map((name) => {
      const above = excess(round, name);
      return above === undefined ? undefined : above <= similar;
    }),
  );
  const races = rounds.map((round) => race(round, paperSolver(round), 'bmrm', 'primal'));
  const admm = rounds.map((round) => race(round, 'bmrm', 'admm', 'primal'));
  const isComparable = (one: (typeof races)[number]) =>
    one && one.seconds <= comparable && one.seconds >= 1 / comparable;
  const lambda = `(on generated data λ is ${figure(factor)} times the paper's, for as many times fewer rows)`;
  return [
    {
      claim: 'PSGD converges very quickly',
      measured: `PSGD converges before DSO has as small a P: ${rounds.map((round) => `${round.sample}, ${round.title}: ${wasQuick(round) ?? 'not run'}`).join(' | ')}`,
      verdict: combine(rounds.map(wasQuick)),
    },
    {
      claim: 'the quality of the final solution of PSGD is poor',
      measured: `${ends(rounds, ['psgd'])} ${lambda}`,
      verdict: combine(poor),
    },
    {
      claim: 'DSO outperforms PSGD, by the objective',
      measured: ends(rounds, ['dso', 'paper', 'psgd']),
      verdict: combine(beats),
    },
    {
      claim: 'DSO outperforms PSGD, by the test error',
      measured: 'the errors of the line above',
      verdict: combine(rounds.map(hasLessError)),
    },
    {
      claim: 'BMRM and DSO converge to solutions of similar quality',
      measured: ends(rounds, ['dso', 'paper', 'bmrm', 'ring', 'dso-async', 'lbfgs']),
      verdict: combine(good),
    },
    {
      claim: 'BMRM and DSO converge at fairly comparable rates',
      measured: `P within 1 %: ${races.map((one) => one?.text ?? 'neither').join(' | ')}`,
      verdict: combine(races.map(isComparable)),
    },
    {
      claim: 'BMRM has similar performance to ADMM',
      measured: `P within 1 %: ${admm.map((one) => one?.text ?? 'neither').join(' | ')}`,
      verdict: combine(admm.map(isComparable)),
    },
  ];
}

export const parallel: Experiment = {
  name: 'parallel',
  summary: 'SVM and logistic regression on all cores: DSO, PSGD, BMRM and others (figures 4, 5)',
  time: 10,
  extras: {
    like: { default: 'webspam', text: `shape of the data: ${shapeNames.join(', ')}` },
    grid: { default: 8, text: 'workers of the grid' },
    solvers: {
      default: 'dso,paper,dso-async,psgd,bmrm,ring,admm,lbfgs',
      text: 'solvers to compare, separated by commas',
    },
  },
  run: perform,
};
