import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { EventStream, messageOf } from '../../../../src/apps/dashboard/subscribers.ts';
import type { EpochLine, RunLine } from '../../../../src/reporting/records/record.ts';
import { ask } from '../../../support/http.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { DrivenRun } from './own-run.ts';
import {
  appendLines,
  beginLine,
  epochLine,
  epochLines,
  firstId,
  resultLine,
  secondId,
  startLine,
  writeRecord,
} from './records.ts';
import { Listener, serving } from './serving.ts';

const hasEvent = (event: RunLine['event']) => (data: { readonly lines: readonly RunLine[] }) =>
  data.lines.some((line) => line.event === event);

describe('a folder of records', () => {
  test('reports runs that appear, grow, end and disappear', async () => {
    const folder = temporaryFolder();
    const { url } = await serving({ folder });
    const listener = await Listener.open(url);
    writeRecord(folder, firstId, [startLine(firstId)]);
    expect(await listener.heard('run')).toMatchObject({ id: firstId, status: 'running' });
    appendLines(folder, firstId, [beginLine()]);
    expect(await listener.heard('lines', hasEvent('begin'))).toMatchObject({ id: firstId });
    await listener.heard('run', ({ begin }) => begin !== undefined);
    appendLines(folder, firstId, epochLines(3));
    const { lines } = await listener.heard('lines', hasEvent('epoch'));
    expect(lines).toEqual(epochLines(3));
    appendLines(folder, firstId, [resultLine]);
    const last = await listener.heard('run', ({ status }) => status === 'done');
    expect(last).toMatchObject({ latest: { epoch: 3 }, result: { code: 0 } });
    rmSync(join(folder, `${firstId}.jsonl`));
    expect(await listener.heard('gone')).toEqual({ id: firstId });
    expect(listener.all('run')).toHaveLength(3);
  });

  test('may come later than the page', async () => {
    const folder = join(temporaryFolder(), 'later', 'runs');
    const { url } = await serving({ folder });
    const listener = await Listener.open(url);
    writeRecord(folder, firstId, [startLine(firstId), resultLine]);
    expect(await listener.heard('run')).toMatchObject({ id: firstId, status: 'done' });
  });

  test('reports running runs to every page, and only what is new of them', async () => {
    const folder = temporaryFolder();
    writeRecord(folder, firstId, [startLine(firstId), beginLine(), resultLine]);
    writeRecord(folder, secondId, [startLine(secondId), beginLine(), ...epochLines(5)]);
    const { url } = await serving({ folder });
    const listeners = [await Listener.open(url), await Listener.open(url)];
    for (const listener of listeners) {
      expect(await listener.heard('run')).toMatchObject({ id: secondId, latest: { epoch: 5 } });
    }
    appendLines(folder, secondId, [epochLine(6)]);
    for (const listener of listeners) {
      expect(await listener.heard('lines')).toEqual({ id: secondId, lines: [epochLine(6)] });
      expect(listener.all('run')).toHaveLength(1);
    }
  });

  test('that cannot be read is an error of the list, and keeps no page away', async () => {
    const folder = join(temporaryFolder(), 'file');
    writeFileSync(folder, '');
    const { url, failures } = await serving({ folder });
    expect(await ask(`${url}api/runs`)).toMatchObject({ status: 400 });
    const listener = await Listener.open(url);
    while (failures.length === 0) await sleep(20);
    rmSync(folder);
    writeRecord(folder, firstId, [startLine(firstId), resultLine]);
    await listener.heard('run');
    const message = `${folder}: not a folder that can be read`;
    expect(new Set(failures.splice(0).map((error) => (error as Error).message))).toEqual(
      new Set([message]),
    );
  });

  test('leaves out epochs of a long batch, but not the last one', async () => {
    const folder = temporaryFolder();
    writeRecord(folder, firstId, [startLine(firstId)]);
    const { url } = await serving({ folder });
    const listener = await Listener.open(url);
    await listener.heard('run');
    appendLines(folder, firstId, [beginLine(), ...epochLines(3000)]);
    const { lines } = await listener.heard('lines');
    expect(lines[0].event).toBe('begin');
    expect(lines.length).toBeLessThanOrEqual(201);
    expect(lines.length).toBeGreaterThan(100);
    expect((lines.at(-1) as EpochLine).epoch).toBe(3000);
  });

  test('reports a run whose process is gone without a word', async () => {
    const folder = temporaryFolder();
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    await once(child, 'spawn');
    writeRecord(folder, firstId, [startLine(firstId, { pid: child.pid! })]);
    const { url } = await serving({ folder });
    const listener = await Listener.open(url);
    expect(await listener.heard('run')).toMatchObject({ status: 'running' });
    child.kill('SIGKILL');
    await once(child, 'exit');
    await listener.heard('run', ({ status }) => status === 'lost');
  });
});

describe('the run of this process', () => {
  test('reports its stage, its lines, and where blocks are', async () => {
    const own = new DrivenRun(firstId);
    const { url, dashboard } = await serving({ own });
    dashboard.stage('reading real-sim.svm', 0.25);
    const listener = await Listener.open(url);
    expect(await listener.heard('run')).toMatchObject({ id: firstId, status: 'running' });
    expect(await listener.heard('stage')).toEqual({
      id: firstId,
      text: 'reading real-sim.svm',
      fraction: 0.25,
    });
    own.live.add(beginLine());
    own.live.add(epochLine(1));
    expect(await listener.heard('lines')).toEqual({
      id: firstId,
      lines: [beginLine(), epochLine(1)],
    });
    await listener.heard('run', ({ begin }) => begin !== undefined);
    own.current = { epoch: 1, holders: [1, 0], elsewhere: [] };
    expect(await listener.heard('look')).toEqual({ id: firstId, ...own.current });
    own.live.add(resultLine);
    await listener.heard('run', ({ status }) => status === 'done');
  });

  test('sends a look again only when it is another one, or to somebody new', async () => {
    const own = new DrivenRun(firstId);
    own.current = { epoch: 1, holders: [1, 0], elsewhere: [] };
    const { url } = await serving({ own });
    const first = await Listener.open(url);
    await first.heard('look');
    const before = own.looks;
    while (own.looks < before + 3) await sleep(20);
    expect(first.all('look')).toHaveLength(1);
    const second = await Listener.open(url);
    await second.heard('look');
    own.current = { epoch: 2, holders: [0, 1], elsewhere: [] };
    await first.heard('look', ({ epoch }) => epoch === 2);
    await second.heard('look', ({ epoch }) => epoch === 2);
    expect(second.all('look')).toHaveLength(2);
  });

  test('is left alone while no page is open', async () => {
    const own = new DrivenRun(firstId);
    const { url } = await serving({ own });
    await fetch(`${url}api/runs`);
    expect(own).toMatchObject({ looks: 0, listeners: 0 });
    const listener = await Listener.open(url);
    await listener.heard('run');
    expect(own.listeners).toBe(1);
    while (own.looks === 0) await sleep(20);
    listener.leave();
    while (own.listeners > 0) await sleep(20);
    const { looks } = own;
    await sleep(300);
    expect(own.looks).toBe(looks);
  });

  test('continues when reading it fails', async () => {
    const own = new DrivenRun(firstId);
    own.look = () => {
      throw new Error('no look');
    };
    const { url, failures } = await serving({ own });
    const listener = await Listener.open(url);
    while (failures.length < 2) await sleep(20);
    own.live.add(beginLine());
    await listener.heard('lines');
    listener.leave();
    while (own.listeners > 0) await sleep(20);
    expect(failures.splice(0)).toContainEqual(new Error('no look'));
  });
});

describe('a page that does not read', () => {
  test('has messages left out, and gets the runs when it reads again', async () => {
    const missed: string[][] = [];
    const stream = new EventStream(
      (ids) => missed.push([...ids]),
      () => {},
    );
    const text = 'x'.repeat(100_000);
    for (let count = 0; count < 100; count++) {
      const lines = [{ event: 'notice', message: text }] as const;
      stream.send(messageOf('lines', { id: count % 2 ? firstId : secondId, lines }));
      stream.send(messageOf('look', { id: firstId, epoch: 1, holders: [], elsewhere: [] }));
    }
    const reader = stream.body.getReader();
    let bytes = 0;
    while (missed.length === 0) bytes += (await reader.read()).value!.byteLength;
    expect(missed).toEqual([[firstId, secondId]]);
    stream.end(messageOf('bye', { reason: 'over' }));
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      bytes += read.value.byteLength;
    }
    expect(bytes).toBeLessThan(500_000);
  });

  test('does the same over a real connection', async () => {
    const own = new DrivenRun(firstId);
    const { url } = await serving({ own });
    const [slow, quick] = [await Listener.open(url), await Listener.open(url)];
    await slow.heard('run');
    slow.pause();
    const message = 'x'.repeat(4 * 2 ** 20);
    for (let batch = 1; batch <= 8; batch++) {
      own.live.add({ event: 'notice', message });
      while (quick.all('lines').length < batch) await sleep(20);
    }
    slow.resume();
    while (slow.all('run').length < 2) await sleep(20);
    expect(slow.all('lines').length).toBeLessThan(8);
    own.live.add(epochLine(1));
    await slow.heard('lines', hasEvent('epoch'));
    expect(quick.all('run')).toHaveLength(1);
  });
});

describe('streams', () => {
  test('are 32 at most', async () => {
    const { url } = await serving();
    const listeners: Listener[] = [];
    for (let count = 0; count < 32; count++) listeners.push(await Listener.open(url));
    const refused = await ask(`${url}api/events`);
    expect(refused).toMatchObject({ status: 503, headers: { 'content-type': 'application/json' } });
    expect(await ask(`${url}api/events`, { method: 'HEAD' })).toMatchObject({ status: 200 });
    listeners[0].leave();
    let next: Listener | undefined;
    while (next === undefined) next = await Listener.open(url).catch(() => undefined);
  });

  test('get the reason and end when the server does, and so does a page that does not read', async () => {
    const own = new DrivenRun(firstId);
    const { url, dashboard } = await serving({ own });
    const [listener, slow] = [await Listener.open(url), await Listener.open(url)];
    await slow.heard('run');
    slow.pause();
    for (let batch = 1; batch <= 4; batch++) {
      own.live.add({ event: 'notice', message: 'x'.repeat(4 * 2 ** 20) });
      while (listener.all('lines').length < batch) await sleep(20);
    }
    own.live.add(resultLine);
    await dashboard.close('training has ended');
    await listener.ended;
    expect(listener.all('bye')).toEqual([{ reason: 'training has ended' }]);
    expect(listener.all('lines').at(-1)).toEqual({ id: firstId, lines: [resultLine] });
    expect(listener.all('run').at(-1)).toMatchObject({ status: 'done' });
    expect(own.listeners).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
  });
});
