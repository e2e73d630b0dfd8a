/** One model trained by several processes, as people start them. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { writeDataset } from '../../src/data/binary/convert.ts';
import { selectRows } from '../../src/data/split.ts';
import { readDataset } from '../../src/train/read.ts';
import { runDso } from '../support/command-line.ts';
import { lackForHosts, makeHosts } from '../support/hosts.ts';
import { type EndedJob, type JobOptions, runJob } from '../support/jobs.ts';
import { graceOf, type Launcher, launchers } from '../support/launchers.ts';
import type { RankRun } from '../support/ranks-job.ts';
import { sampleText } from '../support/sample-text.ts';
import { temporaryFolder } from '../support/temporary.ts';

const [openMpi, mpich] = launchers;
const installed = ({ path, name }: Launcher, skip: (reason: string) => void) => {
  if (path === undefined) skip(`${name} is not installed`);
};

const trainer = fileURLToPath(new URL('../support/ranks-job.ts', import.meta.url));

const trainText = sampleText({ rows: 300, columns: 120, perRow: 8 });
const testText = sampleText({ rows: 90, columns: 130, perRow: 8, seed: 2 });

/** A folder with data in it. */
function dataFolder(): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'train.svm'), trainText);
  writeFileSync(join(folder, 'test.svm'), testText);
  return folder;
}

/** What a run with few epochs ends with. */
const unfinished = 4;
const short = '--epochs 3 --threads 1 --solver ring --rotations 1 --grid 4'.split(' ');
const host = hostname();

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');
const occurrences = (text: string, part: string) => text.split(part).length - 1;

describe('every solver gives the bits of one process with one thread', () => {
  const runsOf = (stdout: string) => linesOf(stdout).map((line) => JSON.parse(line) as RankRun);
  const data = ['train.svm', 'test.svm'];
  const alone = (folder: string, ...args: string[]) =>
    runsOf(execFileSync(process.execPath, [trainer, ...args], { cwd: folder }).toString());

  /** What all others are compared with, made once. */
  const made = new Map<string, RankRun[]>();
  const onceAlone = (folder: string, ...args: string[]): RankRun[] => {
    const key = args.join(' ');
    const runs = made.get(key) ?? alone(folder, ...args);
    made.set(key, runs);
    return runs;
  };

  test.for([
    { title: 'Open MPI: 3 × 2', launcher: openMpi, ranks: 3, threads: '2' },
    // There are 4 workers, and one where the solver is serial.
    { title: 'Open MPI: more ranks than workers', launcher: openMpi, ranks: 5, threads: '1' },
    // Its ranks spin while they wait: more of them than cores hinder each other.
    { title: 'MPICH: 2 × 2', launcher: mpich, ranks: 2, threads: '2' },
  ])('$title', async ({ launcher, ranks, threads }, { skip }) => {
    installed(launcher, skip);
    const folder = dataFolder();
    const expected = onceAlone(folder, ...data, '1');
    const options = { folder, program: trainer };
    const { code, stdout, stderr } = await runJob(launcher, ranks, [...data, threads], options);
    expect(code, stderr).toBe(0);
    expect(runsOf(stdout)).toEqual(expected);
  });

  test.for([openMpi, mpich])(
    '$name: rows with weights, and part of the ranks without',
    async (launcher, { skip }) => {
      installed(launcher, skip);
      const folder = dataFolder();
      const whole = await readDataset(join(folder, 'train.svm'));
      const counts = Float64Array.from({ length: 300 }, (_, row) => [0, 1, 0.3, 2.7][row % 4]);
      const part = async (name: string, side: number, weights?: Float64Array) => {
        const parts = whole.parts.map((rows) => ({ ...rows, ...(weights && { weights }) }));
        const chosen = Uint8Array.from({ length: 300 }, (_, row) => Number(row >= 100));
        await writeDataset(join(folder, name), selectRows({ ...whole, parts }, chosen, side, name));
      };
      await part('part-0.dsob', 0);
      await part('part-1.dsob', 1, counts);
      const args = ['part-*.dsob', 'test.svm', '1'];
      const expected = onceAlone(folder, ...args);
      expect(expected.map(({ hash }) => hash)).not.toEqual(
        onceAlone(folder, ...data, '1').map(({ hash }) => hash),
      );
      const options = { folder, program: trainer };
      const { code, stdout, stderr } = await runJob(launcher, 2, args, options);
      expect(code, stderr).toBe(0);
      expect(runsOf(stdout)).toEqual(expected);
    },
  );

  test('one process with four threads', () => {
    const folder = dataFolder();
    expect(onceAlone(folder, ...data, '4')).toEqual(onceAlone(folder, ...data, '1'));
  });
});

/** Trains alone, and gives the bytes of the model. */
async function modelOf(folder: string, args: readonly string[]): Promise<Buffer> {
  const { code, stderr } = await runDso([...args, '-o', 'alone.model', '--quiet'], { folder });
  expect(code, stderr).toBe(unfinished);
  return readFileSync(join(folder, 'alone.model'));
}

/**
 * Bytes that the ranks send in an epoch: more epochs less fewer, so that preparations cancel out. A number that
 * goes round and comes home is sent by each of two ranks; one that is only read by that of its home.
 */
test.for([
  // w, AdaGrad's sum and the image; the gradient of the snapshot, and w for its margins.
  ['dso', 8 * (2 * 3 + 2)],
  // w and the image, and w for its margins.
  ['algorithm-1', 8 * (2 * 2 + 1)],
] as const)('%s sends what changes of a column', async ([solver, perColumn], { skip }) => {
  installed(openMpi, skip);
  const folder = dataFolder();
  const bytesAfter = async (epochs: number) => {
    const limits = ['--epochs', String(epochs), '--tolerance', '1e-15', '--threads', '1', '--json'];
    const args = ['train', 'train.svm', '--solver', solver, '--grid', '2', ...limits];
    const { stdout } = await runJob(openMpi, 2, args, { folder });
    return JSON.parse(stdout) as { effort: { bytes: number }; columns: number };
  };
  const [few, more] = [await bytesAfter(2), await bytesAfter(6)];
  expect((more.effort.bytes - few.effort.bytes) / 4).toBe(perColumn * more.columns);
});

describe('what is read', () => {
  test.for([openMpi, mpich])(
    '$name: part files, packed and binary ones',
    async (launcher, { skip }) => {
      installed(launcher, skip);
      const folder = dataFolder();
      const lines = linesOf(trainText);
      // Columns differ from part to part, and all rows of the last one have the same label.
      lines.sort((one, other) => one.localeCompare(other));
      const text = `${lines.join('\n')}\n`;
      writeFileSync(join(folder, 'all.svm'), text);
      [0, 70, 200].forEach((from, k, cuts) => {
        const part = lines.slice(from, cuts[k + 1] ?? lines.length);
        writeFileSync(join(folder, `part-${k}.svm`), `${part.join('\n')}\n`);
      });
      writeFileSync(join(folder, 'all.svm.gz'), gzipSync(text));
      await runDso(['convert', 'all.svm', '-o', 'all.dsob', '--quiet'], { folder });
      writeFileSync(
        join(folder, 'factors'),
        Array.from({ length: 120 }, (_, k) => `${1 + (k % 3)}\n`).join(''),
      );
      const more = [...short, '--intercept', '--penalty-factors', 'factors'];
      const expected = await modelOf(folder, ['train', 'all.svm', ...more]);
      for (const data of ['all.svm', 'part-*.svm', 'all.svm.gz', 'all.dsob']) {
        const args = ['train', data, ...more, '-o', 'ranks.model'];
        const { code, said } = await runJob(launcher, 3, args, { folder });
        expect(code, said).toBe(unfinished);
        expect(readFileSync(join(folder, 'ranks.model')).equals(expected), data).toBe(true);
        // Rank 0 reports progress; what is packed only one of the others has met.
        const packed =
          /^rank 1 on \S+: all.svm.gz: compressed, so one of 3 processes reads all of it/m;
        expect(packed.test(said), said).toBe(data.endsWith('.gz'));
        expect(said.match(/^model in ranks.model/gm)).toHaveLength(1);
        expect(said.match(/^epoch \d/gm)).toHaveLength(3);
      }
    },
  );

  test('more ranks than rows', async ({ skip }) => {
    installed(openMpi, skip);
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'two.svm'), '+1 1:1\n-1 1:2\n');
    const args = ['train', 'two.svm', '--quiet', '--threads', '1'];
    await runDso([...args, '-o', 'alone.model'], { folder });
    const { code, stderr } = await runJob(openMpi, 4, [...args, '-o', 'ranks.model'], { folder });
    expect(code, stderr).toBe(0);
    const model = (name: string) => readFileSync(join(folder, name));
    expect(model('ranks.model').equals(model('alone.model'))).toBe(true);
  });
});

describe('several classes', () => {
  /** The rows of a class lie together, so that no rank meets all of them. */
  function placeClasses(count: number): string {
    const folder = dataFolder();
    const lines = linesOf(trainText).map((line, row, all) =>
      line.replace(/^\S+/, String(Math.floor((count * row) / all.length))),
    );
    writeFileSync(join(folder, 'classes.svm'), `${lines.join('\n')}\n`);
    return folder;
  }

  test.for([openMpi, mpich])(
    '$name: balanced, in a box, from a model of other classes',
    async (launcher, { skip }) => {
      installed(launcher, skip);
      const folder = placeClasses(5);
      const lines = linesOf(readFileSync(join(folder, 'classes.svm'), 'utf8'));
      const some = lines.filter((line) => !line.startsWith('3 '));
      writeFileSync(join(folder, 'some.svm'), `${some.join('\n')}\n`);
      const train = ['train', 'some.svm', ...short];
      writeFileSync(join(folder, 'some.model'), await modelOf(folder, train));
      const more = ['--class-weight', 'balanced', '--lower', '-0.2', '--upper', '0.3'];
      const args = ['train', 'classes.svm', '--init', 'some.model', ...more, ...short];
      const expected = await modelOf(folder, args);
      const ranks = await runJob(launcher, 3, [...args, '-o', 'ranks.model'], { folder });
      expect(ranks.code, ranks.said).toBe(unfinished);
      expect(readFileSync(join(folder, 'ranks.model')).equals(expected)).toBe(true);
    },
  );

  test('two of them, from a model, where no rank has rows of both', async ({ skip }) => {
    installed(openMpi, skip);
    const folder = placeClasses(2);
    const train = ['train', 'classes.svm', ...short];
    writeFileSync(join(folder, 'first.model'), await modelOf(folder, train));
    const args = [...train, '--init', 'first.model'];
    const expected = await modelOf(folder, args);
    const { code, said } = await runJob(openMpi, 2, [...args, '-o', 'ranks.model'], { folder });
    expect(code, said).toBe(unfinished);
    expect(readFileSync(join(folder, 'ranks.model')).equals(expected)).toBe(true);
  });

  test('the clock of rank 0 says for which of them there is time', async ({ skip }) => {
    installed(openMpi, skip);
    const folder = placeClasses(100);
    const args = ['train', 'classes.svm', '--threads', '1', '--grid', '2', '--json'];
    const endless = ['--tolerance', '1e-300', '--epochs', '1000000000'];
    const hard = ['--loss', 'logistic', '--solver', 'dso', ...endless];
    const limits = [...hard, '--time', '0.05', '-o', 'ranks.model'];
    const { code, said, stdout } = await runJob(openMpi, 2, [...args, ...limits], { folder });
    expect(code, said).toBe(unfinished);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ vectors: 100, stopped: 'time-limit' });
    // Those that had no turn are 0: log 2 each.
    expect(report.primal).toBeLessThanOrEqual(100 * Math.log(2) + 1e-9);
    expect(report.primal).toBeGreaterThan(0);
  });
});

test('--json: one report of rank 0, like that of one process', async ({ skip }) => {
  installed(openMpi, skip);
  const folder = dataFolder();
  const args = ['train', 'train.svm', '--test', 'test.svm', '--auprc', '--json', ...short];
  const single = await runDso([...args, '-o', 'alone.model'], { folder });
  const { stdout, said } = await runJob(openMpi, 3, [...args, '-o', 'ranks.model'], { folder });
  expect(linesOf(stdout)).toHaveLength(1);
  const [one, three] = [single.stdout.toString(), stdout].map((text) => JSON.parse(text));
  expect(three.ranks).toBe(3);
  for (const key of ['test', 'primal', 'dual', 'passes', 'grid', 'stopped', 'imbalance', 'rows']) {
    expect(three[key], key).toEqual(one[key]);
  }
  expect(said.match(/^model in /gm)).toHaveLength(1);
  expect(said).not.toMatch(/^rank /m);
});

describe('what is wrong is said once', () => {
  /** A refused run: its exit code, its one message, and nothing new in the folder. */
  async function errorOf(
    launcher: Launcher,
    ranks: number,
    args: readonly string[],
    options: JobOptions,
  ): Promise<string> {
    const before = readdirSync(options.folder);
    const { code, stdout, said }: EndedJob = await runJob(launcher, ranks, args, options);
    expect(stdout).toBe('');
    expect(occurrences(said, 'dso: '), said).toBe(1);
    expect(readdirSync(options.folder)).toEqual(before);
    return `${code} ${said.trim()}`;
  }

  test.for([openMpi, mpich])('$name: data and options', async (launcher, { skip }) => {
    installed(launcher, skip);
    const folder = dataFolder();
    const lines = linesOf(trainText);
    lines[249] = '+1 3:0.5 7:x';
    writeFileSync(join(folder, 'bad.svm'), lines.join('\n'));
    const refused = (...args: string[]) => errorOf(launcher, 2, ['train', ...args], { folder });
    // The faults of all: no rank repeats them while the launcher takes its time to end the job.
    const slowly = (...args: string[]) =>
      errorOf(launcher, 2, ['train', ...args], { folder, environment: graceOf(1) });
    expect(await refused('bad.svm')).toBe(
      `3 dso: rank 1 on ${host}: bad.svm:250: value "x" of feature 7 is not a number; expected a pair like 3:0.5`,
    );
    expect(await refused('train.svm', '--test', 'bad.svm')).toMatch(
      /^3 dso: rank 1 on .* bad.svm:250: /,
    );
    expect(await slowly('nowhere.svm')).toBe('3 dso: nowhere.svm: no such file');
    expect(await slowly('train.svm', '--lambda', '-3')).toMatch(
      /^2 dso: --lambda is -3; it must be/,
    );
    expect(await refused('train.svm', '--grid', '200')).toMatch(
      /^2 dso: a grid of 200 was given; with 300 rows/,
    );
    expect(await refused('train.svm', '--solver', 'dso-async')).toMatch(
      /^2 dso: dso-async runs in/,
    );
    expect(await refused('train.svm', '--memory', '1G')).toMatch(
      /^2 dso: --memory is for one proc/,
    );
  });

  test('labels: all of them count', async ({ skip }) => {
    installed(openMpi, skip);
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'same.svm'), '2 1:1\n2 1:2\n2 2:2\n2 2:1\n');
    writeFileSync(join(folder, 'three.svm'), '1 1:1\n1 1:2\n2 2:2\n3.5 2:1\n');
    const refused = (data: string) => errorOf(openMpi, 2, ['train', data], { folder });
    expect(await refused('same.svm')).toMatch(/^3 dso: same.svm: all labels are 2/);
    expect(await refused('three.svm')).toMatch(/^3 dso: three.svm: labels 1, 2, 3.5 are not whole/);
  });

  test('ranks that see other files', async ({ skip }) => {
    installed(openMpi, skip);
    const folder = dataFolder();
    const seen = (rank: number, name: string, text: string) => {
      mkdirSync(join(folder, `rank-${rank}`), { recursive: true });
      writeFileSync(join(folder, `rank-${rank}`, name), text);
    };
    seen(0, 'both.svm', trainText);
    seen(1, 'both.svm', `${trainText}-1 1:1\n`);
    seen(0, 'one.svm', trainText);
    const wrapper = ['sh', '-c', 'cd rank-$OMPI_COMM_WORLD_RANK && exec "$0" "$@"'];
    const refused = (data: string) => errorOf(openMpi, 2, ['train', data], { folder, wrapper });
    expect(await refused('both.svm')).toMatch(
      /^2 dso: rank 0 on \S+ and rank 1 on \S+ differ in data \(both.svm: 1 file of \d+ bytes, listing \w{8} and both.svm: 1 file of \d+ bytes, listing \w{8}\): all ranks need the same$/,
    );
    expect(await refused('one.svm')).toBe(`3 dso: rank 1 on ${host}: one.svm: no such file`);
  });

  test('no library, or not the package that calls it', async ({ skip }) => {
    installed(openMpi, skip);
    const folder = dataFolder();
    const environment = { DSO_MPI_LIBRARY: '/nowhere/libmpi.so', ...graceOf(1) };
    const wrong = { folder, environment };
    expect(await errorOf(openMpi, 3, ['train', 'train.svm'], wrong)).toMatch(
      /^1 dso: no MPI library can be loaded \(\/nowhere\/libmpi.so: .*; install one \(Debian: /,
    );
    const root = fileURLToPath(new URL('../..', import.meta.url));
    const copy = temporaryFolder();
    for (const name of ['bin', 'dist', 'wasm', 'package.json']) {
      cpSync(join(root, name), join(copy, name), { recursive: true });
    }
    mkdirSync(join(copy, 'node_modules'));
    for (const name of ['commander', 'picocolors']) {
      symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name));
    }
    const program = join(copy, 'bin', 'dso.js');
    const name = `@koromix/koffi-${process.platform}-${process.arch}`;
    expect(await errorOf(openMpi, 3, ['train', 'train.svm'], { folder, program })).toBe(
      `1 dso: MPI needs the package ${name} (an optional dependency that was left out): npm install ${name}`,
    );
    const threads = ['train', 'train.svm', '--transport', 'threads', ...short, '--quiet'];
    expect((await runJob(openMpi, 1, threads, { folder, program })).code).toBe(unfinished);
  });
});

test('three hosts: the bits of one, and messages that name the host', async ({ skip }) => {
  installed(openMpi, skip);
  const lack = lackForHosts();
  if (lack) skip(lack);
  const hosts = makeHosts(3);
  onTestFinished(() => hosts.remove());
  const folder = dataFolder();
  const more = hosts.openMpiOptions;
  const args = ['train', 'train.svm', ...short, '--intercept'];
  const expected = await modelOf(folder, args);
  const { code, said } = await runJob(openMpi, 3, [...args, '-o', 'a.model'], { folder, more });
  expect(code, said).toBe(unfinished);
  expect(readFileSync(join(folder, 'a.model')).equals(expected)).toBe(true);
  writeFileSync(join(folder, 'bad.svm'), trainText.replace(/:\S+\n$/, ':\n'));
  const bad = await runJob(openMpi, 3, ['train', 'bad.svm', ...short], { folder, more });
  expect(bad.code, bad.said).toBe(3);
  expect(bad.said).toMatch(/^dso: rank 2 on host3: bad.svm:300: /m);
});

describe('--transport', () => {
  test('mpi without a launcher is refused', async () => {
    const folder = dataFolder();
    const { code, stderr } = await runDso(['train', 'train.svm', '--transport', 'mpi'], { folder });
    expect(`${code} ${stderr}`).toMatch(
      /^2 dso: --transport mpi: no MPI launcher has started this/,
    );
  });

  test('threads under a launcher: processes that know nothing of each other', async ({ skip }) => {
    installed(openMpi, skip);
    const folder = dataFolder();
    const args = ['train', 'train.svm', ...short, '--json', '--quiet', '--transport', 'threads'];
    const expected = await modelOf(folder, ['train', 'train.svm', ...short]);
    // A launcher may mix what two processes print, and ends the other when one has a code.
    const own = '"$0" "$@" -o $OMPI_COMM_WORLD_RANK.model > $OMPI_COMM_WORLD_RANK.json';
    const wrapper = ['sh', '-c', `${own}; exit 0`];
    const { code, said } = await runJob(openMpi, 2, args, { folder, wrapper });
    expect(code, said).toBe(0);
    for (const rank of [0, 1]) {
      const report = JSON.parse(readFileSync(join(folder, `${rank}.json`), 'utf8'));
      expect([report.ranks, report.stopped]).toEqual([undefined, 'epoch-limit']);
      expect(readFileSync(join(folder, `${rank}.model`)).equals(expected)).toBe(true);
    }
  });

  test('a launcher with one process: like none', async ({ skip }) => {
    installed(openMpi, skip);
    const folder = dataFolder();
    const args = ['train', 'train.svm', ...short, '--json', '--quiet', '-o', 'one.model'];
    const { code, stdout } = await runJob(openMpi, 1, args, { folder });
    expect(code).toBe(unfinished);
    expect(JSON.parse(stdout).ranks).toBeUndefined();
    const expected = await modelOf(folder, ['train', 'train.svm', ...short]);
    expect(readFileSync(join(folder, 'one.model')).equals(expected)).toBe(true);
  });
});
