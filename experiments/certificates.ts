/**
 * Do default options end with a certificate? 495 problems: losses, penalties, λ, with and without an
 * intercept, on real data that is text, tables in raw units, tall, or short and wide. Every run is
 * saved when it ends; with --resume those that are saved are not repeated.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { figure } from '../bench/table.ts';
import type { Dataset } from '../src/data/dataset.ts';
import { lossByName } from '../src/problem/losses/index.ts';
import { penaltyByName } from '../src/problem/penalties/index.ts';
import { solverByName } from '../src/solvers/index.ts';
import { readDataset } from '../src/train/read.ts';
import { train } from '../src/train/train.ts';
import type { Experiment, Outcome, Setting } from './support/experiment.ts';
import { section } from './support/report.ts';

const classification = {
  files: [
    'a9a',
    'w8a',
    'mushrooms',
    'rcv1_small',
    'rt_polarity',
    'farm_ads',
    'basehock',
    'micro_alon',
  ],
  losses: ['hinge', 'squared-hinge', 'logistic'],
};
const regression = {
  files: ['ml100k', 'reg_cal_housing', 'reg_diabetes_lars'],
  losses: ['square', 'huber', 'absolute'],
};
const penalties = ['l2', 'elastic-net', 'l1'];
const lambdas = [1e-2, 1e-4, 1e-6];

interface Problem {
  readonly loss: string;
  readonly penalty: string;
  readonly lambda: number;
  readonly intercept: boolean;
}

/** What decides how a run ends, apart from the machine. */
interface Conditions {
  readonly asked: string;
  readonly tolerance: number;
  readonly time: number;
  readonly threads: number;
  readonly seed: number;
}

interface Run extends Problem, Conditions {
  readonly data: string;
  readonly solver: string;
  readonly stopped: string;
  readonly epochs: number;
  readonly passes: number;
  readonly seconds: number;
  readonly primal: number;
  readonly relativeGap: number;
  readonly nonzeroWeights: number;
}

function problemsOf(losses: readonly string[]): Problem[] {
  return losses.flatMap((loss) =>
    penalties.flatMap((penalty) =>
      lambdas.flatMap((lambda) =>
        (penalty === 'elastic-net' ? [false] : [false, true]).map((intercept) => ({
          loss,
          penalty,
          lambda,
          intercept,
        })),
      ),
    ),
  );
}

function conditionsOf({ numberOf, textOf, time, threads, seed }: Setting): Conditions {
  return { asked: textOf('solver'), tolerance: numberOf('tolerance'), time, threads, seed };
}

/** Equal for runs of the same problem under the same conditions. */
function keyOf(run: Problem & Conditions & Pick<Run, 'data'>): string {
  const { data, loss, penalty, lambda, intercept } = run;
  const { asked, tolerance, time, threads, seed } = run;
  return JSON.stringify([
    [data, loss, penalty, lambda, intercept],
    [asked, tolerance, time, threads, seed],
  ]);
}

/** The runs of an earlier experiment in the same folder, by their keys; none unless it is resumed. */
function savedRuns(path: string, isResumed: boolean): Map<string, Run> {
  if (!isResumed) rmSync(path, { force: true });
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  const runs = lines.map((line) => JSON.parse(line) as Run);
  return new Map(runs.map((run) => [keyOf(run), run]));
}

async function solve(
  data: string,
  dataset: Dataset,
  problem: Problem,
  setting: Setting,
): Promise<Run> {
  const conditions = conditionsOf(setting);
  const { asked, ...options } = conditions;
  const { report, model } = await train(dataset, {
    loss: lossByName(problem.loss),
    penalty: penaltyByName(problem.penalty, {}),
    lambda: problem.lambda,
    intercept: problem.intercept,
    ...options,
    solver: solverByName(asked),
  });
  return {
    ...problem,
    ...conditions,
    data,
    solver: report.solver,
    stopped: report.stopped,
    epochs: report.epochs,
    passes: report.passes,
    seconds: report.seconds.train,
    primal: report.primal,
    relativeGap: report.relativeGap,
    nonzeroWeights: model.weights.reduce((count, w) => count + (w === 0 ? 0 : 1), 0),
  };
}

/** Reading and layout are not counted. */
const isCertified = (run: Run) => run.relativeGap <= run.tolerance && run.seconds <= run.time;

function total(runs: readonly Run[]): string {
  return figure(runs.reduce((sum, { seconds }) => sum + seconds, 0));
}

function longest(runs: readonly Run[]): string {
  return figure(Math.max(...runs.map(({ seconds }) => seconds)));
}

/** Of how many problems of a kind there is no certificate. */
function missed(runs: readonly Run[]): string {
  return `${runs.filter((run) => !isCertified(run)).length} of ${runs.length}`;
}

function describe(run: Run): string[] {
  const { data, loss, penalty, lambda, intercept, solver, relativeGap, seconds, stopped } = run;
  const problem = [data, loss, penalty, String(lambda), intercept ? 'intercept' : ''];
  return [...problem, solver, stopped, relativeGap.toExponential(1), figure(seconds)];
}

/** All runs of a data set; what is saved is not repeated. */
async function runAll(
  name: string,
  losses: readonly string[],
  setting: Setting,
  saved: ReadonlyMap<string, Run>,
): Promise<Run[]> {
  const conditions = conditionsOf(setting);
  const runs: Run[] = [];
  let dataset: Dataset | undefined;
  for (const problem of problemsOf(losses)) {
    let run = saved.get(keyOf({ ...problem, ...conditions, data: name }));
    if (!run) {
      dataset ??= await readDataset(fileOf(name, setting));
      run = await solve(name, dataset, problem, setting);
      appendFileSync(runsFile(setting), `${JSON.stringify(run)}\n`);
    }
    runs.push(run);
  }
  return runs;
}

const fileOf = (name: string, { data }: Setting) => join(data, `${name}.svm.gz`);
const runsFile = ({ folder }: Setting) => join(folder, 'runs.jsonl');

function printTables(runs: readonly Run[], { say }: Setting): void {
  const names = [...new Set(runs.map((run) => run.data))];
  const byData = names.map((name) => {
    const own = runs.filter((run) => run.data === name);
    const solvers = [...new Set(own.map(({ solver }) => solver))].join(', ');
    return [name, missed(own), total(own), longest(own), solvers];
  });
  say(section('by data', ['data', 'not certified', 's', 'longest s', 'solvers'], byData));
  const losses = [...classification.losses, ...regression.losses];
  const byLoss = losses.flatMap((loss) => {
    const own = runs.filter((run) => run.loss === loss);
    const of = (penalty: string) => missed(own.filter((run) => run.penalty === penalty));
    return own.length === 0 ? [] : [[loss, ...penalties.map(of)]];
  });
  say(section('not certified, by loss and penalty', ['loss', ...penalties], byLoss));
  const open = runs.filter((run) => !isCertified(run)).map(describe);
  const head = ['data', 'loss', 'penalty', 'λ', '', 'solver', 'stopped', 'gap', 's'];
  if (open.length > 0) say(section('without a certificate', head, open));
}

async function perform(setting: Setting): Promise<Outcome> {
  const { say, textOf, numberOf, time, folder } = setting;
  const chosen = textOf('files').split(',').filter(Boolean);
  mkdirSync(folder, { recursive: true });
  const saved = savedRuns(runsFile(setting), textOf('resume') === 'yes');
  const runs: Run[] = [];
  const skipped: string[] = [];
  for (const { files, losses } of [classification, regression]) {
    for (const name of files) {
      if (chosen.length > 0 && !chosen.includes(name)) continue;
      const path = fileOf(name, setting);
      if (!existsSync(path)) {
        skipped.push(`${name}: no ${path} (--data or DSO_DATA says where to look)`);
        continue;
      }
      const own = await runAll(name, losses, setting, saved);
      runs.push(...own);
      say(`${name}: without a certificate ${missed(own)}, ${total(own)} s`);
    }
  }
  printTables(runs, setting);
  const certified = runs.filter(isCertified).length;
  const reached = `${certified} of ${runs.length} problems certified`;
  say(`\n${reached} to ${numberOf('tolerance')} in ${time} s of training each`);
  return { results: { runs }, claims: [], figures: [], comparisons: [], skipped };
}

export const certificates: Experiment = {
  name: 'certificates',
  summary: 'whether default options reach their certificate, on 495 problems (not of the paper)',
  time: 10,
  extras: {
    tolerance: { default: 1e-3, text: 'relative gap to reach' },
    solver: { default: 'auto', text: 'solver of all problems' },
    resume: {
      default: 'no',
      text: 'yes: what an earlier run in the same folder has is not repeated',
    },
    files: { default: '', text: 'names of data sets, with commas; default: all' },
  },
  run: perform,
};
