import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/math/random.ts';
import { runDso } from '../support/command-line.ts';
import { type EndedJob, type Job, launchJob } from '../support/launched-job.ts';
import { type Launcher, launchers } from '../support/launchers.ts';
import { sampleText } from '../support/sample-text.ts';
import { pick } from './draw.ts';
import { drawFault, type Fault } from './mpi-faults.ts';
import { type Attack, Counts, type Failure, type Target } from './target.ts';

/** Seconds after which a job hangs. */
const hanging = 90;
/** Seconds until a rank that does not answer counts as lost: longer than a busy machine needs. */
const silence = '12';

const problems = [
  '--solver ring --grid 4 --rotations 2 --intercept',
  '--solver ring --mode columns --grid 3 --loss logistic',
  '--solver dso --grid 3',
  '--solver lbfgs --grid 4 --loss logistic',
  '--solver admm --grid 2 --loss squared-hinge',
];
const common = '--lambda 1e-3 --tolerance 1e-300 --epochs 150 --threads 1 --quiet --no-record';

const inputs = ['train.svm', 'other.svm', 'broken.svm', 'part-1.svm', 'part-2.svm'];

function writeData(folder: string): void {
  const text = sampleText({ rows: 300, columns: 80, perRow: 6 });
  const contents = [text, `${text}1 1:1\n`, `${text}1 nonsense\n`, text, text];
  for (const [index, name] of inputs.entries()) writeFileSync(join(folder, name), contents[index]);
}

/** `dso train` of one rank; the words `data NAME` replace its file. */
function commandOf(problem: string, more: readonly string[]): string[] {
  const [data, words] = more[0] === 'data' ? [more[1], more.slice(2)] : ['train.svm', more];
  const silent = ['--peer-timeout', silence];
  return [
    'train',
    data,
    '-o',
    'a.model',
    ...problem.split(' '),
    ...common.split(' '),
    ...silent,
    ...words,
  ];
}

class MpiAttack implements Attack {
  readonly counts = new Counts();
  readonly #folder: string;
  readonly #launchers: readonly Launcher[];
  /** The model of one process, by problem. */
  readonly #models = new Map<string, Buffer>();
  #number = 0;

  constructor(folder: string, present: readonly Launcher[]) {
    this.#folder = folder;
    this.#launchers = present;
  }

  async attempt(random: Random): Promise<Failure | undefined> {
    const launcher = pick(random, this.#launchers);
    const ranks = 2 + random.below(3);
    const problem = pick(random, problems);
    const fault = drawFault(random);
    const victim = random.below(ranks);
    const folder = join(this.#folder, `job-${this.#number++}`);
    mkdirSync(folder);
    for (const name of inputs) symlinkSync(join(this.#folder, name), join(folder, name));
    const alone = this.#models.get(problem) ?? (await this.#modelOf(problem));
    this.#models.set(problem, alone);
    const args = commandOf(problem, fault.words);
    const lastRank = commandOf(problem, fault.lastWords);
    const job = launchJob(launcher, ranks - 1, args, { folder, lastRank });
    const found = await this.#watch(job, fault, victim);
    const wrong = found ?? (await this.#judge(await job.ended, fault, folder, alone));
    this.counts.add(`${fault.kind} (${launcher.name})`);
    if (wrong === undefined) {
      rmSync(folder, { recursive: true, maxRetries: 20, retryDelay: 100 });
      return undefined;
    }
    const signal =
      fault.signal &&
      `${fault.signal.name} to rank ${victim} after ${fault.signal.milliseconds.toFixed(0)} ms`;
    const line = `${launcher.path} ${launcher.options.join(' ')} -n ${ranks - 1} dso ${args.join(' ')} : -n 1 dso ${lastRank.join(' ')}`;
    return {
      what: `${fault.kind}: ${line}${signal ? `, ${signal}` : ''}: ${wrong} (in ${folder})`,
    };
  }

  async #modelOf(problem: string): Promise<Buffer> {
    const args = commandOf(problem, []).map((word) => (word === 'a.model' ? 'alone.model' : word));
    const { stderr } = await runDso(args, { folder: this.#folder });
    if (stderr !== '') throw new Error(stderr);
    return readFileSync(join(this.#folder, 'alone.model'));
  }

  /** Sends the signal, and waits for the end; text if that does not come. */
  async #watch(job: Job, { signal }: Fault, victim: number): Promise<string | undefined> {
    if (signal) {
      await Promise.race([sleep(signal.milliseconds), job.ended]);
      const sent = send(job, victim, signal.name);
      this.counts.add(sent ? `${signal.name} sent` : `${signal.name} too early or too late`);
    }
    const late = sleep(1000 * hanging, 'late', { ref: false });
    if ((await Promise.race([job.ended, late])) !== 'late') return undefined;
    job.kill();
    const { said } = await job.ended;
    return `has not ended after ${hanging} s: ${said}`;
  }

  async #judge(
    { code, said, stdout }: EndedJob,
    { expected, signal, kind }: Fault,
    folder: string,
    alone: Buffer,
  ): Promise<string | undefined> {
    if (/^\s+at .*:\d+:\d+/m.test(said) || said.includes('DSO_DEBUG')) return `says ${said}`;
    const path = join(folder, 'a.model');
    const model = existsSync(path) ? readFileSync(path) : undefined;
    if (model && !model.equals(alone)) return 'the model is not that of one process';
    const left = readdirSync(folder).filter((name) => ![...inputs, 'a.model'].includes(name));
    if (left.length > 0 && !signal) return `${left.join(', ')} is left`;
    const isDone = code === 4 && model !== undefined;
    if (signal) {
      // It may come after the end, or when nothing more has to be said.
      if (isDone || expected.codes.includes(code ?? -1)) return undefined;
      if (signal.name === 'SIGKILL' && code !== 0) return undefined;
      // A rank was stopped before it had joined the others.
      if (said.includes('have not all come up within') && code !== 0) return undefined;
      return `exit code ${code}: ${said}`;
    }
    if (kind === 'nothing') return isDone ? undefined : `exit code ${code}: ${said}`;
    if (!expected.codes.includes(code ?? -1)) return `exit code ${code}: ${said}${stdout}`;
    if (model) return 'there is a model';
    const lines = said.split('\n').filter((line) => line !== '');
    const isOne = lines.length === 1 && (expected.message?.test(lines[0]) ?? true);
    return isOne
      ? undefined
      : `says ${JSON.stringify(lines)}; expected one line, ${expected.message}`;
  }
}

/** Whether there was such a process. */
function send(job: Job, rank: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(job.processOf(rank), name);
  } catch {
    return false;
  }
}

const present = launchers.filter(({ path }) => path !== undefined);

export const mpiTarget: Target = {
  summary: 'starts jobs of several ranks in which something goes wrong',
  quick: 8,
  unavailable: () => (present.length > 0 ? undefined : 'no MPI launcher is installed'),
  async open(folder) {
    writeData(folder);
    return new MpiAttack(folder, present);
  },
};
