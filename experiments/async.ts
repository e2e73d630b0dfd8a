/**
 * The asynchronous variant proposed in the paper: inner iterations without synchronization. Synchronous and asynchronous DSO on
 * 2 and 4 workers, on a quiet machine and while another thread takes part of a core away.
 */
import { availableParallelism } from 'node:os';
import { figure } from '../bench/table.ts';
import { losses } from '../src/problem/losses/index.ts';
import type { Run } from '../src/train/compare/comparison.ts';
import { keepBusy } from './support/busy.ts';
import { contest, entrantsOf, type Round, roundSummary } from './support/contest.ts';
import { generated } from './support/data.ts';
import { mostWorkers } from './support/epoch-times.ts';
import type { Claim, Experiment, Outcome, Setting } from './support/experiment.ts';
import { median } from './support/fit.ts';
import { costUntil, lastEvent } from './support/progress.ts';
import { section } from './support/report.ts';
import { combine, runOf } from './support/verdict.ts';

const sizes = [2, 4];

/** Milliseconds that the other thread works and rests. */
const work = 15;
const rest = 15;

/** Ratio of epochs up to which the lack of order counts as harmless. */
const harmless = 1.25;

/** One setting in which both were run. */
interface Case {
  readonly size: number;
  readonly disturbed: boolean;
  readonly title: string;
  readonly round: Round;
}

async function perform(setting: Setting): Promise<Outcome> {
  const sample = generated('real-sim', 1, setting);
  const cases: Case[] = [];
  const comparisons: Outcome['comparisons'][number][] = [];
  for (const size of sizes.filter((one) => one <= mostWorkers(sample.train))) {
    for (const disturbed of [false, true]) {
      const title = `p = ${size}${disturbed ? ', disturbed' : ''}`;
      const stop = disturbed ? keepBusy(work, rest) : async () => {};
      try {
        const { comparison, rounds } = await contest({ ...sample, name: title }, setting, {
          entrants: entrantsOf('dso,dso-async'),
          losses: [losses.hinge()],
          lambdas: [setting.numberOf('lambda')],
          grid: size,
          threads: Math.min(size, setting.threads),
          tolerance: setting.numberOf('tolerance'),
        });
        comparisons.push({ name: title.replace(/\W+/g, '-'), comparison });
        cases.push(...rounds.map((round) => ({ size, disturbed, title, round })));
      } finally {
        await stop();
      }
    }
  }
  const goal = commonGap(cases);
  setting.say(asyncTable(cases, goal));
  return {
    results: cases.map(({ round }) => roundSummary(round)),
    claims: claimsOf(cases, goal),
    figures: [],
    comparisons,
    skipped: sizes
      .filter((size) => size > Math.min(setting.threads, availableParallelism()))
      .map((size) => `p = ${size} on separate cores: ${setting.threads} threads run them`),
  };
}

/** A relative gap that every run has reached. */
function commonGap(cases: readonly Case[]): number {
  const gaps = cases.flatMap(({ round }) =>
    round.problem.runs.flatMap((one) => lastEvent(one)?.relativeGap ?? []),
  );
  return Math.max(0, ...gaps);
}

function epochSeconds({ events }: Run): number {
  const times = events.slice(1).map((event, k) => event.seconds - events[k].seconds);
  return times.length > 0 ? median(times) : (events[0]?.seconds ?? 0);
}

function asyncTable(cases: readonly Case[], goal: number): string {
  const head = ['case', 'solver', 'ms per epoch', 'epochs to the gap', 'seconds', 'last gap'];
  const rows = cases.flatMap(({ title, round }) =>
    round.problem.runs.map((one) => {
      const cost = costUntil(one, ({ relativeGap }) => relativeGap <= goal);
      const last = lastEvent(one);
      if (!last) return [title, one.solver, one.state, '', '', ''];
      return [
        title,
        one.solver,
        figure(1000 * epochSeconds(one)),
        cost ? String(cost.epochs) : '–',
        cost ? cost.seconds.toFixed(2) : '–',
        last.relativeGap.toExponential(1),
      ];
    }),
  );
  return section(`to a relative gap of ${goal.toExponential(1)}`, head, rows);
}

interface Pair {
  readonly text: string;
  /** Asynchronous over synchronous. */
  readonly epochs: number;
  readonly seconds: number;
}

function pairOf({ title, round }: Case, goal: number): Pair | undefined {
  const costs = ['dso', 'dso-async'].map((name) => {
    const one = runOf(round, name);
    return one && costUntil(one, ({ relativeGap }) => relativeGap <= goal);
  });
  const [sync, async] = costs;
  if (!sync || !async) return undefined;
  const [epochs, seconds] = [async.epochs / sync.epochs, async.seconds / sync.seconds];
  const text = `${title}: ${async.epochs} epochs for ${sync.epochs}, ${figure(seconds)} times the time`;
  return { text, epochs, seconds };
}

function claimsOf(cases: readonly Case[], goal: number): Claim[] {
  const all = cases.map((one) => pairOf(one, goal));
  const disturbed = cases.filter((one) => one.disturbed).map((one) => pairOf(one, goal));
  const text = (pairs: readonly (Pair | undefined)[]) =>
    pairs.map((pair) => pair?.text ?? 'not run').join(' | ');
  return [
    {
      claim: 'an asynchronous version (NOMAD) still converges: any serial order of updates will do',
      measured: `epochs of dso-async for those of dso: ${text(all)}`,
      verdict: combine(all.map((pair) => pair && pair.epochs <= harmless)),
    },
    {
      claim: '(beyond the paper) it is faster if workers differ in speed',
      measured: `with a thread that takes half of a core: ${text(disturbed)}`,
      verdict: combine(disturbed.map((pair) => pair && pair.seconds < 1)),
    },
  ];
}

export const asynchronous: Experiment = {
  name: 'async',
  summary: 'synchronous and asynchronous DSO, with and without load on a core (the outlook)',
  time: 10,
  extras: {
    lambda: { default: 1e-5, text: 'λ' },
    tolerance: { default: 1e-3, text: 'relative gap to stop at' },
  },
  run: perform,
};
