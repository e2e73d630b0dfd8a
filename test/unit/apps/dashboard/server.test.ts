import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { newToken } from '../../../../src/apps/dashboard/server.ts';
import { type Answer, ask, converse } from '../../../support/http.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { firstId, startLine, writeRecord } from './records.ts';
import { type Serving, serving } from './serving.ts';

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function expectSafe({ headers }: Answer): void {
  expect(headers).toMatchObject({
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  });
  const names = Object.keys(headers);
  expect(names.filter((name) => name.startsWith('access-control-'))).toEqual([]);
  expect(names).not.toContain('set-cookie');
}

function expectForbidden(answer: Answer, { token }: Serving, reason: RegExp): void {
  expect(answer.status).toBe(403);
  expect(answer.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
  });
  expect(answer.text).toMatch(reason);
  expect(answer.text).toContain('print the address of the dashboard');
  expect(answer.text).not.toContain(token);
  expectSafe(answer);
}

test('tokens have 128 bits and are never the same', () => {
  const tokens = Array.from({ length: 1000 }, newToken);
  expect(new Set(tokens).size).toBe(1000);
  for (const token of tokens) expect(token).toMatch(/^[0-9a-f]{32}$/);
});

describe('the token', () => {
  test('opens the page and its files', async () => {
    const { url } = await serving();
    const page = await ask(url);
    expect(page).toMatchObject({ status: 200, text: '<!doctype html><title>the page</title>' });
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
    });
    expectSafe(page);
  });

  const nowhere: [string, (token: string) => string][] = [
    ['no path', () => '/'],
    ['an icon', () => '/favicon.ico'],
    ['the list of runs', () => '/api/runs'],
    ['another token', () => `/${'0'.repeat(32)}/`],
    ['a token that is too short', (token) => `/${token.slice(1)}/`],
    ['a token that is too long', (token) => `/${token}0/`],
    ['a token with a capital', (token) => `/${token.replace(/./, 'A')}/`],
    ['the token as a query', (token) => `/?token=${token}`],
    ['the token further on', (token) => `/x/../${token}/`],
    ['an empty first part', (token) => `//${token}/`],
  ];
  test.each(nowhere)('is expected: %s', async (_, pathOf) => {
    const server = await serving();
    const { origin, token } = server;
    const path = pathOf(token);
    // A client that sends the path unchanged.
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
      const answer = await askRaw(origin, path, { method, headers: { Origin: origin } });
      if (method === 'HEAD') expect(answer).toMatchObject({ status: 403, text: '' });
      else expectForbidden(answer, server, /has no token/);
    }
  });

  test('is looked at before anything is done', async () => {
    const folder = temporaryFolder();
    writeRecord(folder, firstId, [startLine(firstId)]);
    const server = await serving({ folder });
    const known = await askRaw(server.origin, `/${'0'.repeat(32)}/api/runs/${firstId}`);
    const unknown = await askRaw(server.origin, `/${'0'.repeat(32)}/api/runs/nothing`);
    expectForbidden(known, server, /has no token/);
    expect(unknown.text).toBe(known.text);
  });

  test('a path that leads out of it finds nothing', async () => {
    const { origin, token } = await serving();
    for (const path of [`/${token}/..`, `/${token}/../api/runs`, `/${token}/%2e%2e/x/api/runs`]) {
      expect(await askRaw(origin, path), path).toMatchObject({ status: 404 });
    }
  });
});

describe('the host', () => {
  test('may be localhost too', async () => {
    const { url, port } = await serving();
    for (const host of [`localhost:${port}`, `LOCALHOST:${port}`, `127.0.0.1:${port}`]) {
      expect(await ask(url, { headers: { Host: host } }), host).toMatchObject({ status: 200 });
    }
  });

  test('is no other name that leads here', async () => {
    const server = await serving();
    const { url, port } = server;
    const names = [
      'example.org',
      `example.org:${port}`,
      '127.0.0.1',
      'localhost',
      `127.0.0.1:${port + 1}`,
      `127.0.0.1.example.org:${port}`,
      `127.0.0.1:${port}.example.org`,
      `user@127.0.0.1:${port}`,
      `[::1]:${port}`,
    ];
    for (const name of names) {
      expectForbidden(
        await ask(url, { headers: { Host: name } }),
        server,
        /Host header does not name this server/,
      );
    }
  });

  test('is there, once, and not in place of the path', async () => {
    const { port, token, url } = await serving();
    const heads = [
      `GET /${token}/ HTTP/1.0\r\n\r\n`,
      `GET /${token}/ HTTP/1.1\r\nHost:\r\n\r\n`,
      `GET /${token}/ HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nHost: example.org\r\n\r\n`,
      `GET ${url} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`,
      `GET http://example.org/${token}/ HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`,
    ];
    for (const head of heads) {
      expect(await converse(port, head).answer, head).toMatch(/^HTTP\/1\.1 403 /);
    }
    expect(await converse(port, `GET /${token}/ HTTP/1.1\r\n\r\n`).answer).toMatch(/ 400 /);
  });
});

describe('the origin', () => {
  test('is ours if it is sent', async () => {
    const server = await serving();
    const { url, origin, port } = server;
    expect(await ask(url, { headers: { Origin: origin } })).toMatchObject({ status: 200 });
    const others = [
      'null',
      'http://example.org',
      `https://127.0.0.1:${port}`,
      'http://127.0.0.1',
      `http://127.0.0.1:${port + 1}`,
      // Ours, but not the one that was asked.
      `http://localhost:${port}`,
    ];
    for (const other of others) {
      const answer = await ask(url, { headers: { Origin: other } });
      expectForbidden(answer, server, /does not come from the page/);
    }
  });

  test('has to be sent where something changes', async () => {
    const folder = temporaryFolder();
    writeRecord(folder, firstId, [startLine(firstId)]);
    const server = await serving({ folder });
    const { url, origin } = server;
    const stop = `${url}api/runs/${firstId}/stop`;
    const silent = await ask(stop, { method: 'POST' });
    expectForbidden(silent, server, /does not come from the page/);
    const other = await ask(stop, { method: 'POST', headers: { Origin: 'http://example.org' } });
    expectForbidden(other, server, /does not come from the page/);
    const own = await ask(stop, { method: 'POST', headers: { Origin: origin } });
    expect(own.status).toBe(202);
    expectSafe(own);
  });
});

describe('what the browser says of the page that sends the request', () => {
  const navigation = { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };

  test.each(['same-origin', 'none'])('%s is heard', async (site) => {
    const { url } = await serving();
    expect(await ask(url, { headers: { 'Sec-Fetch-Site': site } })).toMatchObject({ status: 200 });
  });

  test.each(['cross-site', 'same-site', 'else'])('%s only follows links', async (site) => {
    const server = await serving();
    const { url, origin } = server;
    const headers = { 'Sec-Fetch-Site': site };
    const followed = await ask(url, { headers: { ...headers, ...navigation } });
    expect(followed.status).toBe(200);
    const asked = [
      await ask(url, { headers }),
      await ask(`${url}api/runs`, { headers: { ...headers, 'Sec-Fetch-Mode': 'no-cors' } }),
      await ask(url, { headers: { ...headers, ...navigation, 'Sec-Fetch-Dest': 'iframe' } }),
      await ask(`${url}api/runs/${firstId}/stop`, {
        method: 'POST',
        headers: { ...headers, ...navigation, Origin: origin },
      }),
    ];
    const reason = /comes from a page of another site/;
    for (const answer of asked) expectForbidden(answer, server, reason);
  });
});

describe('methods and bodies', () => {
  test.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'])(
    '%s is not understood',
    async (method) => {
      const { url } = await serving();
      const answer = await ask(`${url}api/runs`, { method });
      expect(answer).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, POST' } });
      expectSafe(answer);
    },
  );

  test('POST is for what changes something, GET for the rest', async () => {
    const { url, origin } = await serving();
    const headers = { Origin: origin };
    const posted = await ask(`${url}api/runs`, { method: 'POST', headers });
    expect(posted).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
    const got = await ask(`${url}api/runs/${firstId}/stop`);
    expect(got).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });

  test('a body is short and says how long it is', async () => {
    const folder = temporaryFolder();
    writeRecord(folder, firstId, [startLine(firstId)]);
    const { url, origin, port } = await serving({ folder });
    const stop = `${url}api/runs/${firstId}/stop`;
    const headers = { Origin: origin };
    const post = (length: number) =>
      ask(stop, { method: 'POST', headers, body: 'x'.repeat(length) });
    expect(await post(1024)).toMatchObject({ status: 202 });
    expect(await post(1025)).toMatchObject({ status: 413 });
    const { pathname } = new URL(stop);
    const head =
      `POST ${pathname} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nOrigin: ${origin}\r\n` +
      'Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n';
    expect(await converse(port, head).answer).toMatch(/^HTTP\/1\.1 413 /);
  });
});

/** One request with the path exactly as given. */
function askRaw(
  origin: string,
  path: string,
  options: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(origin, { ...options, path, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, text }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe('a one-time address', () => {
  test('leads to the page once, and is no token', async () => {
    const { dashboard, url, origin } = await serving();
    const oneTimeUrl = dashboard.oneTimeUrl();
    expect(oneTimeUrl.startsWith(`${origin}/`)).toBe(true);
    expect((await fetch(`${oneTimeUrl}/api/runs`, { method: 'POST' })).status).toBe(403);
    const first = await fetch(oneTimeUrl, { redirect: 'manual' });
    expect([first.status, first.headers.get('location')]).toEqual([303, new URL(url).pathname]);
    expect(first.headers.get('referrer-policy')).toBe('no-referrer');
    expect((await fetch(oneTimeUrl, { redirect: 'manual' })).status).toBe(403);
  });

  test('of another kind of request or page is refused and stays good', async () => {
    const { dashboard } = await serving();
    const oneTimeUrl = dashboard.oneTimeUrl();
    const other = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' };
    expect((await fetch(oneTimeUrl, { headers: other })).status).toBe(403);
    expect((await fetch(oneTimeUrl, { method: 'HEAD' })).status).toBe(403);
    expect((await fetch(oneTimeUrl, { redirect: 'manual' })).status).toBe(303);
  });

  test('replaces the one before', async () => {
    const { dashboard } = await serving();
    const before = dashboard.oneTimeUrl();
    const oneTimeUrl = dashboard.oneTimeUrl();
    expect((await fetch(before)).status).toBe(403);
    expect((await fetch(oneTimeUrl, { redirect: 'manual' })).status).toBe(303);
  });
});
