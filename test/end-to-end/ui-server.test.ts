/** `dso ui` and `dso train --ui` as processes; the page itself is tested in a browser. */
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readModel } from '../../src/model/file.ts';
import { listRuns } from '../../src/reporting/records/store.ts';
import { type RunOptions, runDso, startDso } from '../support/command-line.ts';
import { sampleText } from '../support/sample-text.ts';
import { temporaryFolder } from '../support/temporary.ts';
import {
  beginLine,
  epochLines,
  firstId,
  resultLine,
  startLine,
  writeRecord,
} from '../unit/apps/dashboard/records.ts';
import { Listener } from '../unit/apps/dashboard/serving.ts';

const address = /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//;
/** A terminal somewhere in the test's surroundings must not decide. */
const alone = { SSH_CONNECTION: '', SSH_TTY: '', DISPLAY: '', WAYLAND_DISPLAY: '' };
/** Tests leave no records unless they ask for them. */
const recorded = { ...alone, DSO_NO_RECORD: '' };

/** Starts `dso …` and ends it with the test. */
function start(args: readonly string[], options: RunOptions) {
  const running = startDso(args, { environment: alone, ...options });
  onTestFinished(async () => {
    running.process.kill('SIGKILL');
    await running.finished;
  });
  return running;
}

/** `dso ui …` once it has printed its address. */
async function startUi(folder: string, args: readonly string[] = [], environment = alone) {
  const running = start(['ui', ...args], { folder, environment });
  const line = await Promise.race([
    once(running.process.stdout, 'data').then(([chunk]) => String(chunk)),
    running.finished.then(({ stderr }) => stderr),
  ]);
  expect(line).toMatch(new RegExp(`^${address.source}\n$`));
  return { ...running, url: line.trim() };
}

/** Rows that take long enough to be watched. */
function dataFolder(): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'train.svm'), sampleText({ rows: 2000, columns: 500, perRow: 20 }));
  return folder;
}

/** Runs until it is stopped: its steps shrink so fast that it never gets there. */
const limits = ['--solver', 'dso', '--tolerance', '1e-15', '--epochs', '100000000'];
const endless = ['train', 'train.svm', ...limits];

function post(url: string, path: string): Promise<Response> {
  const { origin } = new URL(url);
  return fetch(url + path, { method: 'POST', headers: { Origin: origin } });
}

describe('dso ui', () => {
  test('prints its address, shows the runs of a folder, and leaves with a word', async () => {
    const folder = temporaryFolder();
    const lines = [startLine(firstId), beginLine(), ...epochLines(10), resultLine];
    writeRecord(join(folder, 'saved'), firstId, lines);
    const { process: child, finished, url } = await startUi(folder, ['saved']);
    const page = await fetch(url);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('<script');
    const runs = await fetch(`${url}api/runs`);
    expect(await runs.json()).toMatchObject({
      folder: 'saved',
      runs: [{ id: firstId, status: 'done', latest: { epoch: 10 } }],
    });
    const refused = await fetch(url.replace(/[0-9a-f]{32}/, '0'.repeat(32)));
    expect(refused.status).toBe(403);
    const listener = await Listener.open(url);
    child.kill('SIGINT');
    expect(await listener.heard('bye')).toEqual({ reason: 'dso ui has ended' });
    await listener.ended;
    expect(await finished).toMatchObject({ code: 0, stderr: '' });
  });

  test('waits for runs where there are none yet, and stops one that another process trains', async () => {
    const folder = dataFolder();
    const { url, saw } = await startUi(folder);
    await saw(/\.dso\/runs is not there yet: "dso train" makes it/);
    const listener = await Listener.open(url);
    const training = start(endless, { folder, environment: recorded });
    const { id } = await listener.heard('run', ({ status }) => status === 'running');
    await listener.heard('lines', (data) => data.lines.some(({ event }) => event === 'epoch'));
    const detail = await fetch(`${url}api/runs/${id}?points=100`);
    expect(await detail.json()).toMatchObject({ summary: { id, start: { data: 'train.svm' } } });
    expect((await post(url, `api/runs/${id}/stop`)).status).toBe(202);
    const ended = await listener.heard('run', ({ status }) => status !== 'running');
    expect(ended).toMatchObject({ id, status: 'done', result: { stopped: 'interrupted' } });
    const { code, stderr } = await training.finished;
    expect(code, stderr).toBe(130);
    expect((await readModel(join(folder, 'train.svm.model'))).columns).toBe(500);
    expect((await post(url, `api/runs/${id}/stop`)).status).toBe(409);
  });

  test('says over SSH how to get to the page', async () => {
    const environment = { ...alone, SSH_CONNECTION: '10.0.0.9 5000 10.0.0.1 22' };
    const { url, saw } = await startUi(temporaryFolder(), [], environment);
    const { port } = new URL(url);
    await saw(
      new RegExp(`run there: ssh -N -L ${port}:127\\.0\\.0\\.1:${port} \\S+@10\\.0\\.0\\.1\n`),
    );
  });

  test('refuses what it cannot do', async () => {
    const folder = temporaryFolder();
    const { url } = await startUi(folder);
    const { port } = new URL(url);
    const taken = await runDso(['ui', '--port', port, '--no-open'], { folder });
    expect(taken).toMatchObject({ code: 1 });
    expect(taken.stderr).toContain(`port ${port}: the port is in use`);
    writeFileSync(join(folder, 'file'), '');
    const file = await runDso(['ui', 'file'], { folder });
    expect(file).toMatchObject({ code: 2 });
    expect(file.stderr).toContain('file: not a folder; expected the one with the records of runs');
    expect(await runDso(['ui', '--port', '65536'], { folder })).toMatchObject({ code: 2 });
  });
});

describe('dso train --ui', () => {
  test('shows the run, also one that is not recorded, and ends it as Ctrl-C does', async () => {
    const folder = dataFolder();
    const flags = ['--ui', '--no-open', '--no-record'];
    const training = start([...endless, ...flags], { folder });
    let text = '';
    training.process.stderr.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    await training.saw(address);
    const [url] = address.exec(text)!;
    const listener = await Listener.open(url);
    const { id } = await listener.heard('run', ({ begin }) => begin !== undefined);
    await listener.heard('lines', (data) => data.lines.some(({ event }) => event === 'epoch'));
    await listener.heard('look', (look) => look.holders.length > 0);
    const list = await fetch(`${url}api/runs`);
    expect(await list.json()).toMatchObject({ own: id, runs: [{ id, status: 'running' }] });
    expect((await post(url, `api/runs/${id}/stop`)).status).toBe(202);
    await listener.heard('run', ({ status }) => status === 'done');
    await listener.heard('bye');
    expect((await training.finished).code).toBe(130);
    expect((await readModel(join(folder, 'train.svm.model'))).columns).toBe(500);
    expect(existsSync(join(folder, '.dso'))).toBe(false);
  });

  test('runs that end show up next to it', async () => {
    const folder = dataFolder();
    const runs = join(folder, 'saved');
    const environment = recorded;
    const first = await runDso(['train', 'train.svm', '--runs', 'saved'], { folder, environment });
    expect(first.code, first.stderr).toBe(0);
    const [{ id }] = listRuns(runs);
    const training = start([...endless, '--ui', '--no-open', '--runs', 'saved'], {
      folder,
      environment,
    });
    while (listRuns(runs).length < 2) await sleep(20);
    await training.saw(address);
    const [own, other] = listRuns(runs).map((run) => run.id);
    expect(other).toBe(id);
    training.process.kill('SIGINT');
    expect((await training.finished).code).toBe(130);
    const { url } = await startUi(folder, ['saved', '--no-open']);
    const figure = await fetch(`${url}api/figure?runs=${own},${other}&y=objective&x=epoch`);
    expect(figure.status).toBe(200);
    expect(await figure.text()).toContain('bound</text>');
  });
});
