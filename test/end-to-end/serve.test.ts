import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { encodeModel, writeModel } from '../../src/model/file.ts';
import type { Model } from '../../src/model/model.ts';
import { runDso, startDso } from '../support/command-line.ts';
import { ask, converse, post } from '../support/http.ts';
import { sampleModel } from '../support/models.ts';
import { randomModel } from '../support/random-models.ts';
import { temporaryFolder } from '../support/temporary.ts';

const one = sampleModel({ weights: Float64Array.of(2, -1) });

/** `dso serve m.model` in a folder of its own, once it listens. */
async function serve(model: Model, ...flags: string[]) {
  const folder = temporaryFolder();
  await writeModel(join(folder, 'm.model'), model);
  return { folder, ...(await serveIn(folder, ...flags)) };
}

async function serveIn(folder: string, ...flags: string[]) {
  const running = startDso(['serve', 'm.model', '--port', '0', ...flags], { folder });
  const { process: child, finished } = running;
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await finished;
  });
  const line = await Promise.race([
    once(child.stdout, 'data').then(([chunk]) => String(chunk)),
    finished.then(({ stderr }) => stderr),
  ]);
  const url = /at (http:\S+:\d+);/.exec(line)?.[1];
  expect(url, line).toBeDefined();
  const port = Number(/\d+$/.exec(url!)![0]);
  return { ...running, line, port, url: url!, predict: `${url}/predict` };
}

/** Replaces the model as a program would that cares: at once. */
function replace(folder: string, bytes: Uint8Array): void {
  writeFileSync(join(folder, 'next'), bytes);
  renameSync(join(folder, 'next'), join(folder, 'm.model'));
}

test('says where it is, with an example that works', async () => {
  const { line, url, predict } = await serve(one);
  expect(line).toBe(
    `m.model at ${url}; try: curl -H 'Content-Type: application/json' ` +
      `-d '{"indices":[0],"values":[1]}' ${url}/predict\n`,
  );
  const [, body] = /-d '([^']+)'/.exec(line)!;
  expect(await post(predict, body)).toMatchObject({ status: 200, text: '{"label":1,"score":2}\n' });
});

describe('answers are those of dso predict --json, to the last bit', () => {
  test('named rows of JSON lines, one of three classes', async () => {
    const folder = temporaryFolder();
    const cities = ['Paris', 'Oslo', 'Rome', 'Bonn'];
    const rows = Array.from({ length: 300 }, (_, row) => ({
      label: ['low', 'middle', 'high'][(row * 7) % 3],
      age: (row * 37) % 90,
      city: cities[(row * 5) % 4],
      income: row % 11 === 0 ? null : (row * 1234.567) % 5000,
    }));
    const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    writeFileSync(join(folder, 'x.jsonl'), text);
    const flags = ['--loss', 'logistic', '--quiet', '--threads', '1', '-o', 'm.model'];
    const trained = await runDso(['train', 'x.jsonl', ...flags], { folder });
    expect(trained.code, trained.stderr).toBe(0);
    const expected = await runDso(['predict', 'm.model', 'x.jsonl', '--json', '--quiet'], {
      folder,
    });
    const { predict } = await serveIn(folder);
    const question = { method: 'POST', type: 'application/x-ndjson', body: text };
    const streamed = await ask(predict, question);
    expect(streamed.text).toBe(expected.stdout.toString());
    const batch = await post(predict, rows);
    expect(batch.text).toBe(`[${streamed.text.trimEnd().replaceAll('\n', ',')}]\n`);
    const single = await post(predict, rows[17]);
    expect(single.text).toBe(`${streamed.text.split('\n')[17]}\n`);
  });

  test('columns: index 0 is feature 1 of LIBSVM text', async () => {
    const loss = { name: 'logistic', parameter: 0 };
    const { folder, predict } = await serve(randomModel({ loss }));
    writeFileSync(join(folder, 'x.svm'), '1 1:0.1 4:-2.5 12:3\n-1 2:1e-3\n');
    const expected = await runDso(['predict', 'm.model', 'x.svm', '--json', '--quiet'], { folder });
    const found = await post(predict, [
      { indices: [0, 3, 11], values: [0.1, -2.5, 3] },
      { indices: [1], values: [1e-3] },
    ]);
    expect(found.text).toBe(`[${expected.stdout.toString().trimEnd().replace('\n', ',')}]\n`);
  });
});

describe('reload', () => {
  const weight = (value: number): Uint8Array =>
    encodeModel(sampleModel({ weights: Float64Array.of(value) }));

  test('a new file takes over, a damaged one does not, and both are reported', async () => {
    const { folder, predict, url, saw } = await serve(one);
    replace(folder, weight(5));
    await saw(/m\.model: version [0-9a-f]{16} \(classes: 2, 1 column, gap .*\) takes over/);
    expect((await post(predict, [1])).text).toBe('{"label":1,"score":5}\n');
    const damaged = weight(7);
    damaged[damaged.length - 3] ^= 64;
    replace(folder, damaged);
    await saw(/m\.model: damaged model: .*; the model before it stays/);
    expect((await post(predict, [1])).text).toBe('{"label":1,"score":5}\n');
    expect((await ask(`${url}/healthz`)).status).toBe(200);
    const { text } = await ask(`${url}/metrics`);
    expect(text).toContain('dso_model_loads_total{result="ok"} 2\n');
    expect(text).toContain('dso_model_loads_total{result="failed"} 1\n');
    replace(folder, weight(9));
    await saw(/takes over[\s\S]*takes over/);
    expect((await post(predict, [1])).text).toBe('{"label":1,"score":9}\n');
  });

  test('--no-reload: only SIGHUP', async () => {
    const { folder, predict, process: child, saw } = await serve(one, '--no-reload', '--log');
    replace(folder, weight(5));
    expect((await post(predict, [1, 0])).text).toBe('{"label":1,"score":2}\n');
    child.kill('SIGHUP');
    await saw(/"event":"reload","message":"m\.model: version/);
    expect((await post(predict, [1])).text).toBe('{"label":1,"score":5}\n');
  });

  test('no request fails while models are replaced', async () => {
    const { folder, predict, process: child } = await serve(one, '--no-reload');
    const scores = new Set<number>();
    // Until a model has been replaced in fact, however long that takes.
    for (let round = 0; round < 20 || scores.size < 2; round++) {
      replace(folder, weight(round));
      child.kill('SIGHUP');
      const answers = await Promise.all(Array.from({ length: 20 }, () => post(predict, [1])));
      for (const { status, text } of answers) {
        expect(status).toBe(200);
        scores.add(JSON.parse(text).score);
      }
    }
  });
});

describe('the end', () => {
  const head = 'POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
  const begun = `${head}Expect: 100-continue\r\nContent-Length: 5\r\n\r\n[1`;

  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s finishes what is under way, exit code 0',
    async (signal) => {
      const { port, url, process: child, finished } = await serve(one);
      const { socket, answer } = converse(port, begun);
      // "100 Continue": the request has arrived.
      await once(socket, 'data');
      child.kill(signal);
      while (await ask(`${url}/healthz`).catch(() => undefined));
      socket.write(',0]');
      expect(await answer).toContain('{"label":1,"score":2}\n');
      const { code, stderr } = await finished;
      expect([code, stderr]).toEqual([0, '']);
    },
  );

  test('not longer than the --timeout', async () => {
    // Far longer than from one line to the next, on a machine that is busy with other things too.
    const { port, process: child, finished } = await serve(one, '--timeout', '3s');
    const type = 'Content-Type: application/x-ndjson\r\nExpect: 100-continue\r\n';
    const { socket } = converse(
      port,
      `POST /predict HTTP/1.1\r\nHost: localhost\r\n${type}Content-Length: 1000000\r\n\r\n[1]\n`,
    );
    const timer = setInterval(() => socket.write('[1]\n'), 30);
    onTestFinished(() => clearInterval(timer));
    await once(socket, 'data');
    child.kill('SIGTERM');
    const { code, stderr } = await finished;
    expect([code, stderr]).toEqual([0, '1 request cut off after the --timeout\n']);
  });

  test('a second signal ends at once', async () => {
    const { port, url, process: child, finished } = await serve(one, '--timeout', '1h');
    await once(converse(port, begun).socket, 'data');
    child.kill('SIGTERM');
    while (await ask(`${url}/healthz`).catch(() => undefined));
    child.kill('SIGINT');
    expect((await finished).code).toBe(130);
  });
});

test('100,000 lines in bounded memory', async () => {
  const columns = 2000;
  const { predict, url } = await serve(randomModel({ columns }));
  const resident = async (): Promise<number> => {
    const { text } = await ask(`${url}/metrics`);
    return Number(/^process_resident_memory_bytes (\d+)$/m.exec(text)![1]);
  };
  const indices = Array.from({ length: 75 }, (_, entry) => entry * 13);
  const row = `${JSON.stringify({ indices, values: indices.map((column) => column / 7) })}\n`;
  const rows = 100_000;
  const block = row.repeat(100);
  expect(block.length * (rows / 100)).toBeGreaterThan(150e6);
  const before = await resident();
  let largest = before;
  const sent = request(predict, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  const received = once(sent, 'response').then(async ([response]) => {
    let lines = 0;
    for await (const chunk of response) for (const byte of chunk) lines += Number(byte === 10);
    return lines;
  });
  for (let written = 0; written < rows; written += 100) {
    if (!sent.write(block)) await once(sent, 'drain');
    if (written % 10_000 === 0) largest = Math.max(largest, await resident());
  }
  sent.end();
  expect(await received).toBe(rows);
  largest = Math.max(largest, await resident());
  expect(largest - before).toBeLessThan(100e6);
});

test('--log: a line of JSON for each request', async () => {
  const { predict, url, saw, process: child, finished } = await serve(one, '--log');
  await post(predict, [[1], [2]]);
  await ask(`${url}/no\u0022pe`);
  await saw(/"status":404/);
  child.kill('SIGTERM');
  const records = (await finished).stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(records).toHaveLength(2);
  expect(records[0]).toMatchObject({ event: 'request', method: 'POST', path: '/predict' });
  expect(records[0]).toMatchObject({ status: 200, rows: 2, client: '127.0.0.1' });
  expect(records[1]).toMatchObject({ status: 404, path: '/no%22pe' });
});

describe('what cannot be served', () => {
  test('a port that is in use: exit code 1', async () => {
    const folder = temporaryFolder();
    await writeModel(join(folder, 'm.model'), one);
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const run = await runDso(['serve', 'm.model', '--port', String(port)], { folder });
    expect(run.code).toBe(1);
    expect(run.stderr).toContain(`dso: --host 127.0.0.1 --port ${port}: the port is in use;`);
  });

  test('no model, a damaged one: exit code 3', async () => {
    const folder = temporaryFolder();
    const none = await runDso(['serve', 'm.model'], { folder });
    expect([none.code, none.stderr]).toEqual([3, 'dso: m.model: no such file\n']);
    writeFileSync(join(folder, 'm.model'), 'dso-model 2\n');
    expect((await runDso(['serve', 'm.model'], { folder })).code).toBe(3);
  });

  test.each([
    ['-'],
    ['m', '--port', '65536'],
    ['m', '--timeout', '0'],
    ['m', '--timeout', '3 weeks'],
    ['m', '--max-body', '0'],
  ])('bad usage: exit code 2: %j', async (...args) => {
    expect((await runDso(['serve', ...args])).code).toBe(2);
  });
});

test('another host than this machine: a warning', async () => {
  const { saw } = await serve(one, '--host', '0.0.0.0');
  await saw(
    /^warning: anyone who reaches 0\.0\.0\.0 can send requests: there is no authentication/m,
  );
});
