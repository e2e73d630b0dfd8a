/** Ranks that were started with different command lines, and commands that are not for ranks. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runDso } from '../support/command-line.ts';
import { type JobOptions, runJob } from '../support/jobs.ts';
import { type Launcher, launchers } from '../support/launchers.ts';
import { sampleText } from '../support/sample-text.ts';
import { temporaryFolder } from '../support/temporary.ts';

const [openMpi, mpich] = launchers;
const installed = ({ path, name }: Launcher, skip: (reason: string) => void) => {
  if (path === undefined) skip(`${name} is not installed`);
};

const host = hostname();
const text = sampleText({ rows: 120, columns: 60, perRow: 6 });
const short = ['--epochs', '3', '--threads', '1'];
const linesOf = (all: string) => all.split('\n').filter((line) => line !== '');

function dataFolder(): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'train.svm'), text);
  writeFileSync(join(folder, 'factors'), '1\n'.repeat(60));
  return folder;
}

/** A refused job: its exit code and its one message; nothing is printed or written. */
async function refusalOf(
  launcher: Launcher,
  ranks: number,
  args: readonly string[],
  options: JobOptions,
): Promise<string> {
  const before = readdirSync(options.folder);
  const { code, stdout, said } = await runJob(launcher, ranks, args, options);
  expect(stdout).toBe('');
  expect(readdirSync(options.folder)).toEqual(before);
  return `${code} ${linesOf(said).join('\n')}`;
}

const differ = (what: string) =>
  `2 dso: rank 0 on ${host} and rank 1 on ${host} differ in ${what}: all ranks need the same`;

describe('two ranks with different options', () => {
  const train = ['train', 'train.svm', '--loss', 'smoothed-hinge', ...short];
  const both = [
    [['--smoothing', '0.5'], ['--smoothing', '1'], '--smoothing (0.5 and 1)'],
    [['--lambda', '1e-3'], ['--lambda', '1e-4'], '--lambda (0.001 and 0.0001)'],
  ] as const;
  const more = [
    [[], ['--intercept'], '--intercept (not given and on)'],
    [
      ['--seed', '3'],
      ['--seed', '4', '--zero-based'],
      '--seed (3 and 4), --zero-based (not given and on)',
    ],
    [['--penalty-factors', 'factors'], [], '--penalty-factors (given and not given)'],
    [['--test', 'train.svm'], [], '--test (given and not given)'],
    [
      ['--solver', 'ring', '--rotations', '2'],
      ['--solver', 'dso'],
      '--solver (ring and dso), --rotations (2 and not given)',
    ],
  ] as const;

  test.for([
    { launcher: mpich, cases: both },
    { launcher: openMpi, cases: [...both, ...more] },
  ])('$launcher.name: refused, with option and values', async ({ launcher, cases }, { skip }) => {
    installed(launcher, skip);
    const folder = dataFolder();
    for (const [one, other, found] of cases) {
      const lastRank = [...train, ...other];
      const said = await refusalOf(launcher, 1, [...train, ...one], { folder, lastRank });
      expect(said).toBe(differ(found));
    }
  });

  test('another command, other data', async ({ skip }) => {
    installed(openMpi, skip);
    const folder = dataFolder();
    writeFileSync(join(folder, 'more.svm'), `${text}1 1:1\n`);
    const refused = (one: string[], lastRank: string[]) =>
      refusalOf(openMpi, 1, one, { folder, lastRank });
    expect(await refused(['cv', 'train.svm'], ['doctor'])).toBe(differ('command (cv and doctor)'));
    const other = ['train', 'more.svm', ...short];
    expect(await refused(['train', 'train.svm', ...short], other)).toMatch(
      /^2 dso: .* differ in data \(train.svm: 1 file of \d+ bytes, .* and more.svm: 1 file of /,
    );
  });

  test('threads and outputs may differ', async ({ skip }) => {
    installed(openMpi, skip);
    const folder = dataFolder();
    const all = ['train', 'train.svm', '--epochs', '3', '--grid', '2', '--quiet', '--no-record'];
    await runDso([...all, '-o', 'alone.model'], { folder });
    const lastRank = [...all, '--threads', '2', '-o', 'other.model', '--json'];
    const job = runJob(openMpi, 1, [...all, '--threads', '1', '-o', 'a.model'], {
      folder,
      lastRank,
    });
    const { code, said } = await job;
    expect(code, said).toBe(4);
    const modelOf = (name: string) => readFileSync(join(folder, name));
    expect(modelOf('a.model').equals(modelOf('alone.model'))).toBe(true);
    expect(readdirSync(folder)).not.toContain('other.model');
  });

  test.for([openMpi, mpich])('$name: the library compares too', async (launcher, { skip }) => {
    installed(launcher, skip);
    const folder = dataFolder();
    // Another value, of as many digits.
    const changed = text.replace(
      /:(\S*)\d\n/,
      (_, digits) => `:${digits}${/7\n/.test(text) ? 3 : 7}\n`,
    );
    expect(changed).toHaveLength(text.length);
    writeFileSync(join(folder, 'other.svm'), changed);
    const program = fileURLToPath(new URL('../support/differing-job.ts', import.meta.url));
    const { code, stdout, stderr } = await runJob(launcher, 2, [], { folder, program });
    expect(code, stderr).toBe(0);
    const told = (rank: number) =>
      linesOf(stdout).flatMap((line) => (line.startsWith(`${rank} `) ? [line.slice(2)] : []));
    expect(told(0)).toEqual(told(1));
    const found = told(0).map(
      (line) => / differ in (.*): all ranks need the same$/.exec(line)?.[1],
    );
    expect(found).toEqual([
      'smoothing (1 and 0.5)',
      'lambda (0.1 and not given)',
      'loss (hinge and square)',
      expect.stringMatching(/^solver \(name=ring.* and name=ring.*rotations=2.*\)$/),
      'holdout (0.2 and 0.3)',
      'seed (1 and 2)',
      expect.stringMatching(/^hash of data \(\w+ and \w+\)$/),
    ]);
  });
});

describe.each(launchers)('$name: a usage error of one rank', (launcher) => {
  const train = ['train', 'train.svm', ...short];

  test.for([
    [train, [...train, '--bogus'], `rank 1 on ${host}: unknown option '--bogus'`],
    [[...train, '--lambda', '-3'], train, '--lambda is -3; it must be a number above 0'],
    [
      train,
      ['predict', 'a.model', 'train.svm'],
      `rank 1 on ${host}: dso predict runs in one process`,
    ],
    [[...train, '--auprc'], train, '--auprc needs --test or --holdout'],
  ] as const)('%#', async ([one, lastRank, message], { skip }) => {
    installed(launcher, skip);
    const folder = dataFolder();
    const said = await refusalOf(launcher, 1, one, { folder, lastRank });
    expect(said.startsWith(`2 dso: ${message}`), said).toBe(true);
    expect(linesOf(said)).toHaveLength(1);
  });
});

describe('commands that are not for ranks', () => {
  test.for([
    {
      launcher: openMpi,
      lines: [
        'predict a.model train.svm -o out',
        'compare train.svm -o report',
        'completion bash',
        'path train.svm',
        'runs show',
        'convert train.svm -o a.dsob',
        'train train.svm --progressive',
      ],
    },
    {
      launcher: mpich,
      lines: ['liblinear-train train.svm a.model', 'demo', 'train train.svm --progressive'],
    },
  ])('$launcher.name', async ({ launcher, lines }, { skip }) => {
    installed(launcher, skip);
    const folder = dataFolder();
    for (const line of lines) {
      const said = await refusalOf(launcher, 3, line.split(' '), { folder });
      expect(linesOf(said)).toHaveLength(1);
      expect(said).toMatch(
        /^2 dso: .* in one process.*, and the launcher has started 3: call it without mpirun/,
      );
    }
  });
});

describe('dso cv and dso search give folds to ranks', () => {
  const classes = linesOf(text)
    .map((line, row) => line.replace(/^\S+/, String(row % 3)))
    .join('\n');

  /** Alone and by ranks: the same model, table and numbers, written once. */
  async function compareWith(launcher: Launcher, ranks: number, args: readonly string[]) {
    const folder = dataFolder();
    writeFileSync(join(folder, 'classes.svm'), `${classes}\n`);
    const outputs = (name: string) => ['--json', '-o', `${name}.model`, '--csv', `${name}.csv`];
    const alone = await runDso([...args, ...outputs('alone')], { folder });
    const before = readdirSync(folder).length;
    const job = await runJob(launcher, ranks, [...args, ...outputs('ranks')], { folder });
    expect([job.code, linesOf(job.stdout).length], job.said).toEqual([alone.code, 1]);
    for (const kind of ['model', 'csv']) {
      const bytes = (name: string) => readFileSync(join(folder, `${name}.${kind}`));
      expect(bytes('ranks').equals(bytes('alone')), kind).toBe(true);
    }
    expect(readdirSync(folder)).toHaveLength(before + 2);
    const found = (json: string) => ({ ...JSON.parse(json), model: 0, report: 0 });
    expect(found(job.stdout)).toEqual(found(alone.stdout.toString()));
    expect(job.said.match(/^model in /gm)).toHaveLength(1);
    expect(job.said).not.toMatch(/^rank /m);
  }

  const limits = ['--epochs', '20', '--folds', '3'];

  test.for([
    { title: 'Open MPI: more ranks than folds', launcher: openMpi, ranks: 4 },
    { title: 'MPICH: fewer ranks than folds', launcher: mpich, ranks: 2 },
  ])('$title', async ({ launcher, ranks }, { skip }) => {
    installed(launcher, skip);
    await compareWith(launcher, ranks, [
      'cv',
      'classes.svm',
      '--count',
      '3',
      '--intercept',
      ...limits,
    ]);
  });

  test('a search', async ({ skip }) => {
    installed(openMpi, skip);
    const lambdas = ['--lambda', '0.1,0.01', '--penalty', 'l2'];
    await compareWith(openMpi, 2, ['search', 'train.svm', ...lambdas, ...limits]);
  });

  test('standard input goes to one rank', async ({ skip }) => {
    installed(openMpi, skip);
    const said = await refusalOf(openMpi, 2, ['cv', '-', ...limits], { folder: dataFolder() });
    expect(said).toMatch(/^2 dso: standard input \(-\) goes to one rank, and each needs all/);
  });
});
