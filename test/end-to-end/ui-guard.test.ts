/** Who is not let in, and what the page itself may not do. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { listRuns } from '../../src/reporting/records/store.ts';
import {
  chartOf,
  endlessTraining,
  eventually,
  inkOf,
  startForTest,
  startTraining,
  testOfSite as test,
  textOf,
} from '../support/browser.ts';
import { ask } from '../support/http.ts';
import { temporaryFolder } from '../support/temporary.ts';

const refused = /status of 403/;

/** The same address with another last digit of its token. */
function wrongToken(address: string): string {
  return address.replace(/.\/$/, (end) => (end === '0/' ? '1/' : '0/'));
}

describe('who does not know the token', () => {
  test('gets neither the page nor anything of a run', async ({ visit, site }) => {
    const { origin } = new URL(site!.address);
    for (const address of [wrongToken(site!.address), `${origin}/`, `${origin}/index.html`]) {
      const page = await visit(address, { forgiven: refused });
      expect(await page.title()).toContain('Not allowed');
      const text = await textOf(page.locator('html'));
      expect(text).toContain('token');
      for (const { id } of site!.runs) expect(text).not.toContain(id);
      expect(await page.locator('script').count()).toBe(0);
    }
    const wrong = wrongToken(site!.address);
    const [{ id }] = site!.runs;
    for (const path of ['api/runs', `api/runs/${id}`, 'api/events', `api/figure?runs=${id}`]) {
      const answer = await ask(wrong + path);
      expect(answer.status, path).toBe(403);
      expect(answer.text).not.toContain('train.svm');
    }
  });

  test('cannot stop a run', async ({ visit }) => {
    const folder = temporaryFolder();
    const address = await startForTest(folder, endlessTraining(folder, '--ui', '--no-open'))
      .address;
    const page = await visit(address);
    const list = (): Promise<{ runs: { id: string; status: string }[] }> =>
      page.evaluate(`fetch('api/runs').then((answer) => answer.json())`);
    const [{ id }] = (await list()).runs;
    const { origin } = new URL(address);
    const post = { method: 'POST', headers: { Origin: origin } };
    expect((await ask(`${wrongToken(address)}api/runs/${id}/stop`, post)).status).toBe(403);
    expect((await ask(`${origin}/api/runs/${id}/stop`, post)).status).toBe(403);
    expect((await ask(`${address}api/runs/${id}/stop`, { method: 'POST' })).status).toBe(403);
    expect((await ask(`${address}api/runs/${id}/stop`)).status).toBe(405);
    expect((await list()).runs).toMatchObject([{ id, status: 'running' }]);
  });
});

describe('who knows the token but comes from elsewhere', () => {
  test('a name of somebody else that points here is refused', async ({ visit, site }) => {
    const { port, pathname } = new URL(site!.address);
    const forgiven = /status of 403|request to elsewhere\.example|Cross-Origin-Opener-Policy/;
    const page = await visit(`http://elsewhere.example:${port}${pathname}`, { forgiven });
    expect(await textOf(page.locator('html'))).toMatch(/does not name this server/);
    const headers = { Host: `elsewhere.example:${port}` };
    expect((await ask(`${site!.address}api/runs`, { headers })).status).toBe(403);
  });

  test('a page of another site can neither read, stop nor frame', async ({ visit }) => {
    const folder = temporaryFolder();
    const running = await startTraining(folder);
    const address = await startForTest(folder, ['ui', '--no-open']).address;
    const [{ id }] = listRuns(join(folder, '.dso/runs'));
    const page = await visit(await otherSite(), {
      forgiven: /CORS|403|Failed to (load|fetch)|ERR_(FAILED|BLOCKED)|frame|policy/,
    });
    const statuses: number[] = [];
    page.on('response', (answer) => {
      if (answer.url().startsWith(address)) statuses.push(answer.status());
    });
    const outcome = await page.evaluate(
      `(async () => {
        const attempt = (path, options) => fetch('${address}' + path, options)
          .then((answer) => answer.type === 'opaque' ? 'opaque' : answer.text(), () => 'refused');
        return [
          await attempt('api/runs'),
          await attempt('api/runs', { mode: 'no-cors' }),
          await attempt('api/runs/${id}/stop', { method: 'POST' }),
          await attempt('api/runs/${id}/stop', { method: 'POST', mode: 'no-cors' }),
        ];
      })()`,
    );
    expect(outcome).toEqual([
      'refused',
      expect.stringMatching(/opaque|refused/),
      'refused',
      expect.stringMatching(/opaque|refused/),
    ]);
    await page.evaluate(
      `new Promise((done) => {
        const frame = document.createElement('iframe');
        frame.addEventListener('load', done);
        frame.src = '${address}';
        document.body.append(frame);
      })`,
    );
    const inside = page.frames().map((frame) => frame.getByRole('navigation').count());
    expect((await Promise.all(inside)).every((count) => count === 0)).toBe(true);
    await eventually(
      () => [...new Set(statuses)],
      (found) => expect(found).toEqual([403]),
    );
    expect(listRuns(join(folder, '.dso/runs'))).toMatchObject([{ id, status: 'running' }]);
    expect(running.process.exitCode).toBe(null);
  });

  /** An empty page of another origin, on the same machine. */
  async function otherSite(): Promise<string> {
    const server = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end('<!doctype html><link rel="icon" href="data:,"><title>other</title>');
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }
});

describe('the page', () => {
  test('runs nothing that is written into it and sends no requests to others', async ({
    visit,
    site,
  }) => {
    const { headers } = await ask(site!.address);
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(/default-src 'none'/);
    expect(policy).toMatch(/script-src 'self'(;|$)/);
    expect(policy).toMatch(/connect-src 'self'(;|$)/);
    expect(policy).toMatch(/frame-ancestors 'none'/);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const violations: string[] = [];
    const page = await visit(site!.address, { forgiven: /policy|Content Security Policy/ });
    page.on('console', (message) => void violations.push(message.text()));
    await eventually(
      () => inkOf(chartOf(page, 'Relative gap')),
      (ink) => expect(ink).toHaveLength(1),
    );
    expect(violations).toEqual([]);
    await page.evaluate(
      `{
        const script = document.createElement('script');
        script.textContent = 'window.wasRun = true';
        document.body.append(script);
        fetch('http://127.0.0.1:9/').catch(() => {});
      }`,
    );
    await eventually(
      () => violations.filter((text) => text.startsWith('policy: ')),
      (found) => {
        expect(found.join('\n')).toMatch(/script-src/);
        expect(found.join('\n')).toMatch(/connect-src/);
      },
    );
    expect(await page.evaluate('window.wasRun')).toBe(undefined);
  });

  test('has neither the token nor secrets of the machine in what it shows', async ({
    visit,
    site,
  }) => {
    const page = await visit(site!.address);
    await eventually(
      () => inkOf(chartOf(page, 'Relative gap')),
      (ink) => expect(ink).toHaveLength(1),
    );
    const token = new URL(site!.address).pathname.replaceAll('/', '');
    expect(await page.content()).not.toContain(token);
    expect(await page.evaluate('document.cookie + JSON.stringify(localStorage)')).toBe('{}');
  });
});
