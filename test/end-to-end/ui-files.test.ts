/** What the page shows, as files. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import {
  chartOf,
  eventually,
  inkOf,
  showAll,
  start,
  startForTest,
  testOfSite as test,
} from '../support/browser.ts';
import { temporaryFolder } from '../support/temporary.ts';

const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** What a press on a button or link makes the browser save. */
async function saved(page: Page, button: Locator) {
  const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

test('a chart as SVG with the names of its runs, and as PNG', async ({ visit, site }) => {
  const page = await visit(site!.address);
  await showAll(page);
  const svg = await saved(page, page.getByRole('link', { name: 'Relative gap as SVG' }));
  expect(svg.name).toMatch(/\.svg$/);
  const text = svg.bytes.toString();
  expect(text).toMatch(/^<svg [\s\S]*<\/svg>\s*$/);
  for (const { solver } of site!.runs) expect(text).toContain(solver);
  const picture = await saved(page, page.getByRole('link', { name: 'Relative gap as PNG' }));
  expect(picture.name).toMatch(/\.png$/);
  expect(picture.bytes.subarray(0, 8)).toEqual(png);
  expect(picture.bytes.length).toBeGreaterThan(5000);
});

test('grid and features as SVG and PNG, light on a dark page too', async ({ visit, site }) => {
  const page = await visit(site!.address, { colorScheme: 'dark' });
  await page.getByRole('checkbox', { name: /ring-/ }).check();
  for (const what of ['the grid', 'the features']) {
    const button = (kind: string) =>
      page.getByRole('button', { name: new RegExp(`^Save ${what} as an? ${kind}`) });
    const svg = await saved(page, button('SVG'));
    expect(svg.name).toMatch(/\.svg$/);
    const text = svg.bytes.toString();
    expect(text).toMatch(/^<svg [\s\S]*<\/svg>\s*$/);
    expect(text).toMatch(/<rect [^>]*fill="#ffffff"/);
    expect(text).not.toMatch(/class=|var\(|light-dark| style=/);
    const picture = await saved(page, button('PNG'));
    expect(picture.name).toMatch(/\.png$/);
    expect(picture.bytes.subarray(0, 8)).toEqual(png);
  }
});

test('a run that is no longer there does not keep the others from being saved', async ({
  visit,
  site,
}) => {
  const [{ id }] = site!.runs;
  const page = await visit(`${site!.address}#runs=20200101-000000-0000,${id}`);
  const gap = chartOf(page, 'Relative gap');
  await eventually(
    () => inkOf(gap),
    (ink) => expect(ink).toHaveLength(1),
  );
  const svg = await saved(page, page.getByRole('link', { name: 'Relative gap as SVG' }));
  expect(svg.bytes.toString()).toMatch(/^<svg /);
});

test('of several classes, the one that is shown is saved', async ({ visit }) => {
  const folder = temporaryFolder();
  const rows = Array.from({ length: 300 }, (_, k) => {
    const noise = ((k * 7919) % 101) / 50;
    return `${k % 3} 1:${(k % 3) + noise} 2:${(k % 3) ** 2 - noise} 3:1`;
  });
  writeFileSync(join(folder, 'train.svm'), `${rows.join('\n')}\n`);
  const words = ['train', 'train.svm', '--loss', 'logistic', '--tolerance', '1e-7'];
  const run = await start(folder, words).finished;
  expect(run.code, run.stderr).toBe(0);
  const page = await visit(await startForTest(folder, ['ui', '--no-open']).address);
  await eventually(
    () => inkOf(chartOf(page, 'Relative gap')),
    (ink) => expect(ink).toHaveLength(1),
  );
  const link = page.getByRole('link', { name: 'Relative gap as SVG' });
  const first = await saved(page, link);
  await page.getByRole('combobox', { name: /class/ }).selectOption({ index: 2 });
  await eventually(
    () => page.url(),
    (url) => expect(url).toContain('class=3'),
  );
  const third = await saved(page, link);
  expect(third.bytes.equals(first.bytes), 'the same figure for another class').toBe(false);
});
