/** The dashboard's page in a real browser, and the processes that it shows. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { test as base, expect, onTestFinished } from 'vitest';
import { styleOf } from '../../src/reporting/charts/series-style.ts';
import { listRuns } from '../../src/reporting/records/store.ts';
import { browserArguments, findBrowser } from './chromium.ts';
import { type Running, startDso } from './command-line.ts';
import { sampleText } from './sample-text.ts';
import { removeFolder } from './temporary.ts';

/** Another host name that resolves to this machine. */
const otherHost = '--host-resolver-rules=MAP elsewhere.example 127.0.0.1';

/** Milliseconds after which a wait fails; long enough for a busy machine. */
export const waitTimeout = 240_000;

export interface VisitOptions extends BrowserContextOptions {
  /** Faults that the test causes on purpose. */
  readonly forgiven?: RegExp;
  /** Called with the window before the address is opened. */
  readonly prepare?: (page: Page) => Promise<void>;
}

export type Visit = (address: string, options?: VisitOptions) => Promise<Page>;

/**
 * Tests with a browser, one for all tests of a worker. `visit` opens an address in a window of its
 * own; a test fails if any of its pages reported an error.
 */
export const test = base
  .extend('path', { scope: 'worker' }, findBrowser)
  .extend('browser', { scope: 'worker' }, async ({ path }, { onCleanup }) => {
    if (path === undefined) return undefined;
    const browser = await chromium.launch({
      executablePath: path,
      timeout: waitTimeout,
      args: [...browserArguments, otherHost],
    });
    onCleanup(() => browser.close());
    return browser;
  })
  .extend('visit', async ({ browser, skip }, { onCleanup }): Promise<Visit> => {
    if (browser === undefined) return skip('no Chromium here (DSO_CHROMIUM names one)');
    const faults: string[] = [];
    const open = new Set<Page>();
    onCleanup(async () => {
      for (const page of open) await page.context().close();
      expect(faults, 'errors that the pages reported').toEqual([]);
    });
    return async (address, { forgiven, prepare, ...options } = {}) => {
      const context = await browser.newContext({
        viewport: { width: 1280, height: 900 },
        ...options,
      });
      context.setDefaultTimeout(waitTimeout);
      await context.addInitScript(reportViolations);
      const note = (fault: string): void => {
        if (!forgiven?.test(fault)) faults.push(fault);
      };
      context.on('page', (page) => listen(page, note));
      const page = await context.newPage();
      open.add(page);
      await prepare?.(page);
      await page.goto(address);
      return page;
    };
  });

/** Violations of the security policy are written to the console, which the test reads. */
const reportViolations = `document.addEventListener('securitypolicyviolation', (event) => {
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI);
});`;

function listen(page: Page, note: (fault: string) => void): void {
  page.on('console', (message) => {
    const kind = message.type();
    if (kind === 'error' || kind === 'warning') note(`${kind}: ${message.text()}`);
  });
  page.on('pageerror', (error) => note(`uncaught: ${error.message}`));
  page.on('request', (request) => {
    const { hostname, protocol } = new URL(request.url());
    const own = hostname === '127.0.0.1' || protocol === 'blob:' || protocol === 'data:';
    if (!own) note(`request to ${hostname}`);
  });
}

export interface Started extends Running {
  /** The address of its page, once it is printed. */
  readonly address: Promise<string>;
  /** Kills the process if it is still running. */
  end(): Promise<void>;
}

/** Starts `dso …` in a folder, where it writes run records. */
export function start(folder: string, words: readonly string[]): Started {
  const running = startDso(words, { folder, environment: { DSO_NO_RECORD: '' } });
  const address = new Promise<string>((resolve, reject) => {
    // Each stream separately: a chunk of one may arrive within a line of the other.
    const texts = [running.process.stdout, running.process.stderr].map((stream) => {
      const output = { text: '' };
      stream.on('data', (chunk: Buffer) => {
        output.text += chunk.toString();
        const found = /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]+\/(?=\s)/.exec(output.text);
        if (found) resolve(found[0]);
      });
      return output;
    });
    running.process.on('close', () => {
      reject(new Error(`no address was printed:\n${texts.map(({ text }) => text).join('\n')}`));
    });
  });
  // Only a caller that awaits the address needs the error.
  address.catch(() => {});
  const end = async (): Promise<void> => {
    running.process.kill('SIGKILL');
    await running.finished;
  };
  return { ...running, address, end };
}

/** The same, ended with the test. */
export function startForTest(folder: string, words: readonly string[]): Started {
  const started = start(folder, words);
  onTestFinished(() => started.end());
  return started;
}

/** Two runs of different solvers that have ended, and `dso ui` that shows them. */
export interface Site {
  readonly folder: string;
  readonly address: string;
  readonly runs: readonly { readonly id: string; readonly solver: string }[];
}

const finishedSolvers = ['ring', 'lbfgs'];

/** The same for all tests of a worker, which change nothing there. */
export const testOfSite = test.extend(
  'site',
  { scope: 'worker' },
  async ({ browser }, { onCleanup }): Promise<Site | undefined> => {
    if (browser === undefined) return undefined;
    const folder = mkdtempSync(join(tmpdir(), 'dso-test-'));
    const data = sampleText({ rows: 400, columns: 120, perRow: 8 });
    writeFileSync(join(folder, 'train.svm'), data);
    for (const solver of finishedSolvers) {
      // On one thread: charts are over seconds, and two threads that wait for each other on a busy
      // machine would make one curve so short that its color cannot be found.
      const words = ['train', 'train.svm', '--solver', solver, '--grid', '2', '--threads', '1'];
      const more = ['--loss', 'logistic', '--holdout', '0.2', '--tolerance', '1e-9'];
      const run = await start(folder, [...words, ...more]).finished;
      expect(run.code, run.stderr).toBe(0);
    }
    const server = start(folder, ['ui', '--no-open']);
    onCleanup(async () => {
      await server.end();
      removeFolder(folder);
    });
    const runs = listRuns(join(folder, '.dso/runs')).map(({ id, begin }) => ({
      id,
      solver: String(begin?.solver),
    }));
    return { folder, address: await server.address, runs };
  },
);

/** Arguments of `dso` for a run that would take hours; writes its data. */
export function endlessTraining(folder: string, ...more: readonly string[]): readonly string[] {
  const data = join(folder, 'train.svm');
  writeFileSync(data, sampleText({ rows: 3000, columns: 2000, perRow: 10 }));
  // Its steps shrink so fast that it never gets there.
  const limits = ['--solver', 'dso', '--tolerance', '1e-15', '--epochs', '100000000'];
  const shape = ['--grid', '4', '--threads', '1'];
  return ['train', 'train.svm', '-o', 'partial.model', ...limits, ...shape, ...more];
}

/** Starts such a run and waits for its third epoch, so that its page has something to show. */
export async function startTraining(folder: string, ...more: readonly string[]): Promise<Started> {
  const started = startForTest(folder, endlessTraining(folder, ...more));
  await started.saw(/^epoch 3 /m);
  return started;
}

/** Waits until the check passes; on failure reports what it found last. */
export async function eventually<Value>(
  look: () => Promise<Value> | Value,
  check: (value: Value) => void,
): Promise<void> {
  const failure = async (): Promise<string> => {
    try {
      check(await look());
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };
  await expect.poll(failure, { timeout: waitTimeout, interval: 100 }).toBe('');
}

/** The rows of the list of runs. */
export function listOf(page: Page): Locator {
  return page.getByRole('navigation', { name: 'runs' }).getByRole('listitem');
}

/** What is said about the run in focus. */
export function focusOf(page: Page): Locator {
  return page.getByRole('region', { name: 'the run in focus' });
}

/** The text of all that a locator finds now. */
export async function textOf(found: Locator): Promise<string> {
  return (await found.allInnerTexts()).join('\n');
}

/** The number that a tile shows; NaN while there is none. */
export async function tileOf(page: Page, name: string): Promise<number> {
  const terms = focusOf(page).getByRole('term');
  const term = terms.filter({ hasText: new RegExp(`^\\s*${name}\\s*(,|$)`) });
  const text = await textOf(term.locator('xpath=following-sibling::dd[1]'));
  return Number(/^[\d,.e-]+/.exec(text)?.[0].replaceAll(',', ''));
}

export function chartOf(page: Page, title: string): Locator {
  return page.getByRole('figure').filter({ has: page.getByRole('heading', { name: title }) });
}

/** The rows of the table next to a chart: each run that is drawn with its newest values. */
export async function valuesOf(chart: Locator): Promise<string[]> {
  const rows = await chart.getByRole('table').getByRole('row').allInnerTexts();
  return rows.slice(1).map((row) => row.split(/\s*\t\s*/).join(' '));
}

/** The colours of curves, as a canvas reports them. */
const curveColors = Array.from({ length: 7 }, (_, index) => {
  const digits = styleOf('', index).color.slice(1);
  return [0, 2, 4].map((at) => Number.parseInt(digits.slice(at, at + 2), 16)).join();
});

/** The colours of the curves that a chart draws on its canvas. */
export function inkOf(chart: Locator): Promise<string[]> {
  return chart.locator('canvas').evaluate((canvas, colors) => {
    // A copy, so that the canvas itself stays where it is drawn fastest.
    const copy = canvas.ownerDocument.createElement('canvas');
    const { width, height } = Object.assign(copy, { width: canvas.width, height: canvas.height });
    const context = copy.getContext('2d', { willReadFrequently: true });
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, width, height);
    const counts = new Map(colors.map((color) => [color, 0]));
    for (let at = 0; at < data.length; at += 4) {
      const color = `${data[at]},${data[at + 1]},${data[at + 2]}`;
      const count = counts.get(color);
      if (count !== undefined && data[at + 3] === 255) counts.set(color, count + 1);
    }
    return colors.filter((color) => counts.get(color)! >= 10);
  }, curveColors);
}

/** Frames after which whatever was asked for before is drawn: a change of size takes the most. */
const fewFrames = 4;

/** The picture on a chart's canvas, with all that was asked for before. */
export async function pictureOf(chart: Locator): Promise<string> {
  await chart.evaluate(async (figure, frames) => {
    const { defaultView: view } = figure.ownerDocument;
    for (let frame = 0; frame < frames; frame++) {
      await new Promise((resolve) => view.requestAnimationFrame(resolve));
    }
  }, fewFrames);
  return chart.locator('canvas').evaluate((canvas) => canvas.toDataURL());
}

/** Where a chart's canvas is, once it is in sight and nothing moves it any more. */
export async function settledBox(chart: Locator) {
  const canvas = chart.locator('canvas');
  await canvas.scrollIntoViewIfNeeded();
  let last = await canvas.boundingBox();
  await eventually(
    async () => {
      await pictureOf(chart);
      return canvas.boundingBox();
    },
    (now) => {
      const before = last;
      last = now;
      expect(now).toEqual(before);
      expect(now).not.toBe(null);
    },
  );
  return last!;
}

/** The description of the grid for screen readers. */
export async function gridWords(page: Page): Promise<string> {
  const grid = page.getByRole('application', { name: /grid of workers/i });
  return grid.evaluate((figure) => {
    const words = figure.ownerDocument.getElementById(figure.getAttribute('aria-describedby'));
    return String(words?.textContent);
  });
}

/** Presses the button that ends the run in focus, and once more to confirm it. */
export async function pressStop(page: Page): Promise<void> {
  await focusOf(page).getByRole('button', { name: 'stop', exact: true }).click();
  await focusOf(page).getByRole('button', { name: /again/ }).click();
}

/** Ticks both runs of a site and waits until they are drawn. */
export async function showAll(page: Page): Promise<void> {
  await page.getByRole('button', { name: /select all/ }).click();
  await eventually(
    () => inkOf(chartOf(page, 'Relative gap')),
    (ink) => {
      expect(ink).toHaveLength(2);
    },
  );
}
