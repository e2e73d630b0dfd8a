/** Who can use the page: in the dark, by keyboard alone, on a phone. */
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { readModel } from '../../src/model/file.ts';
import {
  chartOf,
  eventually,
  focusOf,
  inkOf,
  listOf,
  startForTest,
  startTraining,
  testOfSite as test,
  textOf,
  tileOf,
  valuesOf,
} from '../support/browser.ts';
import { temporaryFolder } from '../support/temporary.ts';
import {
  beginLine,
  epochLine,
  firstId,
  startLine,
  writeRecord,
} from '../unit/apps/dashboard/records.ts';

/** Relative luminance and contrast as WCAG 2 defines them, for every text that can be seen. */
function poorTexts(page: Page): Promise<string[]> {
  return page.locator('body').evaluate((body) => {
    const { defaultView: view } = body.ownerDocument;
    const canvas = body.ownerDocument.createElement('canvas');
    const context = canvas.getContext('2d', { willReadFrequently: true });
    const parts = (color: string): number[] => {
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = color;
      context.fillRect(0, 0, 1, 1);
      return [...context.getImageData(0, 0, 1, 1).data];
    };
    const luminance = (color: number[]): number => {
      const [red, green, blue] = color.slice(0, 3).map((part) => {
        const share = part / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const ground = (element: typeof body): number[] => {
      for (let at = element; at; at = at.parentElement) {
        const color = parts(view.getComputedStyle(at).backgroundColor);
        if (color[3] === 255) return color;
      }
      return [255, 255, 255, 255];
    };
    const poor: string[] = [];
    for (const element of body.querySelectorAll('*:not(svg *, canvas, option, :disabled)')) {
      const own = [...element.childNodes].filter((node) => node.nodeType === 3);
      const text = own
        .map((node) => node.data)
        .join('')
        .trim();
      if (text === '' || !element.checkVisibility({ visibilityProperty: true })) continue;
      const [one, other] = [parts(view.getComputedStyle(element).color), ground(element)];
      const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
      const contrast = (high + 0.05) / (low + 0.05);
      if (contrast < 4.5) poor.push(`${text}: ${contrast.toFixed(2)}`);
    }
    return poor;
  });
}

const brightness = (page: Page): Promise<number> =>
  page.locator('html').evaluate((root) => {
    const { backgroundColor } = root.ownerDocument.defaultView.getComputedStyle(root);
    const parts: string[] = backgroundColor.match(/[\d.]+/g);
    return Math.max(...parts.slice(0, 3).map(Number));
  });

describe.each([
  { system: 'dark', other: 'light' },
  { system: 'light', other: 'dark' },
] as const)('where the system is $system', ({ system, other }) => {
  const isDark = (value: number): boolean => value < 60;

  test('so is the page, and every text can be read; the switch overrides it', async ({
    visit,
    site,
  }) => {
    const page = await visit(site!.address, { colorScheme: system });
    const gap = chartOf(page, 'Relative gap');
    await eventually(
      () => inkOf(gap),
      (ink) => expect(ink).toHaveLength(1),
    );
    await page.getByRole('button', { name: /select all/ }).click();
    await page.getByText(/^Details/).click();
    await eventually(
      () => inkOf(gap),
      (ink) => expect(ink).toHaveLength(2),
    );
    expect(isDark(await brightness(page))).toBe(system === 'dark');
    expect(await poorTexts(page)).toEqual([]);
    await page.getByLabel('theme').selectOption(other);
    await eventually(
      () => brightness(page),
      (now) => expect(isDark(now)).toBe(other === 'dark'),
    );
    expect(await poorTexts(page)).toEqual([]);
    await page.getByLabel('theme').selectOption('auto');
    await eventually(
      () => brightness(page),
      (now) => expect(isDark(now)).toBe(system === 'dark'),
    );
  });
});

const hasFocus = (found: Locator): Promise<boolean> =>
  found.evaluate((element) => element === element.ownerDocument.activeElement);

/** Presses Tab until what has the focus is expected, and checks on the way that it can be seen. */
async function tabTo(page: Page, expected: Locator): Promise<void> {
  const most = 150;
  for (let presses = 0; presses < most; presses++) {
    await page.keyboard.press('Tab');
    const focused = page.locator('*:focus');
    if ((await focused.count()) === 0) continue;
    const unseen = await focused.evaluate((element) => {
      const style = element.ownerDocument.defaultView.getComputedStyle(element);
      const { width, height } = element.getBoundingClientRect();
      const marked = style.outlineStyle !== 'none' && Number.parseFloat(style.outlineWidth) > 0;
      return marked && width > 0 && height > 0 ? '' : String(element.outerHTML).slice(0, 200);
    });
    expect(unseen, 'has the focus, and nothing shows it').toBe('');
    if (await hasFocus(expected)) return;
  }
  expect.fail(`${most} presses of Tab do not reach ${String(expected)}`);
}

describe('by keyboard alone', () => {
  test('runs are chosen, the axis is switched, a chart is read', async ({ visit, site }) => {
    const page = await visit(site!.address);
    await eventually(
      () => listOf(page).count(),
      (count) => expect(count).toBe(2),
    );
    const gap = chartOf(page, 'Relative gap');
    // One run can be reached by Tab, the others from there.
    const [first, second] = await listOf(page).getByRole('button').all();
    await tabTo(page, listOf(page).getByRole('checkbox', { checked: true }));
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowDown');
    await eventually(
      () => hasFocus(second),
      (now) => expect(now).toBe(true),
    );
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowUp');
    await eventually(
      () => hasFocus(first),
      (now) => expect(now).toBe(true),
    );
    await page.keyboard.press('Enter');
    await eventually(
      () => valuesOf(gap),
      (values) => expect(values).toHaveLength(1),
    );
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    await eventually(
      () => valuesOf(gap),
      (values) => expect(values).toHaveLength(2),
    );
    const epochs = page.getByRole('button', { name: 'epochs', exact: true });
    await tabTo(page, epochs);
    await page.keyboard.press('Enter');
    await eventually(
      () => epochs.getAttribute('aria-pressed'),
      (now) => expect(now).toBe('true'),
    );
    await tabTo(page, gap.getByRole('group', { name: /^chart of/ }));
    const all = page.getByRole('button', { name: 'all', exact: true });
    await page.keyboard.press('+');
    await eventually(
      () => all.isEnabled(),
      (now) => expect(now).toBe(true),
    );
    await page.keyboard.press('0');
    await eventually(
      () => all.isEnabled(),
      (now) => expect(now).toBe(false),
    );
    await page.keyboard.press('Shift+ArrowLeft');
    await eventually(
      () => textOf(gap.getByRole('status')),
      (text) => {
        expect(text).toMatch(/epoch/);
      },
    );
    await page.keyboard.press('?');
    await eventually(
      () => page.getByRole('dialog').count(),
      (count) => expect(count).toBe(1),
    );
    await page.keyboard.press('Escape');
    await eventually(
      () => page.getByRole('dialog').count(),
      (count) => expect(count).toBe(0),
    );
    await page.keyboard.press('/');
    await eventually(
      () => hasFocus(page.getByRole('searchbox')),
      (now) => expect(now).toBe(true),
    );
  });

  test('a run is stopped', async ({ visit }) => {
    const folder = temporaryFolder();
    const running = await startTraining(folder, '--ui', '--no-open');
    const page = await visit(await running.address);
    await eventually(
      () => tileOf(page, 'epoch'),
      (epoch) => expect(epoch).toBeGreaterThan(2),
    );
    const says = (expected: RegExp): Promise<void> =>
      eventually(
        () => textOf(focusOf(page).getByRole('button')),
        (text) => expect(text).toMatch(expected),
      );
    await tabTo(page, focusOf(page).getByRole('button', { name: 'stop', exact: true }));
    // Whoever leaves the button, or presses Escape, has not asked for anything.
    for (const away of ['Tab', 'Escape']) {
      await page.keyboard.press('Enter');
      await says(/again/);
      await page.keyboard.press(away);
      await says(/^stop$/);
      if (away === 'Tab') await page.keyboard.press('Shift+Tab');
    }
    await page.keyboard.press('Enter');
    await says(/again/);
    await page.keyboard.press('Space');
    expect((await running.finished).code).toBe(130);
    const { certificate } = await readModel(join(folder, 'partial.model'));
    expect(certificate.stopped).toBe('interrupted');
  });
});

describe('on a phone', () => {
  const phone = {
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
  };

  /** What would have to be scrolled sideways. */
  const scrollable = (page: Page): Promise<string[]> =>
    page
      .locator('html, body, header, nav, main')
      .evaluateAll((parts) =>
        parts
          .filter((part) => part.scrollWidth > Math.min(part.clientWidth, 390))
          .map((part) => `${part.tagName}: ${part.scrollWidth} in ${part.clientWidth}`),
      );

  /** Tiles whose text does not fit into them. */
  const overflowing = (page: Page): Promise<string[]> =>
    focusOf(page)
      .getByRole('definition')
      .evaluateAll((tiles) =>
        tiles
          .filter((tile) => tile.scrollWidth > tile.clientWidth + 1)
          .map((tile) => String(tile.textContent)),
      );

  test('nothing has to be scrolled sideways and the charts are there', async ({ visit, site }) => {
    const page = await visit(site!.address, phone);
    const gap = chartOf(page, 'Relative gap');
    await gap.scrollIntoViewIfNeeded();
    await eventually(
      () => inkOf(gap),
      (ink) => expect(ink).toHaveLength(1),
    );
    const { width } = (await gap.locator('canvas').boundingBox())!;
    expect(width).toBeGreaterThan(300);
    await page.getByRole('button', { name: /2 runs/ }).tap();
    await page.getByRole('checkbox', { checked: false }).tap();
    await gap.scrollIntoViewIfNeeded();
    await eventually(
      () => inkOf(gap),
      (ink) => expect(ink).toHaveLength(2),
    );
    await page.getByText(/^Details/).tap();
    expect(await scrollable(page)).toEqual([]);
    expect(await overflowing(page)).toEqual([]);
  });

  test('names without an end are broken, and one epoch with a gap of 0 has something to show', async ({
    visit,
  }) => {
    const folder = temporaryFolder();
    writeRecord(join(folder, '.dso/runs'), firstId, [
      startLine(firstId, { name: 'W'.repeat(99), data: `${'long-'.repeat(20)}.svm` }),
      beginLine(),
      epochLine(1, { dual: 1, relativeGap: 0 }),
    ]);
    const page = await visit(await startForTest(folder, ['ui', '--no-open']).address, phone);
    await eventually(
      () => tileOf(page, 'epoch'),
      (epoch) => expect(epoch).toBe(1),
    );
    const outside = await focusOf(page).evaluate((card) => {
      const { right } = card.getBoundingClientRect();
      return [...card.querySelectorAll('strong, span')]
        .filter((part) => part.getBoundingClientRect().right > right)
        .map((part) => String(part.textContent));
    });
    expect(outside).toEqual([]);
    expect(await scrollable(page)).toEqual([]);
    const [objective, gap] = ['Objective and bound', 'Relative gap'].map((title) =>
      chartOf(page, title),
    );
    await objective.scrollIntoViewIfNeeded();
    await eventually(
      () => inkOf(objective),
      (ink) => expect(ink).toHaveLength(1),
    );
    await eventually(
      () => textOf(gap),
      (text) => expect(text).toContain('nothing above 0'),
    );
    await gap.getByRole('button', { name: /^log/ }).tap();
    await eventually(
      () => textOf(gap),
      (text) => expect(text).not.toContain('nothing above 0'),
    );
  });

  test('a running run with large numbers fits, and can be stopped by hand', async ({ visit }) => {
    const folder = temporaryFolder();
    const running = await startTraining(folder, '--ui', '--no-open');
    const page = await visit(await running.address, phone);
    await eventually(
      () => tileOf(page, 'epoch'),
      (epoch) => expect(epoch).toBeGreaterThan(2),
    );
    expect(await scrollable(page)).toEqual([]);
    expect(await overflowing(page)).toEqual([]);
    await focusOf(page).getByRole('button', { name: 'stop', exact: true }).tap();
    await focusOf(page).getByRole('button', { name: /again/ }).tap();
    expect((await running.finished).code).toBe(130);
  });
});
