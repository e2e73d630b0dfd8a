import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DsoError } from '../../src/errors.ts';
import type { Random } from '../../src/math/random.ts';
import type { TrainOptions, TrainResult } from '../../src/train/options/options.ts';
import { train } from '../../src/train/train.ts';
import { type Verification, verify } from '../../src/train/verify/verify.ts';
import { without } from './minimize.ts';
import {
  csvOfProblem,
  datasetOfProblem,
  flagsOfProblem,
  optionsOfProblem,
  type RandomProblem,
  randomProblem,
} from './random-problem.ts';
import { Counts, type Target } from './target.ts';

/** The sentence of solvers whose steps are too long for a problem. */
const diverged = /the objective is no longer finite/;

interface Finding {
  readonly outcome: string;
  /** What is wrong with the certificate, if anything. */
  readonly problem?: string;
}

/** Trains, and checks all that the model claims. */
async function examine(problem: RandomProblem): Promise<Finding> {
  const options = optionsOfProblem(problem);
  const keepDual = problem.solver !== 'bmrm';
  const result = await attempt(problem, { ...options, keepDual });
  if (result instanceof Error) {
    return { outcome: diverged.test(result.message) ? 'diverged' : 'refused' };
  }
  const { stopped } = result.report;
  const wrong = contradictionIn(result, options) ?? (await falsehoodIn(problem, options, result));
  return wrong === undefined ? { outcome: stopped } : { outcome: 'false', problem: wrong };
}

/** What the numbers of a report say against one another. */
function contradictionIn({ report }: TrainResult, options: TrainOptions): string | undefined {
  const { primal, dual, relativeGap, stopped } = report;
  if (!(primal >= dual)) return `objective ${primal} below its bound ${dual}`;
  const expected = primal === dual ? 0 : (primal - dual) / Math.abs(primal);
  if (!Object.is(relativeGap, expected)) {
    return `relative gap ${relativeGap}; expected ${expected} of ${primal} and ${dual}`;
  }
  if (stopped === 'converged' && !(relativeGap <= (options.tolerance ?? 0))) {
    return `converged at a relative gap of ${relativeGap}`;
  }
  return undefined;
}

/** What the data says against a certificate. */
async function falsehoodIn(
  problem: RandomProblem,
  { penaltyFactors }: TrainOptions,
  { model, dual }: TrainResult,
): Promise<string | undefined> {
  const found = await verify(model, datasetOfProblem(problem), { dual, penaltyFactors });
  if (!found.confirmed) return `not confirmed: ${describe(found)}`;
  if (dual) return undefined;
  // Without a dual point: the bound must not be above what another solver reaches.
  const settings = { ...optionsOfProblem({ ...problem, solver: 'auto' }), tolerance: 1e-10 };
  const other = await attempt(problem, { ...settings, epochs: 500 });
  if (other instanceof Error || found.claimed.dual <= other.report.primal) return undefined;
  return `bound ${found.claimed.dual} above the objective ${other.report.primal} of ${other.report.solver}`;
}

/** Trains on one thread; returns an error that says why it cannot be done. */
async function attempt(
  problem: RandomProblem,
  options: TrainOptions,
): Promise<TrainResult | DsoError> {
  try {
    return await train(datasetOfProblem(problem), { ...options, threads: 1 });
  } catch (error) {
    if (error instanceof DsoError) return error;
    throw error;
  }
}

function describe({ claimed, proved }: Verification): string {
  return `claimed ${JSON.stringify(claimed)}, proved ${JSON.stringify(proved)}`;
}

/** The same problem with fewer rows, as long as something is wrong with it. */
async function minimize(problem: RandomProblem): Promise<RandomProblem> {
  const fails = async (rows: RandomProblem['rows']) =>
    (await examine({ ...problem, rows })).problem !== undefined;
  return { ...problem, rows: await without(problem.rows, fails) };
}

function writeProblem(problem: RandomProblem, folder: string): string {
  const data = join(folder, 'problem.csv');
  const factors = join(folder, 'factors.txt');
  const model = join(folder, 'problem.model');
  writeFileSync(data, csvOfProblem(problem));
  if (problem.factors) writeFileSync(factors, `${problem.factors.join('\n')}\n`);
  const flags = flagsOfProblem(problem, factors).join(' ');
  const kept = problem.solver === 'bmrm' ? '' : ' --keep-dual';
  const given = problem.factors ? ` --penalty-factors ${factors}` : '';
  return `dso train ${data} ${flags}${kept} -o ${model}; dso verify ${model} ${data}${given}`;
}

/** Certificates of random problems are confirmed by `dso verify`'s arithmetic. */
export const certificates: Target = {
  summary: 'random problems, whose certificates are checked in double-double arithmetic',
  quick: 2000,
  async open(folder) {
    const counts = new Counts();
    return {
      counts,
      async attempt(random: Random) {
        const problem = randomProblem(random);
        const { outcome, problem: what } = await examine(problem);
        counts.add(outcome);
        if (what === undefined) return undefined;
        const smallest = await minimize(problem);
        const command = writeProblem(smallest, folder);
        return { what: (await examine(smallest)).problem ?? what, command };
      },
    };
  },
};
