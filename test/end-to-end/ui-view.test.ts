/** What the page shows of runs that have ended: over one another, and stored in the address. */
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import {
  chartOf,
  eventually,
  focusOf,
  inkOf,
  listOf,
  pictureOf,
  settledBox,
  showAll,
  startForTest,
  testOfSite as test,
  textOf,
  valuesOf,
} from '../support/browser.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { firstId, secondId, startLine, writeRecord } from '../unit/apps/dashboard/records.ts';

const pressed = (page: Page, name: string): Promise<string | null> =>
  page.getByRole('button', { name, exact: true }).getAttribute('aria-pressed');

/** Where curves and crosshair are. */
const plotOf = (chart: Locator): Locator => chart.getByRole('group', { name: /^chart of/ });

/** All that a person has chosen, as the page shows it. */
async function choices(page: Page) {
  const boxes = await page.getByRole('checkbox').all();
  const charts = page.getByRole('region', { name: 'charts' });
  return {
    shown: await Promise.all(boxes.map((box) => box.isChecked())),
    focus: (await textOf(focusOf(page))).split('\n')[0],
    pressed: await charts.locator('[aria-pressed=true]').allInnerTexts(),
    isZoomed: await page.getByRole('button', { name: 'all', exact: true }).isEnabled(),
    theme: await page.getByLabel('theme').inputValue(),
    background: await background(page.locator('html')),
    address: new URL(page.url()).hash,
    picture: await pictureOf(chartOf(page, 'Test error')),
  };
}

/** The same, once drawing has come to rest. */
async function settledChoices(page: Page): ReturnType<typeof choices> {
  let last = await choices(page);
  await eventually(
    () => choices(page),
    (now) => {
      const before = last;
      last = now;
      expect(now.picture === before.picture).toBe(true);
    },
  );
  return last;
}

const background = (element: Locator): Promise<string> =>
  element.evaluate(
    (found) => found.ownerDocument.defaultView.getComputedStyle(found).backgroundColor,
  );

/** Listens from now on for a word that is shown for a moment, which a look now and then may miss. */
async function saying(locator: Locator, word: string): Promise<{ heard: Promise<void> }> {
  const found = await locator.elementHandle();
  const heard = found.evaluate((element, expected) => {
    const { MutationObserver } = element.ownerDocument.defaultView;
    const { promise, resolve } = Promise.withResolvers<void>();
    const observer = new MutationObserver(() => {
      if (element.textContent.includes(expected)) resolve();
    });
    observer.observe(element, { subtree: true, childList: true, characterData: true });
    return promise;
  }, word);
  return { heard };
}

describe('several runs over one another', () => {
  test('both are in every chart, over time, epochs and passes', async ({ visit, site }) => {
    const solvers = site!.runs.map(({ solver }) => solver).toSorted();
    const page = await visit(site!.address);
    await eventually(
      () => listOf(page).count(),
      (count) => expect(count).toBe(2),
    );
    const gap = chartOf(page, 'Relative gap');
    await eventually(
      () => valuesOf(gap),
      (values) => expect(values).toHaveLength(1),
    );
    await showAll(page);
    for (const title of ['Objective and bound', 'Relative gap', 'Test error']) {
      const values = await valuesOf(chartOf(page, title));
      expect(values.map((row) => row.split(' ')[0]).toSorted()).toEqual(solvers);
    }
    const pictures = [await pictureOf(gap)];
    for (const axis of ['epochs', 'passes']) {
      await page.getByRole('button', { name: axis, exact: true }).click();
      await eventually(
        () => pictureOf(gap),
        (now) => expect(pictures.includes(now)).toBe(false),
      );
      pictures.push(await pictureOf(gap));
      expect(await pressed(page, axis)).toBe('true');
      expect(await pressed(page, 'time')).toBe('false');
      expect(await inkOf(gap)).toHaveLength(2);
    }
    await page.getByRole('button', { name: /^clear/ }).click();
    await eventually(
      () => valuesOf(gap),
      (values) => expect(values).toHaveLength(1),
    );
  });

  test('the crosshair shows the values of both, and a run can be taken away', async ({
    visit,
    site,
  }) => {
    const page = await visit(site!.address);
    await showAll(page);
    // Where both have gone the same way.
    await page.getByRole('button', { name: 'epochs', exact: true }).click();
    const gap = chartOf(page, 'Relative gap');
    const box = await settledBox(gap);
    await page.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2);
    await eventually(
      () => textOf(plotOf(gap)),
      (text) => {
        for (const { solver } of site!.runs) expect(text).toContain(solver);
      },
    );
    await page.mouse.move(5, 5);
    await eventually(
      () => textOf(plotOf(gap)),
      (text) => expect(text).toBe(''),
    );
    // Dragging shows a part, a double click everything again.
    const whole = page.getByRole('button', { name: 'all', exact: true });
    await page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    await eventually(
      () => page.url(),
      (url) => expect(url).toMatch(/zoom=[\d.]+,[\d.]+/),
    );
    expect(await whole.isEnabled()).toBe(true);
    await page.mouse.dblclick(box.x + box.width * 0.5, box.y + box.height / 2);
    await eventually(
      () => whole.isEnabled(),
      (now) => expect(now).toBe(false),
    );
    const [first] = site!.runs;
    await page.getByRole('checkbox', { name: first.id }).uncheck();
    await eventually(
      () => valuesOf(gap),
      (values) => expect(values).toHaveLength(1),
    );
    expect(await textOf(focusOf(page))).toContain(site!.runs[1].solver);
  });

  test('the list is filtered by words', async ({ visit, site }) => {
    const page = await visit(site!.address);
    await eventually(
      () => listOf(page).count(),
      (count) => expect(count).toBe(2),
    );
    await page.getByRole('searchbox').fill('LBFGS train');
    await eventually(
      () => listOf(page).allInnerTexts(),
      (rows) => {
        expect(rows).toEqual([expect.stringMatching(/lbfgs/)]);
      },
    );
    await page.getByRole('searchbox').fill('nothing has this');
    await eventually(
      () => textOf(listOf(page)),
      (text) => expect(text).toMatch(/no run/i),
    );
  });
});

describe('the view', () => {
  /** Changes everything that can be changed. */
  async function changeAll(page: Page): Promise<void> {
    await showAll(page);
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    await press('epochs');
    await press('log y axis of Objective and bound');
    await press('log y axis of Relative gap');
    await press('zoom in');
    await press('enlarge Test error');
    await page.getByLabel('theme').selectOption('dark');
    await eventually(
      () => page.url(),
      (url) => {
        expect(url).toMatch(/runs=.*zoom=.*theme=dark/);
      },
    );
  }

  test('survives a reload', async ({ visit, site }) => {
    const page = await visit(site!.address);
    await changeAll(page);
    const before = await settledChoices(page);
    expect(before).toMatchObject({ shown: [true, true], isZoomed: true, theme: 'dark' });
    await page.reload();
    await eventually(
      () => choices(page),
      (now) => {
        for (const key of Object.keys(before) as (keyof typeof before)[]) {
          expect(now[key], key).toEqual(before[key]);
        }
      },
    );
  });

  test('is in a link that can be copied, and back goes one step back', async ({ visit, site }) => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const page = await visit(site!.address, { permissions });
    await changeAll(page);
    const notice = await saying(page.getByRole('banner'), 'copied');
    await page.getByRole('button', { name: 'copy link' }).click();
    await notice.heard;
    const link = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(link.startsWith(site!.address)).toBe(true);
    const before = await settledChoices(page);
    const other = await page.context().newPage();
    await other.goto(link);
    await eventually(
      () => choices(other),
      (now) => {
        for (const key of Object.keys(before) as (keyof typeof before)[]) {
          expect(now[key], key).toEqual(before[key]);
        }
      },
    );
    await page.goBack();
    await eventually(
      () => page.getByLabel('theme').inputValue(),
      (theme) => expect(theme).toBe('auto'),
    );
  });

  test('is restored with a running run, which is reported before the list is there', async ({
    visit,
  }) => {
    const folder = temporaryFolder();
    const runs = join(folder, '.dso/runs');
    const ended = '2026-11-15T21:24:00.000Z';
    writeRecord(runs, firstId, [
      startLine(firstId, { name: 'the one that failed' }),
      { event: 'failure', ended, message: 'no more' },
    ]);
    writeRecord(runs, secondId, [startLine(secondId, { name: 'the one that is running' })]);
    const address = await startForTest(folder, ['ui', '--no-open']).address;
    const page = await visit(address);
    const waiting = Promise.withResolvers<void>();
    await page.route(/\/api\/runs$/, async (route) => {
      await waiting.promise;
      await route.continue();
    });
    await page.goto('about:blank');
    await page.goto(`${address}#runs=${firstId}`);
    await eventually(
      () => textOf(listOf(page).first()),
      (text) => expect(text).toContain('the one that is running'),
    );
    waiting.resolve();
    await eventually(
      () => listOf(page).count(),
      (count) => expect(count).toBe(2),
    );
    expect(await textOf(focusOf(page))).toContain('the one that failed');
    expect(new URL(page.url()).hash).toBe(`#runs=${firstId}`);
  });

  test.for([
    '#runs=../../etc/passwd,%00,<b>&focus=<script>alert(1)</script>',
    '#x=nonsense&zoom=9,1&ylog=what&class=-5&theme=pink&large=all',
    '#zoom=NaN,Infinity&runs=%E0%A4%A&&&=&x',
    '#zoom=1e300,1e301&xlog=1',
    '#runs=20200101-000000-0000',
  ])('a broken address does no harm: %s', async (hash, { visit, site }) => {
    const page = await visit(site!.address + hash);
    await eventually(
      () => listOf(page).count(),
      (count) => expect(count).toBe(2),
    );
    // Whatever it requested, it must not say that there is nothing.
    expect(await textOf(page.getByRole('main'))).not.toContain('No runs yet');
    await page.getByRole('button', { name: /select all/ }).click();
    await eventually(
      () => valuesOf(chartOf(page, 'Relative gap')),
      (values) => {
        expect(values).toHaveLength(2);
      },
    );
    await page.keyboard.press('Escape');
    const whole = page.getByRole('button', { name: 'all', exact: true });
    if (await whole.isEnabled()) await whole.click();
    await eventually(
      () => inkOf(chartOf(page, 'Relative gap')),
      (ink) => {
        expect(ink).toHaveLength(2);
      },
    );
  });
});
