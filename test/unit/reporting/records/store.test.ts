import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { DataError } from '../../../../src/errors.ts';
import type { RunLine } from '../../../../src/reporting/records/record.ts';
import { Recorder } from '../../../../src/reporting/records/recorder.ts';
import {
  findRun,
  listRuns,
  readRun,
  readSummary,
  requestStop,
} from '../../../../src/reporting/records/store.ts';
import {
  beginLine,
  epochLine,
  failureLine,
  recordText,
  reportLine,
  resultLine,
  runId,
  sampleLine,
  startLine,
} from '../../../support/run-lines.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { recording } from './support/recording.ts';

/** Writes a record as it is given. */
function put(folder: string, id: string, text: string | Uint8Array): void {
  writeFileSync(join(folder, `${id}.jsonl`), text);
}

/** A folder with one record, whose first line comes of itself. */
function folderWith(lines: readonly RunLine[], id = runId()) {
  const folder = temporaryFolder();
  put(folder, id, recordText([startLine({ id }), ...lines]));
  return { folder, id };
}

const epochs = (count: number) => Array.from({ length: count }, (_, index) => epochLine(index + 1));

describe('the list of runs', () => {
  test('is empty where there is no folder, or nothing in it', () => {
    const folder = temporaryFolder();
    expect(listRuns(folder)).toEqual([]);
    expect(listRuns(join(folder, 'none'))).toEqual([]);
  });

  test('says so if the folder is a file', () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    expect(() => listRuns(file)).toThrow(`${file}: not a folder that can be read`);
  });

  test('has the newest first, each with its lines', () => {
    const folder = temporaryFolder();
    const ids = [3, 1, 2].map((minutes) => runId(60 * minutes));
    const lines = [beginLine(), ...epochs(3), sampleLine(3), epochLine(4), resultLine];
    for (const id of ids) put(folder, id, recordText([startLine({ id }), ...lines]));
    const runs = listRuns(folder);
    expect(runs.map(({ id }) => id)).toEqual([ids[0], ids[2], ids[1]]);
    expect(runs[0]).toEqual({
      id: ids[0],
      status: 'done',
      start: startLine({ id: ids[0] }),
      begin: beginLine(),
      latest: epochLine(4),
      result: resultLine,
    });
  });

  test('reads what a recorder writes, behind a link too', () => {
    const parent = temporaryFolder();
    const folder = join(parent, 'runs');
    const start = startLine();
    const recorder = new Recorder({ folder, start });
    recorder.write(beginLine());
    for (let epoch = 1; epoch <= 3000; epoch++) recorder.write(epochLine(epoch));
    recorder.write(failureLine);
    recorder.close();
    symlinkSync(folder, join(parent, 'link'), 'dir');
    for (const path of [folder, join(parent, 'link')]) {
      expect(listRuns(path)).toEqual([
        {
          id: start.id,
          status: 'failed',
          start: expect.objectContaining(start) as unknown,
          begin: beginLine(),
          latest: epochLine(3000),
          failure: failureLine,
        },
      ]);
    }
  });

  test('finds first and last lines that are long, or that others surround', () => {
    const notices: RunLine[] = Array.from({ length: 500 }, (_, k) => ({
      event: 'notice',
      message: `${k} ${'note '.repeat(20)}`,
    }));
    const cells = Array.from({ length: 40_000 }, (_, k) => k);
    const begin = beginLine({ loads: { rows: [1], columns: [1], cells } });
    const features = Array.from({ length: 2000 }, (_, k) => ({ name: `word-${k}`, weight: k }));
    const samples = Array.from({ length: 9 }, (_, k) => sampleLine(k, { features }));
    const result = { ...resultLine, solver: 'x'.repeat(50_000) };
    const { folder, id } = folderWith([
      ...notices,
      begin,
      ...epochs(2000),
      ...samples,
      ...notices,
      result,
    ]);
    const [run] = listRuns(folder);
    expect(run).toEqual({
      id,
      status: 'done',
      start: startLine({ id }),
      begin,
      latest: epochLine(2000),
      result,
    });
    expect(readRun(folder, id).summary).toEqual(run);
    expect(readSummary(folder, id)).toEqual(run);
  });

  test('a run over a stream has a report', () => {
    const { folder } = folderWith([reportLine(1), reportLine(2), resultLine]);
    expect(listRuns(folder)[0]).toMatchObject({ status: 'done', report: reportLine(2) });
  });

  test('passes over what is no record', () => {
    const folder = temporaryFolder();
    const good = runId(100);
    put(folder, good, recordText([startLine({ id: good }), beginLine()]));
    const bytes = Uint8Array.from({ length: 100_000 }, (_, k) => (k * 7919) % 256);
    const junk: (string | Uint8Array)[] = [
      '',
      '\n\n\n',
      'not JSON\n',
      '[]\nnull\n"start"\n17\n',
      '{"event":"start"}\n',
      '{"event":"toString"}\n',
      `${JSON.stringify({ ...startLine(), options: [] })}\n`,
      bytes,
      'x'.repeat(5_000_000),
      recordText([beginLine(), epochLine(1), resultLine]),
      recordText([startLine()]).slice(0, -1),
    ];
    for (const [seconds, text] of junk.entries()) put(folder, runId(seconds), text);
    put(folder, 'baseline', recordText([startLine()]));
    mkdirSync(join(folder, `${runId(90)}.jsonl`));
    symlinkSync(join(folder, 'nowhere'), join(folder, `${runId(91)}.jsonl`));
    symlinkSync(folder, join(folder, `${runId(92)}.jsonl`));
    expect(listRuns(folder).map(({ id }) => id)).toEqual([good]);
    for (const name of readdirSync(folder)) {
      const id = name.replace('.jsonl', '');
      if (id !== good) expect(() => readRun(folder, id)).toThrow(DataError);
    }
  });

  test('a pipe by the name of a record does not hold anybody up', ({ skip }) => {
    const folder = temporaryFolder();
    try {
      execFileSync('mkfifo', [join(folder, `${runId()}.jsonl`)], { stdio: 'ignore' });
    } catch {
      skip('a system without mkfifo');
    }
    expect(listRuns(folder)).toEqual([]);
  });
});

describe('damage in a record', () => {
  test('unknown and incomplete lines are skipped', () => {
    const { folder, id } = folderWith([beginLine(), epochLine(1)]);
    const path = join(folder, `${id}.jsonl`);
    appendFileSync(path, '{"event":"later","x":1}\nnonsense\n\u0000\u0001\n');
    appendFileSync(path, recordText([epochLine(2)]));
    appendFileSync(path, '{"event":"epoch","epoch":3,"seconds":"late"}\n');
    appendFileSync(path, '{"event":"epoch","epoch":4,"sec\n');
    appendFileSync(path, recordText([epochLine(5)]).slice(0, -1));
    const { summary, series } = readRun(folder, id);
    expect(summary).toMatchObject({ status: 'running', latest: epochLine(2) });
    expect(series.epoch).toEqual([1, 2]);
    expect(listRuns(folder)).toEqual([summary]);
  });

  test('a line without an end that is far too long', () => {
    const { folder, id } = folderWith([beginLine(), epochLine(1)]);
    const message = 'x'.repeat(20_000_000);
    appendFileSync(join(folder, `${id}.jsonl`), `{"event":"notice","message":"${message}"}\n`);
    appendFileSync(join(folder, `${id}.jsonl`), recordText([epochLine(2), resultLine]));
    const { summary, notices } = readRun(folder, id);
    expect(summary).toMatchObject({ status: 'done', latest: epochLine(2) });
    expect(notices).toEqual([]);
    expect(listRuns(folder)).toEqual([summary]);
  });

  test('lines of another writer, with fields in another order, count as well', () => {
    const id = runId();
    const folder = temporaryFolder();
    const reversed = (line: RunLine) =>
      JSON.stringify(Object.fromEntries(Object.entries(line).reverse()), undefined, 0);
    const lines = [
      startLine({ id }),
      beginLine(),
      epochLine(1, { vector: 1 }),
      epochLine(1),
      sampleLine(1),
      reportLine(1),
      epochLine(2, { vector: 1 }),
    ];
    put(folder, id, `${lines.map(reversed).join('\n')}\n`);
    const { summary, series, samples, reports } = readRun(folder, id, { vector: 1 });
    expect(summary.latest).toEqual(epochLine(2, { vector: 1 }));
    expect(series.epoch).toEqual([1, 2]);
    expect([samples, reports]).toEqual([[sampleLine(1)], [reportLine(1)]]);
  });
});

describe('what has become of a run', () => {
  const statusIn = (folder: string) => listRuns(folder).map(({ status }) => status);

  test('running as long as its process is there, lost when it has been killed', async () => {
    const folder = temporaryFolder();
    const { child, ended } = await recording(folder, 'stay');
    expect(statusIn(folder)).toEqual(['running']);
    child.kill('SIGKILL');
    await ended;
    expect(statusIn(folder)).toEqual(['lost']);
  });

  test('lost if another process has its number', ({ skip }) => {
    if (!existsSync('/proc/self/stat')) skip('a system without /proc');
    const folder = temporaryFolder();
    const id = runId();
    // This process is there, but it did not begin with the machine.
    put(folder, id, recordText([startLine({ id, began: 1 }), beginLine()]));
    expect(statusIn(folder)).toEqual(['lost']);
    put(folder, id, recordText([startLine({ id }), beginLine()]));
    expect(statusIn(folder)).toEqual(['running']);
  });

  test.each([0, -1, 0.5, 2 ** 30])('lost if its process is %d', (pid) => {
    const folder = temporaryFolder();
    const id = runId();
    put(folder, id, recordText([startLine({ id, pid }), beginLine()]));
    expect(statusIn(folder)).toEqual(['lost']);
  });

  test('on another machine: running while its record is being written', () => {
    const folder = temporaryFolder();
    const id = runId();
    put(folder, id, recordText([startLine({ id, host: 'elsewhere', pid: 1 }), beginLine()]));
    expect(statusIn(folder)).toEqual(['running']);
    const before = Date.now() / 1000 - 600;
    utimesSync(join(folder, `${id}.jsonl`), before, before);
    expect(statusIn(folder)).toEqual(['lost']);
    expect(readRun(folder, id).summary.status).toBe('lost');
  });
});

describe('a run with its curves', () => {
  test('all epochs, or every k-th of them and the last', () => {
    const { folder, id } = folderWith([beginLine(), ...epochs(1001), resultLine]);
    const all = readRun(folder, id);
    expect(all).toMatchObject({ vector: 0, epochs: 1001, samples: [], reports: [], notices: [] });
    expect(all.series.epoch).toEqual(epochs(1001).map(({ epoch }) => epoch));
    expect(all.series.dual.slice(0, 2)).toEqual([-0.5, 0]);
    expect(Object.keys(all.series)).toEqual([
      'epoch',
      'seconds',
      'passes',
      'primal',
      'dual',
      'relativeGap',
    ]);
    const few = readRun(folder, id, { points: 5 });
    expect(few.epochs).toBe(1001);
    expect(few.series.epoch).toEqual([1, 251, 501, 751, 1001]);
    expect(few.series.seconds).toEqual([1, 251, 501, 751, 1001].map((epoch) => epoch / 8));
  });

  test.each([1, 2, 3, 7, 10, 99, 100, 101, 1000])('never more than %d points', (points) => {
    const { folder, id } = folderWith([beginLine(), ...epochs(100), resultLine]);
    const { epoch } = readRun(folder, id, { points }).series;
    expect(epoch.length).toBeLessThanOrEqual(points);
    expect(epoch.length).toBeGreaterThanOrEqual(Math.min(points, 100) / 2);
    expect(epoch.at(-1)).toBe(100);
    expect(new Set(epoch).size).toBe(epoch.length);
  });

  test('what was measured on test rows, and bytes sent so far, where there are any', () => {
    const { folder, id } = folderWith([
      beginLine(),
      epochLine(1, { bytes: 5, dual: null, relativeGap: null }),
      epochLine(2, { bytes: 9, testError: 0.25 }),
      epochLine(3, { testError: 0.125, testAuprc: 0.5 }),
    ]);
    expect(readRun(folder, id).series).toMatchObject({
      dual: [null, 0, 0.5 - 1 / 3],
      relativeGap: [null, 1, 2 / 3],
      testError: [null, 0.25, 0.125],
      testAuprc: [null, null, 0.5],
      bytes: [5, 9, 9],
    });
  });

  test('one vector of several', () => {
    const vectors = [0, 1, 12].flatMap((vector) =>
      Array.from({ length: vector + 2 }, (_, index) => epochLine(index + 1, { vector })),
    );
    const { folder, id } = folderWith([beginLine({ vectors: 13 }), ...vectors]);
    expect(readRun(folder, id).series.epoch).toEqual([1, 2]);
    expect(readRun(folder, id, { vector: 1 }).series.epoch).toEqual([1, 2, 3]);
    const last = readRun(folder, id, { vector: 12, points: 2 });
    expect(last).toMatchObject({ vector: 12, epochs: 14, series: { epoch: [1, 14] } });
    expect(readRun(folder, id, { vector: 5 })).toMatchObject({ epochs: 0, series: { epoch: [] } });
    for (const vector of [0, 1, 5]) {
      const { latest } = readRun(folder, id, { vector }).summary;
      expect(latest).toEqual(epochLine(14, { vector: 12 }));
    }
  });

  test('which of several vectors have come to the tolerance, by their newest epochs', () => {
    const gaps: [number, number | null][] = [
      [12, 1e-4],
      [3, 0.5],
      [1, 1e-5],
      [3, 1e-3],
      [1, 2e-3],
      [0, null],
    ];
    const lines = gaps.map(([vector, relativeGap], k) => epochLine(k + 1, { vector, relativeGap }));
    const { folder, id } = folderWith([beginLine({ vectors: 13 }), ...lines]);
    for (const vector of [0, 5, 12]) {
      expect(readRun(folder, id, { vector }).reached).toEqual([3, 12]);
    }
    const single = folderWith([beginLine(), epochLine(9_000)]);
    expect(readRun(single.folder, single.id)).not.toHaveProperty('reached');
  });

  test('samples, reports and notices; of very many samples a part, with the newest', () => {
    const samples = Array.from({ length: 700 }, (_, epoch) => sampleLine(epoch));
    const notice: RunLine = { event: 'notice', message: 'note' };
    const { folder, id } = folderWith([beginLine(), ...samples, notice, reportLine(7)]);
    const detail = readRun(folder, id);
    expect(detail.notices).toEqual(['note']);
    expect(detail.reports).toEqual([reportLine(7)]);
    expect(detail.samples.length).toBeGreaterThan(50);
    expect(detail.samples.length).toBeLessThan(300);
    expect(detail.samples[0]).toEqual(sampleLine(0));
    expect(detail.samples.at(-1)).toEqual(sampleLine(699));
  });

  test('nothing after its last line counts', () => {
    const { folder, id } = folderWith([beginLine(), epochLine(1), resultLine, epochLine(2)]);
    expect(readRun(folder, id)).toMatchObject({ epochs: 1, summary: { latest: epochLine(1) } });
  });

  test('can be read while its process appends', async () => {
    const folder = temporaryFolder();
    const { id } = await recording(folder, 'append');
    let before = 0;
    await vi.waitFor(
      () => {
        const { summary, series, epochs: count } = readRun(folder, id, { points: 50 });
        expect(summary.status).toBe('running');
        expect(series.epoch.at(-1)).toBe(summary.latest!.epoch);
        expect(count).toBeGreaterThanOrEqual(before);
        expect(listRuns(folder)[0].latest!.epoch).toBeGreaterThanOrEqual(summary.latest!.epoch);
        before = count;
        expect(count).toBeGreaterThan(3000);
      },
      { timeout: 100_000, interval: 5 },
    );
  });

  test('a name from outside never leads out of the folder', () => {
    const { folder, id } = folderWith([beginLine()]);
    const inside = join(folder, 'inside');
    mkdirSync(inside);
    for (const name of [`../${id}`, `/${id}`, `${id}/../${id}`, '..', '', `${id}\0`]) {
      expect(() => readRun(inside, name)).toThrow('not the name of a run');
      expect(() => readSummary(inside, name)).toThrow('not the name of a run');
      expect(() => requestStop(inside, name)).toThrow('not the name of a run');
    }
    expect(() => readRun(inside, id)).toThrow(`${inside}: no record of the run ${id}`);
  });
});

describe('the run that somebody means', () => {
  const ids = ['20261115-212345-3f9c', '20261115-212346-00aa', '20261116-000000-3f9d'];
  function threeRuns(): string {
    const folder = temporaryFolder();
    for (const id of ids) put(folder, id, recordText([startLine({ id }), resultLine]));
    return folder;
  }

  test.each([
    ['last', ids[2]],
    [ids[0], ids[0]],
    ['20261116', ids[2]],
    ['00aa', ids[1]],
    ['3f9c', ids[0]],
  ])('%s is %s', (text, id) => {
    expect(findRun(threeRuns(), text)).toBe(id);
  });

  test('the last of those that began in the same second is the one that began last', () => {
    const folder = temporaryFolder();
    const begun = [
      ['20261115-212345-ffff', '2026-11-15T21:23:45.100Z'],
      ['20261115-212345-0000', '2026-11-15T21:23:45.900Z'],
      ['20261115-212345-8888', '2026-11-15T21:23:45.500Z'],
      // The clock of a record counts only within its second.
      ['20261115-212344-1111', '2027-01-01T00:00:00.000Z'],
    ];
    for (const [id, started] of begun) put(folder, id, recordText([startLine({ id, started })]));
    expect(findRun(folder, 'last')).toBe(begun[1][0]);
    expect(listRuns(folder).map(({ id }) => id.slice(-4))).toEqual([
      '0000',
      '8888',
      'ffff',
      '1111',
    ]);
  });

  test('digits that a list shows go before the beginnings of others', () => {
    const folder = temporaryFolder();
    for (const id of [...ids, '20261114-000000-2026']) {
      put(folder, id, recordText([startLine({ id })]));
    }
    expect(findRun(folder, '2026')).toBe('20261114-000000-2026');
  });

  test.each(['20261115', '2026', ''])('%j could be several', (text) => {
    const folder = threeRuns();
    const message = `${folder}: "${text}" is the beginning or end of several runs: `;
    expect(() => findRun(folder, text)).toThrow(message);
    expect(() => findRun(folder, text)).toThrow(ids[1]);
    expect(() => findRun(folder, text)).toThrow(DataError);
  });

  test('or none, and then there are others', () => {
    const folder = threeRuns();
    const all = ids.toReversed().join(', ');
    expect(() => findRun(folder, 'ffff')).toThrow(`${folder}: no run "ffff"; there are ${all}`);
    const one = temporaryFolder();
    put(one, ids[0], recordText([startLine({ id: ids[0] })]));
    expect(() => findRun(one, 'ffff')).toThrow(`; there is ${ids[0]}`);
    expect(() => findRun(temporaryFolder(), 'last')).toThrow('no run is recorded there');
  });

  test('of many runs only the newest are named', () => {
    const folder = temporaryFolder();
    for (let seconds = 0; seconds < 15; seconds++) {
      const id = runId(seconds);
      put(folder, id, recordText([startLine({ id })]));
    }
    expect(() => findRun(folder, 'x')).toThrow(/-212359-.*-212350-\w+ and 5 older$/);
  });
});

describe('a request to stop', () => {
  test('reaches the process, whose record ends as it should', async () => {
    const folder = temporaryFolder();
    const { id, ended } = await recording(folder, 'stay');
    expect(requestStop(folder, id)).toBe(true);
    await ended;
    expect(listRuns(folder)[0]).toMatchObject({ status: 'done', latest: epochLine(10) });
    expect(readdirSync(folder)).toEqual([`${id}.jsonl`]);
    expect(requestStop(folder, id)).toBe(false);
    expect(readdirSync(folder)).toEqual([`${id}.jsonl`]);
  });

  test('can be made twice, and changes no file that is there', () => {
    const { folder, id } = folderWith([beginLine()]);
    const file = join(folder, 'file');
    writeFileSync(file, 'mine');
    symlinkSync(file, join(folder, `${id}.stop`));
    expect(requestStop(folder, id)).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });

  test('of a run that is not there is refused', () => {
    const folder = temporaryFolder();
    expect(() => requestStop(folder, runId())).toThrow(DataError);
    expect(readdirSync(folder)).toEqual([]);
  });
});
