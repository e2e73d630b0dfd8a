/** Every kind of run is drawn: many classes, regression, streams, several processes, failures. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { MulticlassMetrics } from '../../src/model/metrics/evaluate.ts';
import { listRuns } from '../../src/reporting/records/store.ts';
import {
  chartOf,
  eventually,
  focusOf,
  gridWords,
  inkOf,
  listOf,
  pictureOf,
  start,
  startForTest,
  test,
  textOf,
  tileOf,
  type Visit,
  valuesOf,
} from '../support/browser.ts';
import { executable } from '../support/command-line.ts';
import { launch, launchers } from '../support/launchers.ts';
import { sampleText } from '../support/sample-text.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { markupFault } from '../unit/train/compare/support/well-formed.ts';

/** Trains to the end in a folder and opens the page of its runs. */
async function shown(visit: Visit, folder: string, words: readonly string[], code = 0) {
  const run = await start(folder, ['train', ...words]).finished;
  expect(run.code, run.stderr).toBe(code);
  return visit(await startForTest(folder, ['ui', '--no-open']).address);
}

const drawn = (ink: readonly string[]): void => expect(ink).toHaveLength(1);

test('several classes: each has curves of its own', async ({ visit }) => {
  const folder = temporaryFolder();
  const rows = sampleText({ rows: 600, columns: 40, perRow: 6 }).trimEnd().split('\n');
  const labels = ['aster', 'poppy', 'tulip'];
  const table = rows.map((row, k) => {
    const value = (at: number): string => row.split(' ')[at].split(':')[1];
    return `${labels[k % 3]},${Number(value(1)) + (k % 3)},${value(2)},${value(3)}`;
  });
  writeFileSync(join(folder, 'flowers.csv'), `kind,width,height,age\n${table.join('\n')}\n`);
  const words = ['flowers.csv', '--label', 'kind', '--loss', 'logistic', '--tolerance', '1e-7'];
  const page = await shown(visit, folder, [...words, '--holdout', '0.25']);
  const [{ result }] = listRuns(join(folder, '.dso/runs'));
  const measured = result!.test as MulticlassMetrics;
  expect(measured.task).toBe('multi-class');
  // Of the model, not of the class that was trained last.
  await eventually(
    () => tileOf(page, 'test error'),
    (percent) => expect(percent).toBeCloseTo(100 * measured.error, 2),
  );
  const gap = chartOf(page, 'Relative gap');
  await eventually(() => inkOf(gap), drawn);
  const classes = page.getByRole('combobox', { name: /class/ });
  expect((await classes.getByRole('option').allInnerTexts()).map((text) => text.trim())).toEqual(
    labels,
  );
  const seen = [await pictureOf(gap)];
  for (const label of labels.slice(1)) {
    await classes.selectOption({ label });
    await eventually(
      () => pictureOf(gap),
      (now) => expect(seen.includes(now)).toBe(false),
    );
    await eventually(() => inkOf(gap), drawn);
    seen.push(await pictureOf(gap));
  }
  await page.reload();
  await eventually(
    () => classes.locator('option:checked').textContent(),
    (text) => {
      expect(text?.trim()).toBe('tulip');
    },
  );
});

test('regression: the test error is no rate', async ({ visit }) => {
  const folder = temporaryFolder();
  const text = sampleText({ rows: 400, columns: 80, perRow: 6, labels: 'real' });
  writeFileSync(join(folder, 'train.svm'), text);
  const words = ['train.svm', '--loss', 'square', '--holdout', '0.25', '--tolerance', '1e-8'];
  const page = await shown(visit, folder, words);
  for (const title of ['Objective and bound', 'Relative gap', 'Test error']) {
    await eventually(() => inkOf(chartOf(page, title)), drawn);
  }
  const [row] = await valuesOf(chartOf(page, 'Test error'));
  expect(row).toMatch(/\d$/);
  const focus = await textOf(focusOf(page));
  expect(focus).toMatch(/test mse\s*\d/);
  expect(focus).not.toMatch(/test mse[\s\S]*%/);
});

test('--progressive: loss and error by rows', async ({ visit }) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'stream.svm'), sampleText({ rows: 5000, columns: 100, perRow: 6 }));
  const page = await shown(visit, folder, ['stream.svm', '--progressive']);
  await eventually(
    () => tileOf(page, 'rows'),
    (rows) => expect(rows).toBe(5000),
  );
  await eventually(
    () => textOf(listOf(page)),
    (text) => expect(text).toMatch(/sgd[\s\S]*end of stream|end of stream[\s\S]*sgd/),
  );
  const charts = page.getByRole('region', { name: 'charts' }).getByRole('figure');
  const inks = async (): Promise<string[][]> =>
    Promise.all((await charts.all()).map((chart) => inkOf(chart)));
  await eventually(inks, (found) => {
    expect(found.length).toBeGreaterThan(0);
    // No chart of something that a stream has not.
    for (const ink of found) expect(ink).toHaveLength(1);
  });
});

test('a run that failed says why', async ({ visit }) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'train.svm'), sampleText({ rows: 300, columns: 120, perRow: 8 }));
  const words = ['train.svm', '--solver', 'sgd', '--loss', 'square', '--step-size', '1e200'];
  const page = await shown(visit, folder, words, 1);
  await eventually(
    () => textOf(focusOf(page)),
    (text) => expect(text).toMatch(/failed: \w/i),
  );
  await eventually(
    () => textOf(listOf(page)),
    (text) => expect(text).toMatch(/failed/),
  );
});

test('names out of files stay text', async ({ visit }) => {
  const folder = temporaryFolder();
  const data = '<img src=x onerror=alert(1)>.csv';
  const rows = Array.from({ length: 60 }, (_, k) => `${k % 2 ? 'yes' : 'no'},${k % 2},${k % 5}`);
  const header = 'label,<b onclick=alert(2)>wide</b>,"tall ""&amp;"';
  writeFileSync(join(folder, data), [header, ...rows, ''].join('\n'));
  const page = await shown(visit, folder, [data, '--label', 'label', '-o', 'm']);
  await eventually(
    () => textOf(listOf(page)),
    (text) => expect(text).toContain(data),
  );
  await eventually(
    () => textOf(page.getByRole('region', { name: /weights/i })),
    (text) => {
      expect(text).toContain('<b onclick=alert(2)>wide</b>');
    },
  );
  expect(await page.locator('main img, nav img, main b').count()).toBe(0);
});

describe.each(launchers)('under $name', (launcher) => {
  test('all processes are in the grid and among the threads', async ({ visit, skip }) => {
    if (launcher.path === undefined) return skip(`${launcher.name} is not installed`);
    const folder = temporaryFolder();
    const [data, model, runs] = ['train.svm', 'm.model', '.dso/runs'].map((name) =>
      join(folder, name),
    );
    writeFileSync(data, sampleText({ rows: 300, columns: 120, perRow: 8 }));
    const words = ['train', data, '-o', model, '--runs', runs, '--grid', '4', '--quiet'];
    const job = await launch(launcher, 2, [process.execPath, executable, ...words]);
    expect(job.code, job.stderr).toBe(0);
    const page = await visit(await startForTest(folder, ['ui', '--no-open']).address);
    await eventually(() => inkOf(chartOf(page, 'Relative gap')), drawn);
    await eventually(
      () => gridWords(page),
      (text) => expect(text).toMatch(/4 workers in 2 processes/),
    );
    const threads = page.getByRole('region', { name: 'Threads' }).getByRole('listitem');
    await eventually(
      () => threads.count(),
      (count) => expect(count).toBe(2),
    );
    await eventually(
      () => textOf(page.getByRole('region', { name: /throughput/i })),
      (text) => expect(text).toMatch(/from rank to rank/i),
    );
  });
});

test('notices that are said twice, names that steer terminals: all is shown', async ({ visit }) => {
  const folder = temporaryFolder();
  const rows = Array.from({ length: 60 }, (_, k) => `${k % 2 ? 'yes' : 'no'},${k % 2},${k % 7}`);
  writeFileSync(join(folder, 'd.csv'), ['label,wi\u001bde,tall', ...rows, ''].join('\n'));
  const page = await shown(visit, folder, ['d.csv', '--test', 'd.csv', '--label', 'label']);
  await eventually(() => inkOf(chartOf(page, 'Objective and bound')), drawn);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save the features as an SVG file' }).click(),
  ]);
  const text = readFileSync(await file.path(), 'utf8');
  expect(markupFault(text)).toBeUndefined();
  expect(text).toContain('wi\ufffdde');
});
