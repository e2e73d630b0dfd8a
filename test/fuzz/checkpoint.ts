import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Dataset } from '../../src/data/dataset.ts';
import { chooseRows, selectRows } from '../../src/data/split.ts';
import type { Random } from '../../src/math/random.ts';
import { readModel } from '../../src/model/file.ts';
import type { Model } from '../../src/model/model.ts';
import { lossByName } from '../../src/problem/losses/index.ts';
import { readDataset } from '../../src/train/read.ts';
import { sampleText } from '../support/sample-text.ts';
import { type Parts, takeApart } from './checkpoint-file.ts';
import { forgery, type Step } from './checkpoint-forgery.ts';
import { Commands, type Ended } from './commands.ts';
import { chance, pick } from './draw.ts';
import { without } from './minimize.ts';
import { type Attack, Counts, type Failure, type Target } from './target.ts';

const holdout = 0.2;
const setAside = `--holdout ${holdout}`;
const mixed = '--penalty elastic-net --l1-ratio 0.5';

/** The problem, and how it is solved. */
const runs: readonly (readonly [problem: string, how: string])[] = [
  ['', '--solver ring --mode rows --grid 1'],
  ['--intercept', '--solver ring --mode rows --grid 3'],
  ['--intercept', '--solver ring --mode rows --grid 3 --rotations 1'],
  [`--loss logistic ${mixed} --lower -0.1 --upper 0.3`, '--solver ring --mode rows --grid 3'],
  ['--loss logistic --penalty l1 --intercept', '--solver ring --mode rows --grid 1'],
  ['--loss logistic --penalty l1 --intercept', '--solver ring --mode columns --grid 3'],
  ['--loss squared-hinge', `--solver ring --mode columns --grid 1 ${setAside} --early-stop 50`],
  ['--intercept', `--solver ring --mode rows --grid 3 ${setAside} --early-stop 50 --auprc`],
  ['--intercept', '--solver dso --grid 3'],
  ['--loss logistic', `--solver dso --grid 1 ${setAside}`],
  ['--intercept', '--solver dso-async --grid 2'],
  ['--loss logistic --intercept', '--solver lbfgs --grid 1'],
  [`--loss logistic ${mixed}`, '--solver lbfgs --grid 3'],
  ['', '--solver bmrm --grid 1'],
  ['', `--solver bmrm --grid 3 ${setAside}`],
  ['--loss squared-hinge', '--solver admm --grid 3'],
  ['--intercept', `--solver psgd --grid 3 ${setAside} --early-stop 50`],
  ['', '--solver sgd'],
  ['', '--solver sgd --step sqrt'],
  ['', '--solver dcd'],
];

/** A run that can be resumed, and what is known of its problem. */
interface Prepared {
  readonly words: readonly string[];
  readonly name: string;
  readonly dataset: Dataset;
  /**
   * P of a model within 10⁻⁹ of the optimum: no lower bound is above it. Not known for bmrm: its bound
   * is made of planes, which only the rows that they were taken at could confirm.
   */
  readonly reference: number;
  /** Where its checkpoints are, by file name, the newest last. */
  readonly folder: string;
  readonly files: readonly string[];
  readonly newest: Parts;
  readonly older: Parts;
}

/** Tolerance of the runs that are resumed: they are to have something left to do. */
const tolerance = 1e-12;
const epochs = 8;
/** Relative: P is summed in another order here. */
const rounding = 1e-9;
/** A resumed run has three epochs of some milliseconds. */
const hanging = 60;

const common = ['train', 'train.svm', '--lambda', '0.01', '--threads', '1', '--json', '--quiet'];

function fixedOptions(limit: number, goal: number): string[] {
  return ['--epochs', String(limit), '--tolerance', String(goal)];
}

async function prepare(
  index: number,
  folder: string,
  data: Dataset,
  commands: Commands,
): Promise<Prepared> {
  const [problem, how] = runs[index].map((text) => text.split(' ').filter(Boolean));
  const words = [...common, ...problem, ...how];
  const name = `run-${index}`;
  const saving = ['--checkpoint', name, '--checkpoint-every', '4', '-o', 'original.model'];
  const original = await commands.run([...words, ...fixedOptions(epochs, tolerance), ...saving]);
  const kept = how.includes('--holdout') ? setAside.split(' ') : [];
  const exact = [...common, ...problem, ...kept, ...fixedOptions(100_000, 1e-9)];
  const best = await commands.run([...exact, '-o', 'reference.model']);
  if (original.code !== 4 || best.code !== 0) {
    throw new Error(`${words.join(' ')}: ${original.code} ${original.stderr}${best.stderr}`);
  }
  const files = readdirSync(join(folder, name)).filter((file) => file.endsWith('.checkpoint'));
  const [older, newest] = files
    .sort()
    .map((file) => takeApart(readFileSync(join(folder, name, file))));
  const chosen = chooseRows(data, holdout, 1);
  const dataset = kept.length > 0 ? selectRows(data, chosen, 0, 'the rest') : data;
  const { primal } = JSON.parse(best.stdout) as { primal: number };
  const reference = how.includes('bmrm') ? Infinity : primal;
  return { words, name, dataset, reference, folder, files, newest, older };
}

/** P of a model of two classes, −1 and 1, from its weights and the data. */
function objectiveOf({ weights, intercepts, lambda, loss, penalty }: Model, data: Dataset): number {
  const { value, parameter } = lossByName(loss.name);
  let sum = 0;
  for (const { rowOffsets, labels, indices, values } of data.parts) {
    for (const [row, label] of labels.entries()) {
      let score = intercepts[0];
      for (let k = rowOffsets[row]; k < rowOffsets[row + 1]; k++) {
        score += weights[indices[k]] * values[k];
      }
      sum += value(score, label, parameter);
    }
  }
  const { l1, l2 } = penalty;
  const size = weights.reduce((total, w) => total + l1 * Math.abs(w) + 0.5 * l2 * w * w, 0);
  return sum / data.rows + lambda * size;
}

/** A refusal of bad data or of another run; the rest is documented for runs that diverge. */
function isRefusal({ code, stderr }: Ended): boolean {
  if (code === 1) return /^dso: the objective is no longer finite after epoch \d+: /.test(stderr);
  return (code === 2 || code === 3) && /^dso: \S/m.test(stderr);
}

class CheckpointAttack implements Attack {
  readonly counts = new Counts();
  readonly #folder: string;
  readonly #commands: Commands;
  readonly #runs: readonly Prepared[];
  #kept = 0;

  constructor(folder: string, commands: Commands, prepared: readonly Prepared[]) {
    this.#folder = folder;
    this.#commands = commands;
    this.#runs = prepared;
  }

  async attempt(random: Random): Promise<Failure | undefined> {
    const run = pick(random, this.#runs);
    const others = [run.older, ...this.#runs.map(({ newest }) => newest)];
    const steps = forgery(random, run.newest, others);
    const alone = chance(random, 0.8);
    const goal = pick(random, [tolerance, tolerance, 1e-3, 1e-9]);
    const args = [...run.words, ...fixedOptions(epochs + 3, goal)];
    const fault = await this.#faultOf(run, steps, args, alone);
    if (fault === undefined) return undefined;
    const fails = async (shorter: readonly Step[]) =>
      shorter.length > 0 && (await this.#faultOf(run, shorter, args, alone)) !== undefined;
    const least = await without(steps, fails);
    const again = await this.#faultOf(run, least, args, alone);
    return this.#failure(run, least, args, again ?? fault);
  }

  async close(): Promise<void> {
    await this.#commands.close();
  }

  /** Keeps the forged folder, by a name of its own. */
  #failure(
    { words }: Prepared,
    steps: readonly Step[],
    args: readonly string[],
    fault: string,
  ): Failure {
    const name = `forged-${this.#kept++}`;
    cpSync(join(this.#folder, 'forged'), join(this.#folder, name), { recursive: true });
    const command = [...args, '--resume', name, '-o', 'resumed.model'].join(' ');
    const how = words.slice(common.length).join(' ');
    const what = `${how}: ${steps.map((step) => step.words).join('; ')}: ${fault}`;
    const root = join(import.meta.dirname, '..', '..');
    return {
      what,
      command: `(cd ${relative(root, this.#folder)} && node ${relative(this.#folder, root)}/bin/dso.js ${command})`,
    };
  }

  /** Resumes from the forged checkpoint; what it does that it must not do. */
  async #faultOf(
    run: Prepared,
    steps: readonly Step[],
    args: readonly string[],
    alone: boolean,
  ): Promise<string | undefined> {
    const forged = join(this.#folder, 'forged');
    rmSync(forged, { recursive: true, force: true });
    mkdirSync(forged);
    const [older, newest] = run.files;
    const source = join(run.folder, run.name);
    if (!alone) cpSync(join(source, older), join(forged, older));
    let bytes: Buffer = readFileSync(join(source, newest));
    let parts = run.newest;
    for (const { apply } of steps) {
      bytes = apply(bytes, parts);
      parts = partsOf(bytes) ?? parts;
    }
    writeFileSync(join(forged, newest), bytes);
    const ended = await this.#commands.run([...args, '--resume', 'forged', '-o', 'resumed.model']);
    return this.#judge(run, ended);
  }

  async #judge(run: Prepared, ended: Ended): Promise<string | undefined> {
    const { code, stderr } = ended;
    if (code === -3) return `has not ended after ${hanging} s`;
    if (isRefusal(ended)) {
      this.counts.add(code === 1 ? 'diverged' : 'refused');
      return undefined;
    }
    if (code !== 0 && code !== 4) return `exit code ${code}: ${stderr.slice(0, 400)}`;
    this.counts.add('resumed');
    return falseClaim(run, ended.stdout, await readModel(join(this.#folder, 'resumed.model')));
  }
}

/** What is not true of a certificate; undefined if all is. */
function falseClaim(run: Prepared, stdout: string, model: Model): string | undefined {
  const { primal, dual, stopped } = model.certificate;
  const report = JSON.parse(stdout) as { primal: number; dual: number | null };
  // JSON has no −∞.
  if (report.primal !== primal || (report.dual ?? -Infinity) !== dual) {
    return `the report has ${report.primal} and ${report.dual}, the model ${primal} and ${dual}`;
  }
  const found = objectiveOf(model, run.dataset);
  if (!(Math.abs(found - primal) <= rounding * Math.abs(found))) {
    return `the objective is given as ${primal}; it is ${found}`;
  }
  if (dual > run.reference * (1 + 1e-12)) {
    return `the lower bound is ${dual} (${stopped}); ${run.reference} is reached`;
  }
  if (!(dual <= primal)) return `the lower bound is ${dual}, above the objective ${primal}`;
  const { low = -Infinity, high = Infinity } = model.penalty;
  const outside = model.weights.find((weight) => !(weight >= low && weight <= high));
  return outside === undefined ? undefined : `weight ${outside} is outside of its bounds`;
}

function partsOf(bytes: Buffer): Parts | undefined {
  try {
    return takeApart(bytes);
  } catch {
    return undefined;
  }
}

export const checkpointTarget: Target = {
  summary: 'resumes from forged checkpoints',
  quick: 40,
  async open(folder) {
    writeFileSync(
      join(folder, 'train.svm'),
      sampleText({ rows: 60, columns: 12, perRow: 5, seed: 5 }),
    );
    const data = await readDataset(join(folder, 'train.svm'), { threads: 1 });
    const commands = new Commands(folder, hanging);
    const prepared: Prepared[] = [];
    for (const index of runs.keys()) prepared.push(await prepare(index, folder, data, commands));
    return new CheckpointAttack(folder, commands, prepared);
  },
};
