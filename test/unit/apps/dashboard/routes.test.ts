import { existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunsAnswer } from '../../../../src/apps/dashboard/api.ts';
import { Dashboard } from '../../../../src/apps/dashboard/server.ts';
import { DsoError } from '../../../../src/errors.ts';
import type { RunDetail } from '../../../../src/reporting/records/record.ts';
import { ask } from '../../../support/http.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { DrivenRun } from './own-run.ts';
import {
  beginLine,
  epochLines,
  firstId,
  resultLine,
  sampleLine,
  secondId,
  startLine,
  writeRecord,
} from './records.ts';
import { pageFolder, serving } from './serving.ts';

/** A folder with a run that has ended and one that is running. */
function recordsFolder(): string {
  const folder = temporaryFolder();
  writeRecord(folder, firstId, [
    startLine(firstId),
    beginLine(),
    ...epochLines(1000),
    sampleLine(1000),
    resultLine,
  ]);
  writeRecord(folder, secondId, [startLine(secondId), beginLine(), ...epochLines(3)]);
  return folder;
}

async function getJson(url: string): Promise<unknown> {
  const answer = await fetch(url);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  return answer.json();
}

describe('the list of runs', () => {
  test('has the records of the folder, newest first', async () => {
    const folder = recordsFolder();
    const { url } = await serving({ folder });
    const answer = (await getJson(`${url}api/runs`)) as RunsAnswer;
    expect(answer).toMatchObject({ version: '1.2.3', folder });
    expect(answer).not.toHaveProperty('own');
    expect(answer.runs).toMatchObject([
      { id: secondId, status: 'running', latest: { epoch: 3 } },
      { id: firstId, status: 'done', latest: { epoch: 1000 }, result: { code: 0 } },
    ]);
  });

  test('sees what has changed since the last time', async () => {
    const folder = recordsFolder();
    const { url } = await serving({ folder });
    await getJson(`${url}api/runs`);
    writeRecord(folder, firstId, [startLine(firstId), beginLine(), ...epochLines(7), resultLine]);
    writeRecord(folder, secondId, [startLine(secondId, { pid: 2 ** 22 + 1 })]);
    const answer = (await getJson(`${url}api/runs`)) as RunsAnswer;
    expect(answer.runs).toMatchObject([
      { id: secondId, status: 'lost' },
      { id: firstId, status: 'done', latest: { epoch: 7 } },
    ]);
  });

  test('is empty without a folder and where nothing is recorded', async () => {
    const missing = await serving({ folder: join(temporaryFolder(), 'missing') });
    expect(await getJson(`${missing.url}api/runs`)).toMatchObject({ runs: [] });
    const none = await serving();
    expect(await getJson(`${none.url}api/runs`)).toMatchObject({ folder: '', runs: [] });
  });

  test('has the run of this process once, though it has a record as well', async () => {
    const folder = recordsFolder();
    const own = new DrivenRun(secondId);
    const { url } = await serving({ folder, own });
    own.live.add(beginLine());
    for (const line of epochLines(9)) own.live.add(line);
    const answer = (await getJson(`${url}api/runs`)) as RunsAnswer;
    expect(answer.own).toBe(secondId);
    expect(answer.runs).toMatchObject([{ id: secondId, latest: { epoch: 9 } }, { id: firstId }]);
    expect(await getJson(`${url}api/runs/${secondId}`)).toMatchObject({ epochs: 9 });
  });
});

describe('a run', () => {
  test('has no more points than expected', async () => {
    const { url } = await serving({ folder: recordsFolder() });
    const detail = (await getJson(`${url}api/runs/${firstId}?points=100`)) as RunDetail;
    expect(detail).toMatchObject({ vector: 0, epochs: 1000, summary: { id: firstId } });
    expect(detail.series.epoch.length).toBeLessThanOrEqual(100);
    expect(detail.series.epoch.length).toBeGreaterThan(50);
    expect(detail.series.epoch.at(-1)).toBe(1000);
    const all = (await getJson(`${url}api/runs/${firstId}?points=20000`)) as RunDetail;
    expect(all.series.epoch).toHaveLength(1000);
  });

  test('has the curve of the vector that is asked for', async () => {
    const { url } = await serving({ folder: recordsFolder() });
    expect(await getJson(`${url}api/runs/${firstId}?vector=1`)).toMatchObject({
      vector: 1,
      epochs: 0,
    });
  });

  test.each(['points=1', 'points=20001', 'points=-5', 'points=1e3', 'points=x', 'vector=0.5'])(
    'says what is wrong with %s',
    async (query) => {
      const { url } = await serving({ folder: recordsFolder() });
      const answer = await fetch(`${url}api/runs/${firstId}?${query}`);
      expect(answer.status).toBe(400);
      const { error } = (await answer.json()) as { error: string };
      expect(error).toMatch(
        /^(points|vector): found ".+"; expected a whole number from \d+ to \d+$/,
      );
    },
  );

  test.each(['20200101-000000-0000', 'x', '..%2f..%2fetc%2fpasswd', '%00', '%zz', '%F0%9F'])(
    'is not found by the name %s',
    async (id) => {
      const folder = recordsFolder();
      writeFileSync(join(folder, 'x.jsonl'), JSON.stringify(startLine('x')));
      const { url, origin } = await serving({ folder });
      const answers = [
        await fetch(`${url}api/runs/${id}`),
        await fetch(`${url}api/figure?runs=${id}`),
        await fetch(`${url}api/runs/${id}/stop`, { method: 'POST', headers: { Origin: origin } }),
      ];
      for (const answer of answers) {
        expect(answer.status).toBe(404);
        expect(await answer.json()).toEqual({ error: 'no such run' });
      }
    },
  );

  test('HEAD has the head alone', async () => {
    const { url } = await serving({ folder: recordsFolder() });
    const answer = await ask(`${url}api/runs/${firstId}`, { method: 'HEAD' });
    expect(answer).toMatchObject({ status: 200, text: '' });
  });
});

describe('stopping', () => {
  test('signals the process of the run by a file', async () => {
    const folder = recordsFolder();
    const { url, origin } = await serving({ folder });
    const headers = { Origin: origin };
    const answer = await fetch(`${url}api/runs/${secondId}/stop`, { method: 'POST', headers });
    expect(answer.status).toBe(202);
    expect(existsSync(join(folder, `${secondId}.stop`))).toBe(true);
  });

  test('is refused for a run that has ended', async () => {
    const folder = recordsFolder();
    const { url, origin } = await serving({ folder });
    const headers = { Origin: origin };
    const answer = await fetch(`${url}api/runs/${firstId}/stop`, { method: 'POST', headers });
    expect(answer.status).toBe(409);
    expect(await answer.json()).toEqual({ error: 'the run is not running: it is done' });
    expect(existsSync(join(folder, `${firstId}.stop`))).toBe(false);
  });

  test('signals the run of this process itself', async () => {
    const own = new DrivenRun(secondId);
    const { url, origin } = await serving({ own });
    const stop = () =>
      fetch(`${url}api/runs/${secondId}/stop`, { method: 'POST', headers: { Origin: origin } });
    expect((await stop()).status).toBe(202);
    expect(own.stops).toBe(1);
    own.live.add(resultLine);
    expect((await stop()).status).toBe(409);
    expect(own.stops).toBe(1);
  });
});

describe('the page', () => {
  test('is found without the last slash too', async () => {
    const { url } = await serving();
    const answer = await ask(url.slice(0, -1));
    expect(answer).toMatchObject({ status: 308, headers: { location: new URL(url).pathname } });
  });

  test('has files that may be cached for ever, since their names change with them', async () => {
    const { url } = await serving();
    const script = await ask(`${url}assets/index-BdQq_1aZ.js`);
    expect(script).toMatchObject({ status: 200, text: 'export {};' });
    expect(script.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'private, max-age=31536000, immutable',
    });
  });

  test('has no file that was not there at the start, nor one outside', async () => {
    const folder = pageFolder();
    const outside = join(temporaryFolder(), 'secret.txt');
    writeFileSync(outside, 'secret');
    symlinkSync(outside, join(folder, 'linked.txt'));
    const { url } = await serving({ pageFolder: folder });
    writeFileSync(join(folder, 'later.txt'), 'later');
    const names = [
      'later.txt',
      'linked.txt',
      'assets',
      'assets/',
      '..%2fsecret.txt',
      `..%2f..%2f..%2f..%2f..%2f${outside.slice(1).replaceAll('/', '%2f')}`,
      'constructor',
      'api',
      'api/',
      'api/run',
    ];
    for (const name of names) {
      const answer = await ask(url + name);
      expect(answer.status, name).toBe(404);
      expect(answer.text).not.toContain('secret');
    }
  });

  test('outlives the files that it was read from', async () => {
    const folder = pageFolder();
    const { url } = await serving({ pageFolder: folder });
    const before = await ask(url);
    rmSync(folder, { recursive: true });
    const after = await ask(url);
    expect(after.status).toBe(200);
    expect(after.text).toBe(before.text);
  });

  test('that is missing is an error that says how it is made', () => {
    const folder = temporaryFolder();
    const make = () => new Dashboard({ pageFolder: folder, version: '1' });
    expect(make).toThrow(DsoError);
    expect(make).toThrow(
      `${folder}: the page of the dashboard is missing (no index.html); run "npm run build" in a ` +
        'checkout, or install the package again',
    );
    const nowhere = new URL('missing', `file://${folder}/`).pathname;
    expect(() => new Dashboard({ pageFolder: nowhere, version: '1' })).toThrow(DsoError);
  });
});

test('a port that is taken is an error that says so', async () => {
  const { port } = await serving();
  const other = new Dashboard({ port, pageFolder: pageFolder(), version: '1' });
  await expect(other.listen()).rejects.toThrow(
    `dashboard, port ${port}: the port is in use; choose another, or 0 for any free port`,
  );
});

describe('a folder that is not as it should be', () => {
  test('a link to itself among the records hides none of the others', async () => {
    const folder = temporaryFolder();
    writeRecord(folder, firstId, [startLine(firstId), beginLine()]);
    const name = `${secondId}.jsonl`;
    symlinkSync(name, join(folder, name));
    const { url } = await serving({ folder });
    const { runs } = (await (await fetch(`${url}api/runs`)).json()) as RunsAnswer;
    expect(runs.map(({ id }) => id)).toEqual([firstId]);
  });

  test('a file in its place leaves the run of the process itself', async () => {
    const folder = join(temporaryFolder(), 'runs');
    writeFileSync(folder, '');
    const { url } = await serving({ folder, own: new DrivenRun(firstId) });
    const { runs } = (await (await fetch(`${url}api/runs`)).json()) as RunsAnswer;
    expect(runs.map(({ id }) => id)).toEqual([firstId]);
  });
});
