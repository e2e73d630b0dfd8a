import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import picocolors from 'picocolors';
import { describe, expect, test } from 'vitest';
import { main } from '../../../../src/apps/cli/program.ts';
import { comparisonTable } from '../../../../src/reporting/text/comparison.ts';
import { memoryIo } from '../../../support/memory-io.ts';
import { sampleText } from '../../../support/sample-text.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { madeUpComparison, madeUpEvents, madeUpFailure, madeUpRun } from './support/made-up.ts';

describe('usage errors: exit code 2, the option is named', () => {
  // No file called x exists: all of this is found before any input is opened.
  const cases: [string[], string][] = [
    [['--solvers', 'dso,'], 'it must be names of solvers, separated by commas'],
    [['--solvers', 'dso,rign'], "no solver 'rign'; did you mean 'ring'?"],
    [['--lambda', '1e-3,0'], 'it must be numbers above 0, separated by commas'],
    [['--loss', 'hinge,logistc'], "unknown loss 'logistc'; did you mean 'logistic'?"],
    [['--delta', '2'], '--delta is not an option of the hinge loss'],
    [['--loss', 'huber,square', '--smoothing', '1'], '--smoothing is not an option of any of'],
    [['--l1-ratio', '0.5'], '--l1-ratio is an option of --penalty elastic-net'],
    [['--test', 'y', '--holdout', '0.1'], "'--test <file>' cannot be used with"],
    [['--time', '0'], '--time is 0; it must be a number above 0'],
  ];

  test.each(cases)('dso compare x %j', async (args, message) => {
    const io = memoryIo();
    expect(await main(['compare', 'x', ...args], io)).toBe(2);
    expect(io.stderr.text).toContain(message);
    expect(io.stdout.text).toBe('');
  });

  test('a file where the folder should be', async () => {
    const path = join(temporaryFolder(), 'taken');
    writeFileSync(path, 'mine');
    const io = memoryIo();
    expect(await main(['compare', 'x', '-o', path], io)).toBe(2);
    expect(io.stderr.text).toContain(`--output ${path}: ${path} is a file; expected a folder`);
  });
});

test('data that cannot be read leaves no folder behind', async () => {
  const folder = temporaryFolder();
  const io = memoryIo();
  const args = ['compare', join(folder, 'none.svm'), '-o', join(folder, 'a/b')];
  expect(await main(args, io)).toBe(3);
  expect(io.stderr.text).toContain('none.svm');
  expect(readdirSync(folder)).toEqual([]);
});

test('--fresh removes the figures of the old report and nothing else', async () => {
  const folder = temporaryFolder();
  const data = join(folder, 'a.svm');
  writeFileSync(data, sampleText({ rows: 60, columns: 10, perRow: 4 }));
  const report = join(folder, 'report');
  const run = (...args: string[]) =>
    main(['compare', data, '-o', report, '--quiet', '--epochs', '3', ...args], memoryIo());
  mkdirSync(join(report, 'figures'), { recursive: true });
  writeFileSync(join(report, 'figures/mine.svg'), '');
  expect(await run('--solvers', 'ring', '--lambda', '0.1')).toBe(0);
  expect(await run('--solvers', 'dso', '--lambda', '0.2', '--fresh')).toBe(0);
  const figures = readdirSync(join(report, 'figures'));
  expect(figures).toContain('mine.svg');
  expect(figures).toContain('hinge-0.2-gap-epochs.png');
  expect(figures.filter((name) => name.startsWith('hinge-0.1-'))).toEqual([]);
});

test('the table lines up; without test data it has no column for it', () => {
  const runs = [
    madeUpFailure('lbfgs', 'refused', 'no kinks'),
    madeUpRun('psgd', madeUpEvents(7, 0.9)),
    madeUpRun('dso', madeUpEvents(12, 0.4)),
  ];
  const table = comparisonTable(madeUpComparison(runs), picocolors.createColors(false));
  expect(table.split('\n').slice(0, 5)).toEqual([
    'hinge loss, l2 penalty, λ = 1e-5',
    '   solver  to tol.  objective     gap    time  passes  epochs',
    '1  dso      0.90 s   0.500008  3.4e-5   1.2 s    24.0      12  converged',
    '2  psgd          –   0.739148  6.5e-1  0.70 s    14.0       7  epoch limit',
    '–  lbfgs   refused: no kinks',
  ]);
});
