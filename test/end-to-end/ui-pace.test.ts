/** How often a page draws again, on a clock that the test moves. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { eventually, startForTest, test, tileOf } from '../support/browser.ts';
import { temporaryFolder } from '../support/temporary.ts';
import {
  appendLines,
  beginLine,
  epochLine,
  firstId,
  startLine,
  writeRecord,
} from '../unit/apps/dashboard/records.ts';

/** Milliseconds of the page's clock from one look at the page to the next. */
const step = 500;

/**
 * Drawing costs some milliseconds on this page, whatever the machine: every look at the clock takes
 * one more. The lines that have come to it are counted.
 */
const slowPage = `{
  Object.defineProperty(navigator, 'hardwareConcurrency', { value: 2 });
  const now = performance.now.bind(performance);
  let spent = 0;
  performance.now = () => now() + (spent += 5);
  window.heard = 0;
  window.EventSource = class extends EventSource {
    constructor(...words) {
      super(...words);
      this.addEventListener('lines', (event) => {
        window.heard += JSON.parse(event.data).lines.length;
      });
    }
  };
}`;

async function onOwnClock(page: Page): Promise<void> {
  await page.clock.install({ time: 0 });
  await page.addInitScript(slowPage);
}

test('while all cores train and no user is active it draws seldom, and at once when one is', async ({
  visit,
}) => {
  const folder = temporaryFolder();
  const runs = join(folder, '.dso/runs');
  const begin = beginLine({ threads: 2 });
  writeRecord(runs, firstId, [startLine(firstId), begin, epochLine(1)]);
  const { address } = startForTest(folder, ['ui', '--no-open']);
  const page = await visit(await address, { prepare: onOwnClock });
  const epoch = (): Promise<number> => tileOf(page, 'epoch');
  await eventually(epoch, (now) => expect(now).toBe(1));

  let epochs = 1;
  /** One more epoch, which the page has heard of, but not necessarily drawn. */
  const addEpoch = async (): Promise<void> => {
    appendLines(runs, firstId, [epochLine(++epochs)]);
    await eventually(
      () => page.evaluate<number>('window.heard'),
      (heard) => expect(heard).toBe(epochs - 1),
    );
  };
  /** Milliseconds of the page until it has drawn what it has heard of. */
  const untilDrawn = async (): Promise<number> => {
    let passed = 0;
    for (; (await epoch()) < epochs; passed += step) await page.clock.runFor(step);
    return passed;
  };
  const interval = async (): Promise<number> => {
    await addEpoch();
    return untilDrawn();
  };

  // From now on time stops unless the test moves it, and whoever opened the page is gone.
  await page.clock.pauseAt(3_600_000);
  await interval();
  // The page has to draw a few times before it knows what that costs.
  await eventually(interval, (passed) => expect(passed).toBeGreaterThan(4000));
  await addEpoch();
  await page.clock.runFor(6 * step);
  expect(await epoch()).toBe(epochs - 1);
  await page.mouse.move(200, 200);
  await page.clock.runFor(1);
  await eventually(epoch, (now) => expect(now).toBe(epochs));
  // And for an active user it continues at the usual rate.
  expect(await interval()).toBeLessThan(3000);
});
