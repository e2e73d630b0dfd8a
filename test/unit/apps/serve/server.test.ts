import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { HostNames } from '../../../../src/apps/host-header.ts';
import { Metrics } from '../../../../src/apps/serve/metrics.ts';
import type { LoadedModel } from '../../../../src/apps/serve/model-reloader.ts';
import { Scorer } from '../../../../src/apps/serve/scorer.ts';
import { type RequestRecord, ScoringServer } from '../../../../src/apps/serve/server.ts';
import type { Model } from '../../../../src/model/model.ts';
import { ask, converse, post } from '../../../support/http.ts';
import { sampleClasses, sampleModel } from '../../../support/models.ts';

interface Limits {
  readonly bytes?: number;
  readonly bodies?: number;
  readonly timeout?: number;
  readonly rows?: number;
  readonly answer?: number;
}

function loaded(model: Model, version = 'v1'): LoadedModel {
  return { model, scorer: new Scorer(model), version, loadedAt: new Date(0) };
}

/** A server in this process, on a port of its own. */
async function serve(model: Model, limits: Limits = {}) {
  const metrics = new Metrics();
  const records: RequestRecord[] = [];
  const failures: unknown[] = [];
  const state = { current: loaded(model) };
  const server = new ScoringServer({
    name: 'm.model',
    limits: { bytes: 10_000, bodies: 1e6, timeout: 10_000, rows: 100, answer: 1e6, ...limits },
    hosts: new HostNames('127.0.0.1', ['scores.example']),
    metrics,
    current: () => state.current,
    onRequest: (record) => records.push(record),
    onFailure: (error) => failures.push(error),
  });
  const { port } = await server.listen(0, '127.0.0.1');
  let stopped: Promise<number> | undefined;
  const stop = (): Promise<number> => {
    stopped ??= server.stop();
    return stopped;
  };
  onTestFinished(() => void stop());
  const url = `http://127.0.0.1:${port}`;
  return { url, port, metrics, records, failures, state, stop, predict: `${url}/predict` };
}

const repeat = <Row>(count: number, row: Row): Row[] => Array.from({ length: count }, () => row);

/** Milliseconds that pass only where a test lets them. */
const timeout = 600_000;

afterEach(() => void vi.useRealTimers());

const one = sampleModel({ weights: Float64Array.of(2, -1) });
const answerOfOne = '{"label":1,"score":2}';

describe('POST /predict', () => {
  test('a row, a list of rows, an object of rows', async () => {
    const { predict, metrics } = await serve(one);
    const row = { indices: [0], values: [1] };
    expect(await post(predict, row)).toMatchObject({
      status: 200,
      text: `${answerOfOne}\n`,
      headers: { 'content-type': 'application/json' },
    });
    expect((await post(predict, [1, 0])).text).toBe(`${answerOfOne}\n`);
    const other = '{"label":-1,"score":-3}';
    expect((await post(predict, [row, [0, 3]])).text).toBe(`[${answerOfOne},${other}]\n`);
    const wrapped = await post(predict, { rows: [[0, 3], row] });
    expect(wrapped.text).toBe(`{"predictions":[${other},${answerOfOne}]}\n`);
    expect((await post(predict, [])).text).toBe('[]\n');
    expect(metrics.rows).toBe(6);
  });

  test('names, and labels that are not ASCII', async () => {
    const { predict } = await serve(sampleClasses({ classes: ['Katze', 'Hündin', '魚'] }));
    const { text, status } = await post(predict, { legs: 4, colour: 'dark' });
    expect(status).toBe(200);
    expect(Object.keys(JSON.parse(text).probabilities)).toEqual(['Katze', 'Hündin', '魚']);
  });

  test.each([
    ['{"indices":[0],', /^the body: not JSON: /],
    ['', /^the body: not JSON: /],
    ['7', /^found a number; expected an object, or a list of numbers$/],
    ['[[1],[2],["x"]]', /^row 3: value 1 is a string; expected a number$/],
    ['{"rows":[null]}', /^row 1: found null; expected an object, or a list of numbers$/],
    ['{"age":3}', /^the model has no feature names; expected indices and values$/],
  ])('%s is a bad request', async (body, message) => {
    const { predict, metrics, failures } = await serve(one);
    const { status, text } = await post(predict, body);
    expect(status).toBe(400);
    expect(JSON.parse(text).error).toMatch(message);
    expect(metrics.rows).toBe(0);
    expect(failures).toEqual([]);
  });

  test('bytes that are no UTF-8 are a bad request', async () => {
    const { predict } = await serve(one);
    const body = Buffer.from([0x22, 0xff, 0x22]);
    const answer = await ask(predict, { method: 'POST', type: 'application/json', body });
    expect(answer).toMatchObject({ status: 400, text: '{"error":"the body: not UTF-8"}\n' });
  });

  test.each([
    ['text/plain', 415],
    [undefined, 415],
    ['application/json; charset=latin1', 415],
    ['Application/JSON; charset="UTF-8"', 200],
    ['application/json', 200],
  ])('Content-Type %s: %i', async (type, status) => {
    const { predict } = await serve(one);
    const answer = await ask(predict, { method: 'POST', type, body: '[1,0]' });
    expect(answer.status).toBe(status);
  });

  test.each([
    ['gzip', 415],
    ['Identity', 200],
  ])('Content-Encoding %s: %i', async (encoding, status) => {
    const { predict } = await serve(one);
    const headers = { 'Content-Encoding': encoding };
    const question = { method: 'POST', type: 'application/json', body: '[1,0]', headers };
    expect(await ask(predict, question)).toMatchObject({ status });
  });

  test('errors of the server itself are not shown', async () => {
    const { predict, state, failures, url } = await serve(one);
    const broken = { ...one, weights: undefined } as unknown as Model;
    state.current = { ...state.current, scorer: new Scorer(broken) };
    const answer = await post(predict, [1, 0]);
    expect(answer).toMatchObject({ status: 500, text: '{"error":"the server failed"}\n' });
    expect(failures).toHaveLength(1);
    expect((await ask(`${url}/healthz`)).status).toBe(200);
  });

  test('many connections at once, each gets its own answers', async () => {
    const { predict, metrics } = await serve(one);
    const agent = new Agent({ keepAlive: true, maxSockets: 20 });
    onTestFinished(() => agent.destroy());
    const values = Array.from({ length: 500 }, (_, value) => value + 1);
    const answers = await Promise.all(
      values.map((value) =>
        value % 5 === 0
          ? post(predict, repeat(60, [value, 0]), agent)
          : post(predict, [value, 0], agent),
      ),
    );
    for (const [index, { text }] of answers.entries()) {
      const found = [JSON.parse(text)].flat().map(({ score }) => score);
      expect(new Set(found)).toEqual(new Set([2 * values[index]]));
    }
    expect(metrics.rows).toBe(400 + 60 * 100);
    expect(metrics.underWay).toBe(0);
  });
});

describe('limits', () => {
  test('a body that is announced to be too long, and one that turns out to be', async () => {
    const { predict } = await serve(one, { bytes: 100 });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const long = `[${'1,'.repeat(100_000)}1]`;
    const error = '{"error":"the body is longer than 100 bytes"}\n';
    expect(await post(predict, long, agent)).toMatchObject({ status: 413, text: error });
    const chunked = { 'Transfer-Encoding': 'chunked' };
    const question = { method: 'POST', type: 'application/json', body: long, headers: chunked };
    expect(await ask(predict, { ...question, agent })).toMatchObject({ status: 413, text: error });
    // The connection stays open: the rest of the bodies was let through.
    expect((await post(predict, [1, 0], agent)).text).toBe(`${answerOfOne}\n`);
    const longest = `${'[1'.padEnd(99)}]`;
    expect((await post(predict, longest)).status).toBe(200);
    expect((await post(predict, `${longest} `)).status).toBe(413);
  });

  test('too many rows', async () => {
    const { predict } = await serve(one, { rows: 3 });
    expect((await post(predict, repeat(3, [1, 0]))).status).toBe(200);
    const refused = await post(predict, { rows: repeat(4, [1, 0]) });
    expect(refused).toMatchObject({
      status: 413,
      text: '{"error":"4 rows; expected at most 3"}\n',
    });
  });

  test('an answer that is too long for a batch', async () => {
    const { predict } = await serve(one, { answer: 100 });
    expect((await post(predict, repeat(4, [1, 0]))).status).toBe(200);
    const refused = await post(predict, repeat(5, [1, 0]));
    expect(refused.status).toBe(413);
    expect(refused.text).toMatch(/longer than 100 characters at row 5; .*application\/x-ndjson/);
  });

  test('a body that does not arrive', async () => {
    // The clock of bodies is moved by hand; that of heads is not, and must not be the first.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    const { port, metrics } = await serve(one, { timeout });
    const head = 'POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    const { answer } = converse(port, `${head}Content-Length: 10\r\n\r\n[1,`);
    while (metrics.underWay === 0) await sleep(5);
    vi.advanceTimersByTime(timeout);
    expect(await answer).toMatch(/^HTTP\/1\.1 408 [\s\S]*"the body did not arrive within 600 s"/);
    expect(metrics.underWay).toBe(0);
  });

  test('a head that does not arrive, one that is too long, and no HTTP at all', async () => {
    const impatient = await serve(one, { timeout: 500 });
    expect(await converse(impatient.port, 'POST /pre').answer).toMatch(/^HTTP\/1\.1 408 /);
    const { port } = await serve(one);
    const long = `GET / HTTP/1.1\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`;
    expect(await converse(port, long).answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(await converse(port, 'hello\r\n\r\n').answer).toMatch(
      /^HTTP\/1\.1 400 [\s\S]*"not a request of HTTP"/,
    );
  });

  test('a body that is no HTTP is refused; what comes behind a whole one is not waited for', async () => {
    const { port, records } = await serve(one);
    const head = 'POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    const broken = converse(port, `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n[1,0]\r\n`);
    expect(await broken.answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*"the body is not one of HTTP"/);
    const rows = JSON.stringify(repeat(100, [1, 0]));
    const followed = converse(
      port,
      `${head}Content-Length: ${rows.length}\r\n\r\n${rows}what?\r\n`,
    );
    expect(await followed.answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*\}\]\n$/);
    expect(records.map(({ status }) => status)).toEqual([400, 200]);
  });

  test('an expectation that cannot be met, and a tunnel, are refused in words', async () => {
    const { port, records, metrics } = await serve(one);
    const expecting = 'GET /model HTTP/1.1\r\nHost: localhost\r\nExpect: miracle\r\n';
    expect(await converse(port, `${expecting}Connection: close\r\n\r\n`).answer).toMatch(
      /^HTTP\/1\.1 417 [\s\S]*\{"error":"Expect miracle; expected 100-continue, or none"\}\n$/,
    );
    expect(records.map(({ status }) => status)).toEqual([417]);
    const tunnel = 'CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n';
    expect(await converse(port, tunnel).answer).toMatch(
      /^HTTP\/1\.1 405 [\s\S]*\r\nAllow: GET, HEAD, POST\r\n[\s\S]*"CONNECT evil.example:443; this/,
    );
    // A client that resets the connection meanwhile is no failure.
    const { socket } = converse(port, tunnel);
    await once(socket, 'connect');
    socket.resetAndDestroy();
    while (metrics.connections > 0) await sleep(5);
  });

  test('what was asked before bytes that are no request, or a tunnel, is answered', async () => {
    const { port, metrics } = await serve(one);
    const head = 'POST /predict HTTP/1.1\r\nHost: localhost\r\n';
    const json = `${head}Content-Type: application/json\r\nContent-Length: 5\r\n\r\n[1,0]`;
    const lines = `${head}Content-Type: application/x-ndjson\r\nContent-Length: 5\r\n\r\n[1,0]`;
    const probe = 'HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const broken = 'what?\r\n\r\n';
    const tunnel = 'CONNECT a:1 HTTP/1.1\r\nHost: localhost\r\n\r\n';
    for (const [before, count] of [
      [json, 1],
      [json + probe, 2],
      [lines + probe, 2],
      [probe + lines, 2],
    ] as const) {
      for (const last of [broken, tunnel]) {
        const answers = await converse(port, before + last).answer;
        expect(answers.match(/^HTTP\/1\.1 200 OK/gm), before).toHaveLength(count);
        expect(answers.match(/"score":2\}/g) ?? [], before).toHaveLength(1);
      }
    }
    while (metrics.connections > 0) await sleep(5);
  });

  test('an answer that is not taken is given up, with its memory', async () => {
    // A short body, which is there at once, with a long answer.
    const model = sampleModel({ weights: one.weights, classes: ['no', 'yes'.repeat(10_000)] });
    const { port, records, metrics } = await serve(model, {
      timeout: 500,
      rows: 1000,
      answer: 1e8,
    });
    const rows = JSON.stringify(repeat(1000, [1, 0]));
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    // Without a listener for data the socket does not read.
    socket.write(
      'POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
        `Content-Length: ${rows.length}\r\n\r\n${rows}`,
    );
    while (records.length === 0) await sleep(20);
    expect(records[0]).toMatchObject({ status: 200, rows: 1000 });
    while (metrics.connections > 0) await sleep(20);
    socket.destroy();
  });
});

describe('streams of lines', () => {
  const lines = { method: 'POST', type: 'application/x-ndjson' };

  test('one answer for each line, errors in their positions', async () => {
    const { predict, metrics } = await serve(one);
    const body = '[1,0]\n\n{"indices":[1],"values":[3]}\r\nnope\n{"a":1}\n[0,-1]';
    const { status, text: answers, headers } = await ask(predict, { ...lines, body });
    expect([status, headers['content-type']]).toEqual([200, 'application/x-ndjson']);
    const [first, second, third, fourth, fifth, ...rest] = answers.split('\n');
    expect([first, second, fifth]).toEqual([
      answerOfOne,
      '{"label":-1,"score":-3}',
      '{"label":1,"score":1}',
    ]);
    expect(JSON.parse(third).error).toMatch(/^line 4: not JSON: /);
    expect(JSON.parse(fourth).error).toBe(
      'line 5: the model has no feature names; expected indices and values',
    );
    expect(rest).toEqual(['']);
    expect([metrics.rows, metrics.failedRows]).toEqual([3, 2]);
  });

  test('answers come while the request continues', async () => {
    const { predict } = await serve(one);
    const sent = request(predict, { method: 'POST', headers: { 'Content-Type': lines.type } });
    sent.write('[1,0]\n[0');
    const [response] = await once(sent, 'response');
    const [first] = await once(response, 'data');
    expect(String(first)).toBe(`${answerOfOne}\n`);
    const rest = textOf(response);
    sent.end(',3]');
    expect(await rest).toBe('{"label":-1,"score":-3}\n');
  });

  test('a line that is too long: the status if nothing was sent, else the last line', async () => {
    const { predict, port, metrics } = await serve(one, { bytes: 1000 });
    const long = ' '.repeat(2000);
    expect(await ask(predict, { ...lines, body: long })).toMatchObject({
      status: 413,
      text: '{"error":"line 1: longer than 1000 bytes"}\n',
    });
    const body = `[1,0]\n${long}`;
    const { socket, answer } = converse(
      port,
      `POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${lines.type}\r\n` +
        `Content-Length: 100000\r\n\r\n[1,0]\n`,
    );
    await once(socket, 'data');
    socket.write(body);
    const text = await answer;
    expect(text).toContain('{"error":"line 3: longer than 1000 bytes"}\n');
    // No last chunk: whoever reads this knows that it is not all.
    expect(text.endsWith('0\r\n\r\n')).toBe(false);
    expect(metrics.underWay).toBe(0);
  });

  test('what was answered before a line that is too long arrives, whatever is sent behind it', async () => {
    const { port, records, metrics } = await serve(one, { bytes: 1000 });
    const socket = connect(port, '127.0.0.1');
    // Without a listener for data the socket does not read: a reset would take what has arrived.
    const body = `[1,0]\n${' '.repeat(2000)}\n${'[1,0]\n'.repeat(200_000)}`;
    const head = `POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${lines.type}\r\n`;
    socket.write(`${head}Content-Length: 6\r\n\r\n[1,0]\n`);
    socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 6)}`);
    while (metrics.rows < 1) await sleep(5);
    socket.write(body.slice(6));
    while (records.length < 2) await sleep(5);
    while (socket.writableLength > 0 && !socket.destroyed) await sleep(5);
    const found = await textOf(socket);
    expect(found.match(/"score":2\}/g)).toHaveLength(2);
    expect(found).toMatch(/"line 2: longer than 1000 bytes"\}\n\r\n$/);
    expect(records.map(({ status }) => status)).toEqual([200, 413]);
    while (metrics.connections > 0) await sleep(5);
  });

  test('a client that does not take its answers is not read from, and given up', async () => {
    const { port, metrics, records } = await serve(one, { timeout: 2000 });
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      `POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${lines.type}\r\n` +
        'Content-Length: 1000000000\r\n\r\n',
    );
    const rows = 4_000_000;
    socket.write('[1,0]\n'.repeat(rows));
    // Without a listener for data the socket does not read.
    while (records.length === 0) await sleep(20);
    expect(records[0].status).toBe(408);
    expect(metrics.rows).toBeGreaterThan(0);
    expect(metrics.rows).toBeLessThan(rows / 2);
    while (metrics.connections > 0) await sleep(20);
    socket.destroy();
  });

  test('a client that leaves', async () => {
    const { port, metrics, records } = await serve(one);
    const head = `POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${lines.type}\r\n`;
    const { socket } = converse(port, `${head}Content-Length: 100\r\n\r\n[1,0]\n`);
    await once(socket, 'data');
    socket.destroy();
    while (records.length === 0) await sleep(20);
    expect(records[0]).toMatchObject({ status: 499, rows: 1 });
    expect(metrics.underWay).toBe(0);
  });

  test('keeps the model it began with', async () => {
    const { predict, state } = await serve(one);
    const sent = request(predict, { method: 'POST', headers: { 'Content-Type': lines.type } });
    sent.write('[1,0]\n');
    const [response] = await once(sent, 'response');
    await once(response, 'data');
    state.current = loaded(sampleModel({ weights: Float64Array.of(-5) }));
    const rest = textOf(response);
    sent.end('[1,0]\n');
    expect(await rest).toBe(`${answerOfOne}\n`);
    expect((await post(predict, [1, 0])).text).toBe('{"label":-1,"score":-5}\n');
  });
});

describe('pages', () => {
  test('/healthz', async () => {
    const { url } = await serve(one);
    const { status, text } = await ask(`${url}/healthz?probe=1`);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      status: 'ok',
      model: 'm.model',
      version: 'v1',
      loadedAt: '1970-01-01T00:00:00.000Z',
      gap: 0.00023,
      relativeGap: 7.4e-4,
    });
  });

  test('/model has no weights, names, points or paths', async () => {
    const loss = { name: 'logistic', parameter: 0, module: '/home/me/loss.js' };
    const { url } = await serve(sampleClasses({ loss }));
    const { text } = await ask(`${url}/model`);
    const found = JSON.parse(text);
    expect(found).toMatchObject({
      classes: ['cat', 'dog', 'fish, "raw"'],
      named: true,
      calibration: ['platt', 'isotonic', 'platt'],
      provenance: { version: '0.1.0', data: 'sha256:0123' },
    });
    expect(Object.keys(found)).not.toContain('weights');
    expect(text).not.toMatch(/\/home|intercepts|featureNames|slope/);
  });

  test('/metrics', async () => {
    const { url, predict } = await serve(one);
    await post(predict, [1, 0]);
    const { headers, text } = await ask(`${url}/metrics`);
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text).toContain('dso_requests_total{path="/predict",code="200"} 1\n');
    expect(text).toContain('dso_connections 1\n');
    const start = /\nprocess_start_time_seconds \S+\n/;
    expect((await ask(`${url}/metrics`)).text).toContain(start.exec(text)![0]);
  });

  test('other paths and methods', async () => {
    const { url, port, predict, records } = await serve(one);
    expect((await ask(`${url}/%2e%2e/etc/passwd`)).status).toBe(404);
    expect((await ask(`${url}/__proto__`)).status).toBe(404);
    const proxied = converse(port, `GET ${url}/healthz?x HTTP/1.0\r\n\r\n`);
    expect(await proxied.answer).toMatch(/^HTTP\/1\.1 200 /);
    const get = await ask(predict);
    expect([get.status, get.headers.allow]).toEqual([405, 'POST']);
    expect(JSON.parse(get.text)).toEqual({ error: 'GET /predict; expected POST' });
    const put = await ask(`${url}/model`, { method: 'PUT', body: 'x' });
    expect([put.status, put.headers.allow]).toEqual([405, 'GET, HEAD']);
    const head = await ask(`${url}/healthz`, { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
    expect(records.map(({ status }) => status)).toEqual([404, 404, 200, 405, 405, 200]);
  });
});

describe('the end', () => {
  const head = 'POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

  test('a request under way is answered; idle and silent connections are closed', async () => {
    const { port, url, stop, metrics } = await serve(one);
    const silent = converse(port, '');
    const idle = converse(port, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(idle.socket, 'data');
    const busy = converse(port, `${head}Content-Length: 5\r\n\r\n[1`);
    while (metrics.underWay === 0) await sleep(5);
    const stopped = stop();
    await Promise.all([silent.answer, idle.answer]);
    await expect(ask(`${url}/healthz`)).rejects.toThrow('ECONNREFUSED');
    busy.socket.write(',0]');
    expect(await busy.answer).toMatch(/Connection: close[\s\S]*\{"label":1,"score":2\}\n$/);
    expect(await stopped).toBe(0);
  });

  test('no request on a connection that was kept alive is reset', async () => {
    const { predict, stop, records } = await serve(one);
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    const resets: unknown[] = [];
    const ended = Array.from({ length: 16 }, async () => {
      for (let reused = false; ; reused = true) {
        try {
          const { headers } = await post(predict, [1, 0], agent);
          if (headers.connection === 'close') return;
        } catch (error) {
          if (reused) resets.push(error);
          return;
        }
      }
    });
    while (records.length < 200) await sleep(5);
    await Promise.all([...ended, stop()]);
    agent.destroy();
    expect(resets).toEqual([]);
  });

  test('a request that does not end is cut off', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { port, url, stop } = await serve(one, { timeout });
    const type = 'Content-Type: application/x-ndjson\r\nContent-Length: 1000000\r\n\r\n';
    const { socket } = converse(port, `POST /predict HTTP/1.1\r\nHost: localhost\r\n${type}`);
    let [answers, lines] = ['', 0];
    socket.on('data', (chunk: Buffer) => {
      answers += chunk.toString();
    });
    const nextLine = async (): Promise<void> => {
      socket.write('[1,0]\n');
      lines++;
      while (answers.split(answerOfOne).length <= lines) await once(socket, 'data');
    };
    await nextLine();
    const stopped = stop();
    while (await ask(`${url}/healthz`).catch(() => undefined));
    // It makes progress all the time.
    for (let half = 0; half < 2; half++) {
      await nextLine();
      vi.advanceTimersByTime(timeout / 2);
    }
    expect(await stopped).toBe(1);
  });
});

test('a name that is not one of this server is refused, as by DNS rebinding', async () => {
  const { url, port, predict } = await serve(one);
  const status = async (host: string) =>
    (await ask(`${url}/healthz`, { headers: { host } })).status;
  for (const host of [
    `127.0.0.1:${port}`,
    'localhost',
    'LocalHost.:1',
    '[::1]:8080',
    'scores.example',
  ]) {
    expect(await status(host), host).toBe(200);
  }
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    'localhost.evil.example',
    '10.0.0.1',
  ]) {
    expect(await status(host), host).toBe(421);
  }
  const refused = await ask(predict, {
    method: 'POST',
    type: 'application/json',
    body: '[1,0]',
    headers: { host: 'evil.example' },
  });
  expect(refused.text).toContain('Host evil.example: not a name of this server');
  expect(new HostNames('0.0.0.0').accepts('10.0.0.1:8080')).toBe(true);
  expect(new HostNames('0.0.0.0').accepts('evil.example')).toBe(false);
  const twice = 'Host: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n';
  expect(await converse(port, `GET /healthz HTTP/1.1\r\n${twice}`).answer).toMatch(
    /^HTTP\/1\.1 400 .*more than one Host header/s,
  );
  const none = 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n';
  expect(await converse(port, none).answer).toMatch(/^HTTP\/1\.1 400 .*no Host header/s);
  // HTTP/1.0 needs no such header.
  expect(await converse(port, 'GET /healthz HTTP/1.0\r\n\r\n').answer).toContain(' 200 OK');
});

describe('large bodies', () => {
  const large = 150_000;
  const limits = { bytes: 200_000, bodies: 2 * large + 10, timeout };
  const row = (length: number) => `[1,0${' '.repeat(length - 5)}]`;
  const begin = (type: string) =>
    `POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nConnection: close\r\n`;
  const held = async (metrics: Metrics, bytes: number) => {
    while (metrics.bodyBytes !== bytes) await sleep(1);
  };

  test.each(['application/json', 'application/x-ndjson'])(
    'more than all may hold together are refused, small ones are not: %s',
    async (type) => {
      const { predict, port, metrics } = await serve(one, limits);
      const head = `${begin(type)}Content-Length: ${large + 1}\r\n\r\n`;
      const first = [1, 2].map(() => converse(port, head + row(large)));
      await held(metrics, 2 * large);
      const third = await post(predict, row(large));
      expect([third.status, third.headers['retry-after']]).toEqual([503, '1']);
      expect(third.text).toContain('too many large bodies at once');
      expect((await post(predict, '[1,0]')).status).toBe(200);
      for (const { socket } of first) socket.write('\n');
      for (const { answer } of first) expect(await answer).toContain(answerOfOne);
      await held(metrics, 0);
      expect((await post(predict, row(large))).status).toBe(200);
    },
  );

  test('those that are abandoned or refused hold nothing', async () => {
    const { port, metrics } = await serve(one, limits);
    const head = `${begin('application/json')}Content-Length: ${large + 1}\r\n\r\n`;
    const { socket } = converse(port, head + row(large));
    await held(metrics, large);
    socket.destroy();
    await held(metrics, 0);
    const chunked = `${begin('application/json')}Transfer-Encoding: chunked\r\n\r\n`;
    const size = limits.bytes + 1;
    const { answer } = converse(
      port,
      `${chunked}${size.toString(16)}\r\n${row(size)}\r\n0\r\n\r\n`,
    );
    expect(await answer).toContain(' 413 ');
    await held(metrics, 0);
  });
});

test('a stream that brings bytes but no line ends', async () => {
  const { port } = await serve(one, { timeout: 200 });
  const { socket, answer } = converse(
    port,
    'POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n' +
      'Content-Length: 1000000\r\n\r\n[1,0]\n',
  );
  // Empty lines are no progress either.
  const timer = setInterval(() => socket.write(' \n'), 10);
  onTestFinished(() => clearInterval(timer));
  expect(await answer).toMatch(/"score":2\}[\s\S]*no progress within 0\.2 s/);
});

describe('at the end no connection is reset', () => {
  const ping = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';

  /** A connection, and whether it ended without an error. */
  async function open(port: number, bytes: string) {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let text = '';
    let failure: Error | undefined;
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.on('error', (error) => {
      failure = error;
    });
    await once(socket, 'connect');
    const ended = once(socket, 'end');
    const closed = once(socket, 'close');
    if (bytes !== '') socket.write(bytes);
    return { socket, ended, closed, text: () => text, failure: () => failure };
  }

  test('idle ones are ended, and what crosses the end is read', async () => {
    const { port, metrics, stop } = await serve(one, { timeout });
    const silent = await open(port, '');
    const idle = await open(port, ping);
    await once(idle.socket, 'data');
    while (metrics.connections < 2) await sleep(1);
    const stopped = stop();
    for (const { socket, ended, closed, failure } of [silent, idle]) {
      await ended;
      for (let round = 0; round < 3; round++) {
        await new Promise((resolve) => socket.write(ping, resolve));
        await sleep(1);
      }
      socket.end();
      await closed;
      expect(failure()).toBeUndefined();
    }
    expect(await stopped).toBe(0);
  });

  test('a head that has begun is answered, as the last request', async () => {
    const { port, metrics, stop, url } = await serve(one, { timeout });
    const begun = await open(port, ping.slice(0, 20));
    const second = await open(port, ping);
    await once(second.socket, 'data');
    second.socket.write(ping.slice(0, 20));
    while (metrics.connections < 2) await sleep(1);
    const stopped = stop();
    while (await ask(`${url}/healthz`).catch(() => undefined));
    for (const { socket, ended, text, failure } of [begun, second]) {
      socket.write(ping.slice(20));
      await ended;
      expect(text().match(/200 OK/g)).toHaveLength(socket === begun.socket ? 1 : 2);
      expect(text()).toContain('Connection: close');
      expect(failure()).toBeUndefined();
      socket.end();
    }
    expect(await stopped).toBe(0);
  });
});
