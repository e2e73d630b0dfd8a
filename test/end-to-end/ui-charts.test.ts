/** What is drawn in the charts can be named and read, with a mouse and with a finger. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import {
  chartOf,
  eventually,
  focusOf,
  inkOf,
  pictureOf,
  test as plainTest,
  settledBox,
  showAll,
  start,
  startForTest,
  testOfSite as test,
  textOf,
} from '../support/browser.ts';
import { sampleText } from '../support/sample-text.ts';
import { temporaryFolder } from '../support/temporary.ts';

const curvesOf = (page: Page): Locator => page.getByRole('group', { name: 'curves' });
const plotOf = (chart: Locator): Locator => chart.getByRole('group');

async function middleOf(chart: Locator): Promise<{ x: number; y: number }> {
  const box = await settledBox(chart);
  return { x: box.x + 0.5 * box.width, y: box.y + 0.5 * box.height };
}

describe('the names of the curves', () => {
  test('are above the charts, and lead to their runs', async ({ visit, site }) => {
    const page = await visit(site!.address);
    await showAll(page);
    for (const { solver } of site!.runs) {
      const name = curvesOf(page).getByRole('button', { name: solver });
      expect(await textOf(name)).toMatch(/\de-\d+/);
      await name.click();
      await eventually(
        () => textOf(focusOf(page)),
        (text) => expect(text).toContain(solver),
      );
      expect(await name.getAttribute('aria-current')).toBe('true');
    }
  });

  test('raise the curve that is pointed at', async ({ visit, site }) => {
    const page = await visit(site!.address);
    await showAll(page);
    const gap = chartOf(page, 'Relative gap');
    const names = curvesOf(page).getByRole('button');
    await names.first().click();
    await page.mouse.move(5, 5);
    const before = await pictureOf(gap);
    await names.last().hover();
    await eventually(
      () => pictureOf(gap),
      (now) => expect(now === before).toBe(false),
    );
  });
});

describe('readings', () => {
  test('show the last values of a run that has ended', async ({ visit, site }) => {
    const page = await visit(site!.address);
    await showAll(page);
    await page.getByRole('button', { name: 'epochs', exact: true }).click();
    const gap = chartOf(page, 'Relative gap');
    const box = await settledBox(gap);
    await page.mouse.move(box.x + box.width - 20, box.y + box.height / 2);
    await eventually(
      () => textOf(plotOf(gap)),
      (text) => {
        for (const { solver } of site!.runs) expect(text).toContain(solver);
        expect(text).toMatch(/ended at \d+ epochs/);
        expect(text).toMatch(/^\s*\d+ epochs/);
      },
    );
  });

  test('stay when the finger is lifted, until it taps elsewhere', async ({ visit, site }) => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    // Over epochs: how far a run has come at half its time depends on the machine.
    const page = await visit(`${site!.address}#x=epoch`, phone);
    const gap = chartOf(page, 'Relative gap');
    await gap.scrollIntoViewIfNeeded();
    await eventually(
      () => inkOf(gap),
      (ink) => expect(ink).toHaveLength(1),
    );
    const middle = await middleOf(gap);
    await page.touchscreen.tap(middle.x, middle.y);
    await eventually(
      () => textOf(plotOf(gap)),
      (text) => expect(text).toMatch(/\de-\d+/),
    );
    await gap.getByRole('heading').tap();
    await eventually(
      () => textOf(plotOf(gap)),
      (text) => expect(text).toBe(''),
    );
  });
});

test('an enlarged chart can be seen as a whole', async ({ visit, site }) => {
  const page = await visit(site!.address, { viewport: { width: 1280, height: 700 } });
  const error = chartOf(page, 'Test error');
  await error.getByRole('button', { name: /enlarge/ }).click();
  await eventually(
    () => error.boundingBox(),
    (box) => {
      expect(box!.height).toBeGreaterThan(400);
      expect(box!.y).toBeGreaterThanOrEqual(0);
      expect(box!.y + box!.height).toBeLessThanOrEqual(700);
    },
  );
});

plainTest('a stream has time on its axis, and nothing else', async ({ visit }) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'stream.svm'), sampleText({ rows: 2000, columns: 50, perRow: 6 }));
  const run = await start(folder, ['train', 'stream.svm', '--progressive']).finished;
  expect(run.code, run.stderr).toBe(0);
  const page = await visit(`${await startForTest(folder, ['ui', '--no-open']).address}#x=epoch`);
  const axis = (name: string): Locator => page.getByRole('button', { name, exact: true });
  await eventually(
    () => Promise.all(['time', 'epochs', 'passes'].map((name) => axis(name).isEnabled())),
    (enabled) => expect(enabled).toEqual([true, false, false]),
  );
  expect(await axis('time').getAttribute('aria-pressed')).toBe('true');
});

plainTest('errors of two kinds have a chart each', async ({ visit }) => {
  const folder = temporaryFolder();
  const shape = { rows: 300, columns: 60, perRow: 6 };
  writeFileSync(join(folder, 'classes.svm'), sampleText(shape));
  writeFileSync(join(folder, 'numbers.svm'), sampleText({ ...shape, labels: 'real' }));
  for (const words of [
    ['classes.svm', '--loss', 'logistic'],
    ['numbers.svm', '--loss', 'square'],
  ]) {
    const run = await start(folder, ['train', ...words, '--holdout', '0.25']).finished;
    expect(run.code, run.stderr).toBe(0);
  }
  const page = await visit(await startForTest(folder, ['ui', '--no-open']).address);
  await page.getByRole('button', { name: /select all/ }).click();
  const charts = chartOf(page, 'Test error');
  await eventually(
    () => charts.count(),
    (count) => expect(count).toBe(2),
  );
  const tables = await charts.getByRole('table').allInnerTexts();
  expect(tables[0]).toMatch(/classes\.svm[\s\S]* %/);
  expect(tables[0]).not.toContain('numbers.svm');
  expect(tables[1]).toMatch(/numbers\.svm/);
  expect(tables[1]).not.toContain('%');
});
