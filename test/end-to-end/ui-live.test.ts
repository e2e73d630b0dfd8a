/** Running runs on the page: they appear, move, and can be stopped. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import { describe, expect } from 'vitest';
import { readModel } from '../../src/model/file.ts';
import { listRuns } from '../../src/reporting/records/store.ts';
import {
  chartOf,
  endlessTraining,
  eventually,
  focusOf,
  gridWords,
  inkOf,
  listOf,
  pictureOf,
  pressStop,
  startForTest,
  startTraining,
  test,
  textOf,
  tileOf,
  valuesOf,
} from '../support/browser.ts';
import { temporaryFolder } from '../support/temporary.ts';

async function expectInterrupted(folder: string): Promise<void> {
  const { certificate, weights } = await readModel(join(folder, 'partial.model'));
  expect(certificate.stopped).toBe('interrupted');
  expect(weights.some((weight) => weight !== 0)).toBe(true);
}

describe('dso train --ui', () => {
  test('the run is listed, its numbers, curves and blocks move', async ({ visit }) => {
    const folder = temporaryFolder();
    const more = ['--holdout', '0.2', '--threads', '2'];
    const { address } = await startTraining(folder, ...more, '--ui', '--no-open');
    const page = await visit(await address);
    await eventually(
      () => listOf(page).allInnerTexts(),
      (rows) => {
        expect(rows).toHaveLength(1);
        expect(rows[0]).toMatch(/train\.svm[\s\S]*running/);
      },
    );
    await eventually(
      () => tileOf(page, 'epoch'),
      (epoch) => expect(epoch).toBeGreaterThan(2),
    );
    await eventually(
      () => textOf(focusOf(page)),
      (text) => expect(text).toMatch(/running: gap/i),
    );
    for (const title of ['Objective and bound', 'Relative gap', 'Test error']) {
      const chart = chartOf(page, title);
      await eventually(
        () => inkOf(chart),
        (ink) => expect(ink).not.toEqual([]),
      );
    }
    const everywhere = /Now block 0 is with worker \d, .*block 3 is with worker \d\./;
    await eventually(
      () => gridWords(page),
      (text) => expect(text).toMatch(everywhere),
    );
    // All at once, so that one redraw brings what is waited for.
    const gap = chartOf(page, 'Relative gap');
    const [epoch, values, picture, positions] = [
      await tileOf(page, 'epoch'),
      await valuesOf(gap),
      await pictureOf(gap),
      await gridWords(page),
    ];
    await eventually(
      () => tileOf(page, 'epoch'),
      (now) => expect(now).toBeGreaterThan(epoch),
    );
    await eventually(
      () => valuesOf(gap),
      (now) => expect(now).not.toEqual(values),
    );
    await eventually(
      () => pictureOf(gap),
      (now) => expect(now === picture).toBe(false),
    );
    await eventually(
      () => gridWords(page),
      (now) => {
        expect(now).toMatch(everywhere);
        expect(now).not.toBe(positions);
      },
    );
  });

  test('the stop button ends it as Ctrl-C does', async ({ visit }) => {
    const folder = temporaryFolder();
    const running = await startTraining(folder, '--ui', '--no-open');
    const page = await visit(await running.address);
    await eventually(
      () => tileOf(page, 'epoch'),
      (epoch) => expect(epoch).toBeGreaterThan(2),
    );
    expect(existsSync(join(folder, 'partial.model'))).toBe(false);
    await pressStop(page);
    const run = await running.finished;
    expect(run.code, run.stderr).toBe(130);
    expect(run.stderr).toContain('interrupted after');
    await expectInterrupted(folder);
    await eventually(
      () => textOf(focusOf(page)),
      (text) => {
        expect(text).toMatch(/stopped on request; model in/i);
        expect(text).toContain('partial.model');
      },
    );
    expect(await focusOf(page).getByRole('button', { name: /stop/ }).count()).toBe(0);
    await eventually(
      () => textOf(listOf(page)),
      (text) => expect(text).toMatch(/stopped/),
    );
    // The page still shows what it has when its server is gone.
    await eventually(
      () => textOf(page.locator('body')),
      (text) => {
        expect(text).toContain('no longer connected');
      },
    );
    const { epochs } = (await readModel(join(folder, 'partial.model'))).certificate;
    expect(await tileOf(page, 'epoch')).toBe(epochs);
    expect(listRuns(join(folder, '.dso/runs'))).toMatchObject([
      { status: 'done', result: { stopped: 'interrupted', code: 130 } },
    ]);
  });

  test('--no-record: what is in memory can be watched and stopped as well', async ({ visit }) => {
    const folder = temporaryFolder();
    const running = await startTraining(folder, '--ui', '--no-open', '--no-record');
    const page = await visit(await running.address);
    await eventually(
      () => tileOf(page, 'epoch'),
      (epoch) => expect(epoch).toBeGreaterThan(2),
    );
    await page.reload();
    await eventually(
      () => tileOf(page, 'epoch'),
      (epoch) => expect(epoch).toBeGreaterThan(2),
    );
    await pressStop(page);
    expect((await running.finished).code).toBe(130);
    await expectInterrupted(folder);
    expect(existsSync(join(folder, '.dso'))).toBe(false);
  });
});

describe('dso ui', () => {
  test('a run of another process appears, moves and is stopped', async ({ visit }) => {
    const folder = temporaryFolder();
    const page = await visit(await startForTest(folder, ['ui', '--no-open']).address);
    await eventually(
      () => textOf(page.getByRole('main')),
      (text) => expect(text).toContain('No runs yet'),
    );
    const running = startForTest(folder, endlessTraining(folder));
    await eventually(
      () => listOf(page).allInnerTexts(),
      (rows) => {
        expect(rows).toHaveLength(1);
        expect(rows[0]).toMatch(/train\.svm[\s\S]*running/);
      },
    );
    const gap = chartOf(page, 'Relative gap');
    await eventually(
      () => inkOf(gap),
      (ink) => expect(ink).toHaveLength(1),
    );
    await eventually(
      () => tileOf(page, 'epoch'),
      (epoch) => expect(epoch).toBeGreaterThan(0),
    );
    const [epoch, picture] = [await tileOf(page, 'epoch'), await pictureOf(gap)];
    await eventually(
      () => tileOf(page, 'epoch'),
      (now) => expect(now).toBeGreaterThan(epoch),
    );
    await eventually(
      () => pictureOf(gap),
      (now) => expect(now === picture).toBe(false),
    );

    await pressStop(page);
    const run = await running.finished;
    expect(run.code, run.stderr).toBe(130);
    await expectInterrupted(folder);
    await eventually(
      () => textOf(focusOf(page)),
      (text) => {
        expect(text).toMatch(/stopped on request; model in/i);
      },
    );
  });

  test('a run whose process is gone without a word is shown as lost', async ({ visit }) => {
    const folder = temporaryFolder();
    const running = await startTraining(folder);
    const page = await visit(await startForTest(folder, ['ui', '--no-open']).address);
    await eventually(
      () => tileOf(page, 'epoch'),
      (epoch) => expect(epoch).toBeGreaterThan(2),
    );
    await running.end();
    await eventually(
      () => textOf(focusOf(page)),
      (text) => expect(text).toMatch(/lost/i),
    );
    await eventually(
      () => textOf(listOf(page)),
      (text) => expect(text).toMatch(/lost/),
    );
    expect(await focusOf(page).getByRole('button', { name: /stop/ }).count()).toBe(0);
  });

  test('a run that ends while the page is still loading is not missed', async ({ visit }) => {
    const folder = temporaryFolder();
    const running = await startTraining(folder);
    const page = await visit(await startForTest(folder, ['ui', '--no-open']).address);
    await eventually(
      () => tileOf(page, 'epoch'),
      (epoch) => expect(epoch).toBeGreaterThan(2),
    );
    // The stream of events comes late: what happened meanwhile has to be found out.
    const late = async (route: Route): Promise<void> => {
      running.process.kill('SIGINT');
      await running.finished;
      await route.continue();
    };
    await page.route('**/api/events', late, { times: 1 });
    await page.reload();
    await eventually(
      () => textOf(focusOf(page)),
      (text) => expect(text).toMatch(/stopped on request/i),
    );
  });
});

test('a page whose server ends, or is killed, says so and keeps what it has', async ({ visit }) => {
  const folder = temporaryFolder();
  await startTraining(folder);
  const [server, other] = [1, 2].map(() => startForTest(folder, ['ui', '--no-open']));
  const page = await visit(await server.address);
  // What a browser says of connections that break is many things.
  const orphan = await visit(await other.address, { forgiven: /net::ERR_/ });
  const [gap, otherGap] = [page, orphan].map((shown) => chartOf(shown, 'Relative gap'));
  for (const chart of [gap, otherGap]) {
    await eventually(
      () => inkOf(chart),
      (ink) => expect(ink).toHaveLength(1),
    );
  }
  await other.end();
  server.process.kill('SIGINT');
  expect((await server.finished).code).toBe(0);
  const saysDisconnected = (shown: Page): Promise<void> =>
    eventually(
      () => textOf(shown.locator('body')),
      (text) => expect(text).toContain('no longer connected'),
    );
  await saysDisconnected(page);
  const picture = await pictureOf(gap);
  await page.getByRole('button', { name: 'epochs', exact: true }).click();
  await eventually(
    () => pictureOf(gap),
    (now) => expect(now === picture).toBe(false),
  );
  await eventually(
    () => inkOf(gap),
    (ink) => expect(ink).toHaveLength(1),
  );
  expect(await valuesOf(gap)).toEqual([expect.stringMatching(/^dso \d/)]);
  // What is no longer possible is not offered.
  expect(await focusOf(page).getByRole('button', { name: /stop/ }).count()).toBe(0);
  // It has tried to reach its server again meanwhile.
  await saysDisconnected(orphan);
  expect(await valuesOf(otherGap)).toEqual([expect.stringMatching(/^dso \d/)]);
});
