import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { get } from 'node:http';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Browser, Locator, Page } from 'playwright-core';
import type { Measure, PartReport } from './measure.ts';
import { median } from './rounds.ts';
import { figure, table } from './table.ts';
import { browserPath, noBrowser, openBrowser } from './ui/browser.ts';
import { epochCount, runCount, writeRuns } from './ui/many-runs.ts';
import {
  type Observer,
  type SlowDown,
  type Spread,
  slowDown,
  startTraining,
} from './ui/slow-down.ts';
import { Window } from './ui/window.ts';

const program = fileURLToPath(new URL('../bin/dso.js', import.meta.url));
const openings = 5;

/** What ui/in-page.js puts into the page. */
interface InPage {
  readonly bench: {
    readonly frames: number[];
    drawn(runs: number): number | undefined;
    watch(): void;
  };
}

/** The cost of the dashboard for a training process, and its speed with many runs. */
export async function benchUi(): Promise<PartReport> {
  const skipped = browserPath === undefined ? [noBrowser] : [];
  const slowDowns = await measureSlowDowns();
  printSlowDowns(slowDowns);
  const page = browserPath === undefined ? undefined : await measurePage();
  if (page) {
    console.log(
      table(
        [`${runCount} runs of ${epochCount} epochs`, 'milliseconds'],
        Object.entries(page).map(([name, value]) => [name, figure(value)]),
      ),
    );
  }
  const measures: Measure[] = slowDowns.map(({ name, cost }) => ({
    name: `ui: processor time of an epoch ${name}, against no observer`,
    value: cost.processor.middle,
    unit: '×',
    decimals: 4,
    target: { kind: 'at most', limit: 1.01 },
  }));
  for (const { name, cost } of slowDowns) {
    const browser = Number.isNaN(cost.observer.middle) ? 0 : cost.observer.middle;
    measures.push({
      name: `ui: what serving and the browser take of all cores ${name}`,
      value: (cost.server.middle + browser) / 10 / availableParallelism(),
      unit: ' %',
      decimals: 2,
      target: { kind: 'at most', limit: 1 },
    });
  }
  if (page) {
    const most = (name: keyof typeof page, limit: number): Measure => ({
      name: `ui, ${runCount} runs: ${name}`,
      value: page[name],
      unit: ' ms',
      target: { kind: 'at most', limit },
    });
    measures.push(most('until the page shows a run', 1000), most('until it shows all', 1000));
    measures.push(most('a frame while moving along', 17), most('a frame while pointing', 17));
  }
  return { measures, details: { slowDowns, page }, skipped };
}

interface Named {
  readonly name: string;
  readonly cost: SlowDown;
}

function printSlowDowns(slowDowns: readonly Named[]): void {
  const spread = ({ middle, least, most }: Spread, decimals: number): string =>
    Number.isNaN(middle)
      ? ''
      : `${middle.toFixed(decimals)} (${least.toFixed(decimals)}–${most.toFixed(decimals)})`;
  const ratios = ['times the processor', 'times the clock'];
  const columns = [...ratios, 'server, ms/s', 'browser, ms/s', 'opening, ms'];
  console.log(
    table(
      ['an epoch takes', ...columns],
      slowDowns.map(({ name, cost }) => [
        name,
        spread(cost.processor, 4),
        spread(cost.clock, 4),
        spread(cost.server, 1),
        spread(cost.observer, 1),
        spread(cost.opening, 0),
      ]),
    ),
  );
}

async function measureSlowDowns(): Promise<Named[]> {
  const found: Named[] = [];
  const cores = availableParallelism();
  for (const threads of new Set([Math.max(1, cores - 1), cores])) {
    const training = await startTraining(threads);
    const on = `on ${threads} of ${cores} cores`;
    try {
      const read = await slowDown(training, readerOf(training.url));
      found.push({ name: `with its events read, ${on}`, cost: read });
      if (browserPath === undefined) continue;
      const window = await Window.open();
      try {
        const cost = await slowDown(training, viewerOf(window, training.url));
        found.push({ name: `with the page open, ${on}`, cost });
      } finally {
        await window.close();
      }
    } finally {
      training.stop();
    }
  }
  return found;
}

/** Takes the events and does nothing with them: what the server has to do, without a browser. */
function readerOf(url: string): Observer {
  let request: ReturnType<typeof get> | undefined;
  return {
    settling: 500,
    watching: 4000,
    processorTime: () => Number.NaN,
    async start() {
      request = get(`${url}api/events`, (response) => void response.resume());
      request.on('error', () => {});
    },
    async stop() {
      request?.destroy();
    },
  };
}

/** A page that was opened a while ago and is not touched. */
function viewerOf(window: Window, url: string): Observer {
  return {
    // Ten seconds after it was opened or touched the page assumes that it is not looked at.
    settling: 9000,
    watching: 10_000,
    processorTime: () => window.processorTime(),
    start: () => window.show(url),
    stop: () => window.leave(),
  };
}

async function withPage<Result>(work: (page: Page) => Promise<Result>): Promise<Result> {
  const browser: Browser = await openBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.addInitScript({ path: fileURLToPath(new URL('ui/in-page.js', import.meta.url)) });
    return await work(page);
  } finally {
    await browser.close();
  }
}

async function measurePage() {
  const { folder, ids } = writeRuns();
  const child = spawn(process.execPath, [program, 'ui', folder, '--no-open'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const url = await addressOf(child);
    return await withPage(async (page) => {
      const one: number[] = [];
      const all: number[] = [];
      for (let k = 0; k < openings; k++) {
        one.push(await openingTime(page, url, 1));
        all.push(await openingTime(page, `${url}#runs=${ids.join(',')}`, runCount));
      }
      const moving = await frameTimes(page, (step) =>
        page.keyboard.press(step % 20 < 10 ? 'ArrowRight' : 'ArrowLeft'),
      );
      const pointing = await framesWhilePointing(page);
      return {
        'until the page shows a run': median(one),
        'until it shows all': median(all),
        'a frame while moving along': moving[0],
        '95 in 100 of these': moving[1],
        'a frame while pointing': pointing[0],
        '95 in 100 of those': pointing[1],
      };
    });
  } finally {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  }
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.stdout!.on('data', (chunk: Buffer) => {
      const found = /http:\/\/\S+\//.exec(chunk.toString());
      if (found) resolve(found[0]);
    });
  });
}

/** Milliseconds from requesting the page until the curves of N runs have been drawn. */
async function openingTime(page: Page, url: string, runs: number): Promise<number> {
  await page.goto('about:blank');
  await page.goto(url);
  const drawn = await page.waitForFunction(
    (count) => (globalThis as unknown as InPage).bench.drawn(count),
    runs,
  );
  return drawn.jsonValue() as Promise<number>;
}

function secondChart(page: Page): Locator {
  return page.getByRole('group', { name: /chart of/ }).nth(1);
}

async function framesWhilePointing(page: Page): Promise<[number, number]> {
  const { x, y, width } = (await secondChart(page).boundingBox())!;
  return frameTimes(page, (step) =>
    page.mouse.move(x + 60 + ((step * 7) % (width - 80)), y + 60 + (step % 50)),
  );
}

/** Milliseconds from frame to frame during an action: median and 95th percentile. */
async function frameTimes(
  page: Page,
  act: (step: number) => Promise<void>,
): Promise<[number, number]> {
  await secondChart(page).focus();
  await page.evaluate(() => (globalThis as unknown as InPage).bench.watch());
  for (let step = 0; step < 150; step++) await act(step);
  const frames = await page.evaluate(() => (globalThis as unknown as InPage).bench.frames);
  const sorted = frames.slice(1).sort((left, right) => left - right);
  return [0.5, 0.95].map((part) => sorted[Math.floor(part * sorted.length)]) as [number, number];
}
