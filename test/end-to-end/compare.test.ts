import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { main } from '../../src/apps/cli/program.ts';
import type { Comparison } from '../../src/train/compare/comparison.ts';
import { runDso, startDso } from '../support/command-line.ts';
import { lastingFolders } from '../support/lasting-folder.ts';
import { memoryIo } from '../support/memory-io.ts';
import { sampleText } from '../support/sample-text.ts';
import {
  externalReferences,
  markupFault,
  pngSize,
} from '../unit/train/compare/support/well-formed.ts';

const lastingFolder = lastingFolders();

const shape = { rows: 400, columns: 60, perRow: 8 };
const trainText = sampleText(shape);
const testText = sampleText({ ...shape, rows: 150, seed: 2 });

/** Puts data to compare on into a folder. */
function dataFolder(): string {
  const folder = lastingFolder();
  writeFileSync(join(folder, 'train.svm'), trainText);
  writeFileSync(join(folder, 'test.svm'), testText);
  return folder;
}

const limits = ['--epochs', '8', '--tolerance', '1e-9'];

function command(solvers: string, ...more: string[]): string[] {
  return ['compare', 'train.svm', '--test', 'test.svm', '--solvers', solvers, ...limits, ...more];
}

function readComparison(folder: string): Comparison {
  return JSON.parse(readFileSync(join(folder, 'report/results.json'), 'utf8')) as Comparison;
}

/** Solver, λ and state of every run, and when it began. */
function runsOf(folder: string): Map<string, string> {
  const { runs } = readComparison(folder);
  return new Map(
    runs.map(({ solver, lambda, state, started }) => [`${solver} ${lambda} ${state}`, started]),
  );
}

describe.concurrent('a report', () => {
  let folder: string;
  let output: { stdout: Buffer; stderr: string; code: number | null };

  beforeAll(async () => {
    folder = dataFolder();
    output = await runDso(command('ring,dso,lbfgs', '--lambda', '1e-2,1e-3'), { folder });
  });

  test('ranks the solvers; one that refuses is a line of the table', () => {
    expect(output.code, output.stderr).toBe(0);
    const table = output.stdout.toString();
    expect(table).toContain('hinge loss, l2 penalty, λ = 0.01');
    expect(table).toContain('hinge loss, l2 penalty, λ = 0.001');
    expect(table).toMatch(/^1 {2}ring .* %.* 8 {2}epoch limit$/m);
    expect(table).toMatch(/^– {2}lbfgs +refused: .*smooth/m);
    expect(table).toContain('Solvers that reached the tolerance come first');
    expect(output.stderr).toMatch(/^ring λ=0.01: epoch limit after .* 8 epochs, objective /m);
    expect(output.stderr).toMatch(/^lbfgs λ=0.01: refused: /m);
  });

  test('results.json and results.csv hold every epoch', () => {
    const { runs, data, commands } = readComparison(folder);
    expect(runs).toHaveLength(6);
    expect(data).toMatchObject({ name: 'train.svm', rows: 400 });
    expect(commands[0]).toContain('--lambda 0.01,0.001');
    const lines = readFileSync(join(folder, 'report/results.csv'), 'utf8').trimEnd().split('\n');
    const head = lines[0].split(',');
    expect(lines).toHaveLength(1 + runs.reduce((sum, run) => sum + run.events.length, 0));
    for (const line of lines) expect(line.split(',')).toHaveLength(head.length);
    const first = Object.fromEntries(lines[1].split(',').map((cell, k) => [head[k], cell]));
    expect(Number(first.primal)).toBe(runs[0].events[0].primal);
    expect(Number(first.testError)).toBe(runs[0].events[0].testError);
  });

  test('figures are SVG and PNG, for every problem, measure and axis', () => {
    const names = readdirSync(join(folder, 'report/figures')).sort();
    const expected = ['0.001', '0.01'].flatMap((lambda) =>
      ['distance', 'error', 'gap', 'objective'].flatMap((measure) =>
        ['epochs', 'passes', 'seconds'].flatMap((axis) =>
          ['png', 'svg'].map((ending) => `hinge-${lambda}-${measure}-${axis}.${ending}`),
        ),
      ),
    );
    expect(names).toEqual(expected);
    for (const name of names) {
      const bytes = readFileSync(join(folder, 'report/figures', name));
      if (name.endsWith('.png')) expect(pngSize(bytes)).toEqual([1280, 840]);
      else expect(markupFault(bytes.toString()), name).toBeUndefined();
    }
  });

  test('report.html needs no other file', () => {
    const page = readFileSync(join(folder, 'report/report.html'), 'utf8');
    expect(markupFault(page)).toBeUndefined();
    expect(externalReferences(page)).toEqual([]);
    expect(page).toContain('dso compare train.svm --solvers ring,dso,lbfgs');
    expect(page.match(/<svg xmlns/g)).toHaveLength(24);
    expect(readdirSync(join(folder, 'report')).sort()).toEqual([
      'figures',
      'report.html',
      'results.csv',
      'results.json',
    ]);
  });
});

describe.concurrent('the same folder again', () => {
  test('adds a solver and a λ, and runs nothing twice', async () => {
    const folder = dataFolder();
    await runDso(command('ring', '--lambda', '1e-2'), { folder });
    const before = runsOf(folder);
    const again = await runDso(command('ring,dso', '--lambda', '1e-2,1e-3', '--json'), { folder });
    expect(again.code, again.stderr).toBe(0);
    expect(again.stderr).toMatch(/^ring λ=0.01: done before$/m);
    const after = runsOf(folder);
    expect([...after.keys()].sort()).toEqual([
      'dso 0.001 finished',
      'dso 0.01 finished',
      'ring 0.001 finished',
      'ring 0.01 finished',
    ]);
    expect(after.get('ring 0.01 finished')).toBe(before.get('ring 0.01 finished'));
    const { problems } = JSON.parse(again.stdout.toString()) as {
      problems: { lambda: number; ranking: { rank: number; solver: string }[] }[];
    };
    expect(problems.map(({ lambda }) => lambda)).toEqual([0.01, 0.001]);
    expect(problems[0].ranking.map(({ rank }) => rank)).toEqual([1, 2]);
  });

  test('refuses other data and conditions unless it may start over', async () => {
    const folder = dataFolder();
    await runDso(command('ring', '--quiet'), { folder });
    writeFileSync(join(folder, 'train.svm'), trainText.replace(/^\S+/, '+1').replace(':', ':1'));
    const refused = await runDso(command('ring', '--seed', '7'), { folder });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/the training data was 400 rows .*; seed was 1, is 7.* --fresh/);
    const fresh = await runDso(command('dso', '--seed', '7', '--fresh', '--quiet'), { folder });
    expect([fresh.code, fresh.stdout.toString(), fresh.stderr]).toEqual([0, '', '']);
    expect([...runsOf(folder).keys()]).toEqual(['dso 0.0025 finished']);
  });

  test('a solver that refuses everything: exit code 1', async () => {
    const folder = dataFolder();
    const run = await runDso(command('lbfgs'), { folder });
    expect(run.code, run.stderr).toBe(1);
    expect(run.stdout.toString()).toMatch(/^– {2}lbfgs +refused: /m);
  });

  test('an unknown solver or an unreadable report is a usage error', async () => {
    const folder = dataFolder();
    const unknown = await runDso(command('rign'), { folder });
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("'ring'")]);
    expect(readdirSync(folder).sort()).toEqual(['test.svm', 'train.svm']);
    await runDso(command('ring', '--quiet'), { folder });
    writeFileSync(join(folder, 'report/results.json'), '{"mine": true}');
    const other = await runDso(command('ring'), { folder });
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('--fresh')]);
  });
});

describe.concurrent('Ctrl-C', () => {
  test('writes what there is', async () => {
    const folder = dataFolder();
    writeFileSync(join(folder, 'large.svm'), sampleText({ rows: 3000, columns: 2000, perRow: 10 }));
    // A gap far below what can be reached: the run ends by the signal alone.
    const endless = ['--lambda', '1e-4', '--tolerance', '1e-15', '--epochs', '1000000000'];
    const running = startDso(['compare', 'large.svm', '--solvers', 'dso', ...endless], { folder });
    await running.saw(/^note: solver dso/m);
    running.process.kill('SIGINT');
    const stopped = await running.finished;
    expect(stopped.code, stopped.stderr).toBe(130);
    expect([...runsOf(folder).keys()]).toEqual(['dso 0.0001 interrupted']);
    expect(stopped.stdout.toString()).toMatch(/dso .*interrupted/);
  });

  test('the same command finishes the rest', async () => {
    const folder = dataFolder();
    const paths = [join(folder, 'train.svm'), '-o', join(folder, 'report')];
    const args = ['compare', ...paths, '--solvers', 'ring,dso', '--lambda', '1e-3', ...limits];
    // In this process, so that the signal comes while the second run begins, never after it.
    const io = memoryIo({
      onError: (text) => {
        if (text.startsWith('note: solver dso: ')) io.send('SIGINT');
      },
    });
    expect(await main(args, io), io.stderr.text).toBe(130);
    const before = runsOf(folder);
    expect([...before.keys()]).toEqual(['ring 0.001 finished', 'dso 0.001 interrupted']);
    expect(io.stdout.text).toMatch(/dso .*interrupted/);
    const second = await runDso(args);
    expect(second.code, second.stderr).toBe(0);
    expect(second.stderr).toMatch(/^ring λ=0.001: done before$/m);
    const after = runsOf(folder);
    expect([...after.keys()]).toEqual(['ring 0.001 finished', 'dso 0.001 finished']);
    expect(after.get('ring 0.001 finished')).toBe(before.get('ring 0.001 finished'));
  });
});
