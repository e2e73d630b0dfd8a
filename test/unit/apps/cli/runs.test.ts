import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import picocolors from 'picocolors';
import { describe, expect, test } from 'vitest';
import { addCommand, type Invocation } from '../../../../src/apps/cli/command.ts';
import { commands } from '../../../../src/apps/cli/commands/index.ts';
import {
  listRunsCommand,
  recordHint,
  showRunCommand,
  stopRun,
} from '../../../../src/apps/cli/commands/runs.ts';
import type { RunListFlags, RunShowFlags } from '../../../../src/apps/cli/options.ts';
import { main } from '../../../../src/apps/cli/program.ts';
import { Terminal } from '../../../../src/apps/cli/terminal.ts';
import type { MulticlassMetrics } from '../../../../src/model/metrics/evaluate.ts';
import { formatWhen } from '../../../../src/reporting/format.ts';
import { commandLine, shellWord, statusText } from '../../../../src/reporting/records/labels.ts';
import type {
  BeginLine,
  EpochLine,
  ResultLine,
  RunDetail,
  RunSummary,
  StartLine,
} from '../../../../src/reporting/records/record.ts';
import { Recorder } from '../../../../src/reporting/records/recorder.ts';
import { listRuns } from '../../../../src/reporting/records/store.ts';
import { runTable } from '../../../../src/reporting/text/run-table.ts';
import { memoryIo } from '../../../support/memory-io.ts';
import { beginLine, epochLine, startLine } from '../../../support/run-lines.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const now = new Date('2026-11-15T21:30:00Z');

function startOf(id: string, more: Partial<StartLine> = {}): StartLine {
  return startLine({ id, data: 'train.svm', model: 'train.svm.model', ...more });
}

const begun = beginLine({
  rows: 1000,
  columns: 200,
  nonzeros: 5000,
  loads: { rows: [500, 500], columns: [100, 100] },
  imbalance: { rows: 0, columns: 0.01, nonzeros: 0.025 },
  seconds: { read: 0.1, partition: 0.02 },
});

function epochOf(epoch: number, more: Partial<EpochLine> = {}): EpochLine {
  return epochLine(epoch, {
    seconds: epoch / 2,
    passes: 2 * epoch,
    primal: 0.25 + 2 ** -epoch,
    dual: epoch < 3 ? null : 0.25 - 2 ** -epoch,
    relativeGap: epoch < 3 ? null : 2 ** -epoch,
    ...more,
  });
}

const ended: ResultLine = {
  event: 'result',
  ended: '2026-11-15T21:23:55.000Z',
  code: 0,
  model: 'train.svm.model',
  epochs: 10,
  passes: 20,
  primal: 0.251,
  dual: 0.2508,
  relativeGap: 9e-4,
  stopped: 'converged',
  seconds: { read: 0.1, partition: 0.02, train: 5, total: 5.5 },
};

/** Writes a record; the lines beyond the tenth epoch are the caller's. */
function record(
  folder: string,
  id: string,
  options: { start?: Partial<StartLine>; begin?: Partial<BeginLine>; end?: ResultLine } = {},
): Recorder {
  const recorder = new Recorder({ folder, start: startOf(id, options.start) });
  recorder.write({ ...begun, ...options.begin });
  for (let epoch = 1; epoch <= 10; epoch++) recorder.write(epochOf(epoch));
  if (options.end) recorder.write(options.end);
  return recorder;
}

const ids = ['20261115-212345-3f9c', '20261115-212200-0001', '20261114-100000-abcd'] as const;

/** A folder with a run that has converged, one that was stopped and one that failed. */
function threeRuns(): string {
  const folder = join(temporaryFolder(), 'runs');
  record(folder, ids[0], { end: ended }).close();
  const stopped = { ...ended, stopped: 'interrupted', code: 130 } as const;
  record(folder, ids[1], { end: stopped }).close();
  const failed = record(folder, ids[2]);
  failed.write({ event: 'notice', message: 'something to know' });
  failed.write({ event: 'failure', ended: ended.ended, message: 'no space left' });
  failed.close();
  return folder;
}

function call(options: Parameters<typeof memoryIo>[0] = {}) {
  const io = memoryIo({ environment: { NO_COLOR: '1', LANG: 'C.UTF-8' }, ...options });
  return { io, terminal: new Terminal(io) };
}

function invocation<Flags>(flags: Flags, terminal: Terminal): Invocation<Flags> {
  return { flags, terminal, words: [], program: new Command() };
}

describe('dso runs', () => {
  test('a line for each, the newest first', async () => {
    const { io, terminal } = call();
    await listRunsCommand(invocation({ runs: threeRuns() }, terminal));
    const [head, ...lines] = io.stdout.text.trimEnd().split('\n');
    expect(head).toMatch(
      /^id +when +data +solver +problem +lambda +epochs +objective +gap +time +ended$/,
    );
    expect(lines.map((line) => line.slice(0, 20))).toEqual(ids);
    expect(lines[0]).toMatch(
      /train\.svm {2}ring-rows {2}hinge, l2 +1e-5 +10 +0\.251 +9\.0e-4 {2}5\.0 s {2}converged$/,
    );
    expect(lines[1]).toMatch(/ {2}stopped$/);
    // Of a run without a result what was last known.
    expect(lines[2]).toMatch(/ 10 +0\.250977 +9\.8e-4 {2}5\.0 s {2}failed$/);
  });

  test('as JSON', async () => {
    const { io, terminal } = call();
    await listRunsCommand(invocation({ runs: threeRuns(), json: true }, terminal));
    const runs = JSON.parse(io.stdout.text) as RunSummary[];
    expect(runs.map(({ id, status }) => [id, status])).toEqual([
      [ids[0], 'done'],
      [ids[1], 'done'],
      [ids[2], 'failed'],
    ]);
    expect(runs[0].result).toMatchObject({ relativeGap: 9e-4 });
  });

  test('some of them, or all', async () => {
    const folder = join(temporaryFolder(), 'runs');
    for (let index = 0; index < 22; index++) {
      record(folder, `20261115-2123${10 + index}-0000`, { end: ended }).close();
    }
    const count = async (flags: RunListFlags) => {
      const { io, terminal } = call();
      await listRunsCommand(invocation({ runs: folder, ...flags }, terminal));
      return [io.stdout.text.split('\n').length - 2, io.stderr.text];
    };
    expect(await count({})).toEqual([20, 'and 2 earlier runs: --all lists them\n']);
    expect(await count({ number: 21 })).toEqual([21, 'and 1 earlier run: --all lists them\n']);
    expect(await count({ all: true })).toEqual([22, '']);
  });

  test('the hint names the folder, unless it is the default', () => {
    expect(['.dso/runs', 'old', 'my runs'].map(recordHint)).toEqual([
      'train',
      'train --runs old',
      "train --runs 'my runs'",
    ]);
  });

  test('a record whose first line is damaged is named', async () => {
    const { io, terminal } = call();
    const folder = temporaryFolder();
    const path = join(folder, '20261115-090000-abcd.jsonl');
    writeFileSync(path, '{"line":"sta\n');
    await listRunsCommand(invocation({ runs: folder }, terminal));
    expect(io.stderr.text).toContain(`note: ${path} cannot be read: its first line is damaged\n`);
  });

  test('a record that is empty has been made this moment, and a link to a folder is none', async () => {
    const { io, terminal } = call();
    const folder = temporaryFolder();
    writeFileSync(join(folder, '20261115-090000-abcd.jsonl'), '');
    symlinkSync(folder, join(folder, '20261115-090000-abce.jsonl'));
    await listRunsCommand(invocation({ runs: folder }, terminal));
    expect(io.stderr.text).not.toContain('cannot be read');
  });

  test('none are there: it says how to make one', async () => {
    const { io, terminal } = call();
    const folder = join(temporaryFolder(), 'nowhere');
    await listRunsCommand(invocation({ runs: folder }, terminal));
    expect(io.stderr.text).toBe(
      `no runs in ${folder}; "dso train --runs ${folder}" records one there\n`,
    );
    expect(io.stdout.text).toBe('');
    const json = call();
    await listRunsCommand(invocation({ runs: folder, json: true }, json.terminal));
    expect(json.io.stdout.text).toBe('[]\n');
  });
});

describe('the table', () => {
  const lostId = '20261101-120000-00ff';
  const data = '/a/path/of/many/folders/and/so/on/train.svm';
  const runs: RunSummary[] = [
    { id: ids[0], status: 'done', start: startOf(ids[0]), begin: begun, result: ended },
    { id: ids[1], status: 'running', start: startOf(ids[1], { data }), latest: epochOf(1) },
    { id: lostId, status: 'lost', start: startOf(lostId, { started: '2026-11-01T12:00:00Z' }) },
    {
      id: ids[2],
      status: 'done',
      start: startOf(ids[2], { loss: 'logistic\n', options: { progressive: true } }),
      result: { ...ended, stopped: 'stream' },
      report: {
        event: 'report',
        seconds: 3,
        rows: 1000,
        loss: 0.5,
        recentLoss: 0.4,
        error: null,
        recentError: null,
      },
    },
  ];
  const colours = picocolors.createColors(false);

  test.each([30, 40, 60, 80, 100, 120, 200])('is no wider than %i columns', (width) => {
    const lines = runTable(runs, { width, colours, now });
    expect(lines).toHaveLength(5);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(width);
    expect(lines[1]).toContain('3f9c');
  });

  test('keeps what matters most', () => {
    const head = (width: number) =>
      runTable(runs, { width, colours, now })[0].trim().split(/\s+/).join(' ');
    expect(head(45)).toBe('id data gap ended');
    expect(head(60)).toBe('id data solver objective gap ended');
    expect(head(80)).toBe('id data solver problem objective gap ended');
    expect(head(Infinity)).toBe(
      'id when data solver problem lambda epochs objective gap time ended',
    );
  });

  test('has the name of the data without its folders, and the solver that a stream has', () => {
    const lines = runTable(runs, { width: 200, colours, now });
    expect(lines[2]).toMatch(
      / {2}train\.svm +auto +hinge, l2 +– +1 +0\.75 +– {2}0\.50 s {2}running$/,
    );
    expect(lines[4]).toMatch(/ {2}train\.svm +sgd +.* end of stream$/);
    const long = startOf(ids[0], { data: `x/${'very-'.repeat(9)}long.svm` });
    const [, line] = runTable([{ ...runs[0], start: long }], { width: 200, colours, now });
    expect(line).toMatch(/ {2}…[very-]+long\.svm {2}/);
  });

  test('ids are whole where there is room, else as short as they may be', () => {
    const first = (width: number, all?: string[]) =>
      runTable(runs, { width, colours, now, ...(all && { ids: all }) })[1].split(' ')[0];
    expect(first(200)).toBe(ids[0]);
    expect(first(80)).toBe('3f9c');
    // Another run, which is not in the table, ends so too.
    expect(first(80, [...runs.map(({ id }) => id), '20260101-000000-3f9c'])).toBe(ids[0]);
  });

  test('names, where some run has one', () => {
    const named = { ...runs[0], start: startOf(ids[0], { name: 'the base line of everything' }) };
    const [head, line, other] = runTable([named, runs[1]], { width: 200, colours, now });
    expect(head).toMatch(/ name +data /);
    expect(line).toContain('  the base line of everyt…  ');
    expect(other).toContain(' train.svm ');
    expect(runTable(runs, { width: 200, colours, now })[0]).not.toContain('name');
  });

  test('gaps are rounded up: what is certified was proven', () => {
    const gap = (relativeGap: number) =>
      runTable([{ ...runs[0], result: { ...ended, relativeGap } }], {
        width: 200,
        colours,
        now,
      })[1];
    expect(gap(5.71e-10)).toContain(' 5.8e-10 ');
    expect(gap(Infinity)).toContain(' – ');
  });

  test('how runs end is coloured, and said', () => {
    const lines = runTable(runs, { width: 200, colours: picocolors.createColors(true), now });
    expect(lines[1]).toContain('\u001b[32mconverged\u001b[39m');
    expect(lines[2]).toContain('\u001b[36mrunning\u001b[39m');
    expect(lines[3]).toContain('\u001b[31mlost\u001b[39m');
    expect(lines[4]).toContain('\u001b[32mend of stream\u001b[39m');
    const says = (stopped: ResultLine['stopped']) =>
      statusText({ ...runs[0], result: { ...ended, ...(stopped && { stopped }) } });
    expect((['epoch-limit', 'time-limit', 'early-stop', 'interrupted'] as const).map(says)).toEqual(
      ['epoch limit', 'time limit', 'early stop', 'stopped'],
    );
  });

  test('when', () => {
    const ago = (seconds: number) =>
      formatWhen(new Date(now.getTime() - 1000 * seconds).toISOString(), now);
    expect([-5, 0, 59, 60, 3599, 3600, 86_399].map(ago)).toEqual([
      '0 s ago',
      '0 s ago',
      '59 s ago',
      '1 min ago',
      '59 min ago',
      '1 h ago',
      '23 h ago',
    ]);
    const date = new Date(2026, 2, 4, 5, 6);
    expect(formatWhen(date.toISOString(), now)).toBe('2026-03-04 05:06');
    expect(formatWhen('yesterday', now)).toBe('–');
  });
});

describe('the command line to repeat a run', () => {
  const summary = (more: Partial<StartLine>): RunSummary => ({
    id: ids[0],
    status: 'done',
    start: startOf(ids[0], more),
  });

  test('is what was typed, quoted for a shell', () => {
    const words = ['train', "it's here.svm", '--lambda', '1e-5', '-o', 'a/b.model', ''];
    expect(commandLine(summary({ words }), 'dso')).toBe(
      `dso train 'it'\\''s here.svm' --lambda 1e-5 -o a/b.model ''`,
    );
    expect(shellWord('$(rm *)')).toBe(`'$(rm *)'`);
  });

  test('is made of the options where that is not known', () => {
    const options = { lambda: 1e-7, 'l1-ratio': 0.5, svrg: false, auprc: true, test: 'b c' };
    expect(commandLine(summary({ options }), 'dso')).toBe(
      `dso train train.svm --lambda 1e-7 --l1-ratio 0.5 --no-svrg --auprc --test 'b c'`,
    );
  });
});

describe('dso runs show', () => {
  async function show(
    folder: string,
    run: string,
    flags: RunShowFlags = {},
    options: Parameters<typeof memoryIo>[0] = {},
  ): Promise<string> {
    const { io, terminal } = call(options);
    await showRunCommand(invocation({ runs: folder, ...flags }, terminal), run);
    return io.stdout.text;
  }

  test('everything about a run, and its charts', async () => {
    const text = await show(threeRuns(), 'last');
    for (const line of [
      /^run 20261115-212345-3f9c: converged, started .+/,
      /^command +dso train train\.svm --lambda 0\.00001$/m,
      /^goal +tolerance 0\.001$/m,
      /^data +train\.svm: 1,000 rows × 200 columns, 5,000 non-zeros$/m,
      /^problem +hinge loss, l2 penalty, lambda 1e-5$/m,
      /^solver +ring-rows on 2 threads, grid of 2 × 2$/m,
      /^imbalance +.*0\.00 % of rows, 1\.00 % of columns, 2\.50 % of non-zeros$/m,
      /^epochs +10 \(20\.0 passes over the data\)$/m,
      /^objective +0\.251, lower bound 0\.2508$/m,
      /^certificate +within 0\.091 % of the optimum \(certified: /m,
      /^time +5\.5 s: read 0\.10 s, lay out 0\.02 s, train 5\.0 s$/m,
      /^model +train\.svm\.model \(not there\)$/m,
      /^by +dso 1\.2\.3, process \d+ on /m,
      /^relative gap {2}╌╌ tolerance 0\.001$/m,
      /^objective {2}o objective {2}x lower bound$/m,
      / 5 s$/m,
    ]) {
      expect(text).toMatch(line);
    }
    expect(text).not.toMatch(/^name/m);
    for (const line of text.slice(text.indexOf('relative gap  ')).split('\n')) {
      expect(line.length).toBeLessThanOrEqual(80);
    }
  });

  test('its name, and the command as anybody would type it', async () => {
    const folder = join(temporaryFolder(), 'runs');
    const words = ['train', 'train.svm', '--name', 'base line'];
    record(folder, ids[0], { start: { name: 'base line', words }, end: ended }).close();
    const { io, terminal } = call();
    Object.assign(io, { command: 'node bin/dso.js' });
    await showRunCommand(invocation({ runs: folder }, terminal), 'last');
    const text = io.stdout.text;
    expect(text).toMatch(/^name +base line$/m);
    expect(text).toMatch(/^command +dso train train\.svm --name 'base line'$/m);
  });

  test('a bound below 0 is one of a custom loss', async () => {
    const boundOf = async (loss: string) => {
      const folder = join(temporaryFolder(), 'runs');
      const end = { ...ended, dual: -2, stopped: 'precision', relativeGap: 9 } as const;
      record(folder, ids[0], { start: { loss: 'hinge', options: { loss } }, end }).close();
      return (await show(folder, 'last')).match(/(?<=lower bound |optimum at least )-?\d+$/gm);
    };
    expect(await boundOf('hinge')).toEqual(['0', '0']);
    expect(await boundOf('./hinge.mjs')).toEqual(['-2', '-2']);
  });

  test('charts before the long table of many classes', async () => {
    const folder = join(temporaryFolder(), 'runs');
    const metrics: MulticlassMetrics = {
      task: 'multi-class',
      rows: 3,
      accuracy: 1,
      error: 0,
      macroF1: 1,
      weightedF1: 1,
      auc: 1,
      logLoss: null,
      classes: [],
      confusion: [],
    };
    record(folder, ids[0], { end: { ...ended, classes: [1, 2, 3], test: metrics } }).close();
    const text = await show(folder, 'last');
    expect(text.indexOf('\nrelative gap ')).toBeGreaterThan(0);
    expect(text.indexOf('\ntest data')).toBeGreaterThan(text.indexOf('\nrelative gap '));
  });

  test('what failed says why, and what was noticed', async () => {
    const text = await show(threeRuns(), 'abcd');
    expect(text).toMatch(/^run 20261114-100000-abcd: failed/);
    expect(text).toMatch(/^failure +no space left$/m);
    expect(text).toContain('notes\nsomething to know\n');
    expect(text).toMatch(/^certificate +within 0\.098 % of the optimum/m);
  });

  test('the model, where it is', async () => {
    const parent = temporaryFolder();
    const folder = join(parent, '.dso', 'runs');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(parent, 'train.svm.model'), 'x'.repeat(1500));
    record(folder, ids[0], { end: ended }).close();
    expect(await show(folder, 'last')).toMatch(/^model +train\.svm\.model \(1\.5 kB\)$/m);
  });

  test('threads, memory and weights of the newest sample', async () => {
    const folder = join(temporaryFolder(), 'runs');
    const recorder = record(folder, ids[0]);
    const thread = { first: 0, computing: 3, waiting: 1, communicating: 0, bytes: 0 };
    recorder.write({
      event: 'sample',
      epoch: 10,
      seconds: 5,
      memory: 1.5e8,
      threads: [thread, { ...thread, first: 1, computing: 4, waiting: 0, bytes: 2500 }],
      features: [
        { name: 'money', weight: 1.25 },
        { name: 'free\t', weight: -0.5 },
      ],
    });
    recorder.write(ended);
    recorder.close();
    const text = await show(folder, 'last');
    expect(text).toMatch(/^memory +150 MB$/m);
    expect(text).toContain(
      'threads\n' +
        'from worker 0  computed 75.00 %, waited 25.00 %\n' +
        'from worker 1  computed 100.00 %, waited 0.00 %, sent 2.5 kB\n',
    );
    expect(text).toMatch(/^largest weights\nmoney +1\.25\n"free\\t" +-0\.5\n/m);
  });

  test('one of several vectors', async () => {
    const folder = join(temporaryFolder(), 'runs');
    const recorder = new Recorder({ folder, start: startOf(ids[0]) });
    recorder.write({ ...begun, vectors: 3 });
    for (const vector of [0, 1, 2]) {
      for (let epoch = 1; epoch <= 4 + vector; epoch++) {
        recorder.write(epochOf(epoch, { vector }));
      }
    }
    recorder.write(ended);
    recorder.close();
    const text = await show(folder, 'last', { vector: 2, over: 'epochs' });
    expect(text).toMatch(/^curves +class 2 of 3, 5 epochs$/m);
    expect(text).toMatch(/^relative gap, class 2 of 3 /m);
    expect(text).toMatch(/ 5 epochs$/m);
    const detail = JSON.parse(await show(folder, 'last', { vector: 3, json: true })) as RunDetail;
    expect([detail.vector, detail.series.epoch]).toEqual([2, [1, 2, 3, 4, 5, 6]]);
    await expect(show(folder, 'last', { vector: 4 })).rejects.toThrow(
      `--vector 4: run ${ids[0]} has 3 vectors of weights`,
    );
  });

  test('a stream, which has no epochs', async () => {
    const folder = join(temporaryFolder(), 'runs');
    const options = { progressive: true };
    const recorder = new Recorder({ folder, start: startOf(ids[0], { options }) });
    for (const k of [1, 2, 3, 4]) {
      const [loss, error] = [1 / k, 0.5 / k];
      recorder.write({
        event: 'report',
        seconds: k,
        rows: 1000 * k,
        loss,
        recentLoss: loss / 2,
        error,
        recentError: null,
      });
    }
    recorder.write({ ...ended, stopped: 'stream' });
    recorder.close();
    const text = await show(folder, 'last');
    expect(text).toMatch(/^run \S+: end of stream/);
    expect(text).not.toMatch(/^goal/m);
    expect(text).toMatch(/^solver +sgd$/m);
    expect(text).toMatch(/^mean loss +0\.25, lately 0\.125$/m);
    expect(text).toMatch(/^error +0\.125, lately –$/m);
    expect(text).toMatch(/^mean loss {2}o all rows {2}x lately$/m);
    expect(text).toMatch(/ 4,000 rows$/m);
  });

  test('ASCII charts on a terminal without UTF-8', async () => {
    const text = await show(threeRuns(), 'last', {}, { environment: { LANG: 'C' } });
    expect(text).toContain('relative gap  -- tolerance 0.001\n');
  });

  test('charts side by side on a wide terminal', async () => {
    const text = await show(threeRuns(), 'last', {}, { terminal: true, columns: 130 });
    expect(text).toMatch(/relative gap .*objective/);
  });

  test('an unknown run is an error that lists the known ones', async () => {
    const folder = threeRuns();
    await expect(show(folder, 'ffff')).rejects.toThrow(ids[1]);
  });
});

describe('dso runs stop', () => {
  const timeout = { all: 20_000, step: 20 };

  test('requests the stop, waits and says where the model is', async () => {
    const folder = join(temporaryFolder(), 'runs');
    const recorder = record(folder, ids[0]);
    recorder.watchStop(() => {
      recorder.write({ ...ended, stopped: 'interrupted', code: 130 });
      recorder.close();
    });
    expect(statusOf(folder)).toBe('running');
    const { io, terminal } = call();
    await stopRun({ flags: { runs: folder }, terminal }, '3f9c', timeout);
    expect(io.stderr.text).toBe(`run ${ids[0]} has ended; its model is in train.svm.model\n`);
  });

  test('a run that is not running cannot be stopped', async () => {
    const folder = threeRuns();
    const { terminal } = call();
    await expect(stopRun({ flags: { runs: folder }, terminal }, 'last')).rejects.toMatchObject({
      kind: 'failure',
      message: `run ${ids[0]} is not running (converged)`,
    });
  });

  test('a run that does not stop is an error', async () => {
    const folder = join(temporaryFolder(), 'runs');
    const recorder = record(folder, ids[0]);
    expect(statusOf(folder)).toBe('running');
    const { terminal } = call();
    const wait = { all: 50, step: 10 };
    await expect(
      stopRun({ flags: { runs: folder }, terminal }, 'last', wait),
    ).rejects.toMatchObject({
      kind: 'failure',
      message: expect.stringContaining('was asked to stop and still runs') as string,
    });
    recorder.close();
  });

  test('one that fails meanwhile leaves no model', async () => {
    const folder = join(temporaryFolder(), 'runs');
    const recorder = record(folder, ids[0]);
    recorder.watchStop(() => {
      recorder.write({ event: 'failure', ended: ended.ended, message: 'no space left' });
      recorder.close();
    });
    expect(statusOf(folder)).toBe('running');
    const { io, terminal } = call();
    const flags = { runs: folder, json: true } as const;
    await expect(stopRun({ flags, terminal }, 'last', timeout)).rejects.toThrow(
      `run ${ids[0]} has ended without a model: failed`,
    );
    expect(JSON.parse(io.stdout.text)).toMatchObject({ id: ids[0], status: 'failed' });
  });

  function statusOf(folder: string): string | undefined {
    return listRuns(folder)[0]?.status;
  }
});

describe('the definition', () => {
  async function parse(...words: string[]): Promise<unknown[]> {
    const calls: unknown[] = [];
    const program = new Command('dso').exitOverride().configureOutput({ outputError() {} });
    addCommand(program, 'runs', commands.runs, async (_, args, command) => {
      calls.push(command.name(), ...args, command.optsWithGlobals());
    });
    await program.parseAsync(['runs', ...words], { from: 'user' });
    return calls;
  }

  test('options are before or after the command', async () => {
    expect(await parse()).toMatchObject(['runs', {}]);
    expect(await parse('-n', '5', '--runs', 'x')).toMatchObject(['runs', { number: 5, runs: 'x' }]);
    expect(await parse('show')).toEqual(['show', 'last', {}]);
    expect(await parse('show', '3f9c', '--runs', 'x', '--json')).toEqual([
      'show',
      '3f9c',
      { runs: 'x', json: true },
    ]);
    expect(await parse('--runs', 'x', 'stop')).toEqual(['stop', 'last', { runs: 'x' }]);
    expect(await parse('show', '--vector', '2', '--over', 'epochs')).toEqual([
      'show',
      'last',
      { vector: 2, over: 'epochs' },
    ]);
  });

  test('what is wrong is refused', async () => {
    await expect(listRunsCommand(invocation({}, new Terminal(memoryIo())), 'sho')).rejects.toThrow(
      'runs sho: expected show or stop, or no further word',
    );
    await expect(parse('-n', '0')).rejects.toThrow('whole number of at least 1');
    await expect(parse('-n', '3', '--all')).rejects.toThrow('cannot be used with');
    await expect(parse('show', '--over', 'rows')).rejects.toThrow('time, epochs');
    await expect(parse('show', 'a', 'b')).rejects.toThrow('too many arguments');
  });

  test('completion is made of it', async () => {
    const io = memoryIo();
    await main(['completion', 'bash'], io);
    expect(io.stdout.text).toContain('--runs');
  });
});

describe('names that would steer a terminal', () => {
  test('are written with codes, as bash and zsh read them', () => {
    expect(shellWord('e\u001b[31m.svm')).toBe(String.raw`$'e\x1b[31m.svm'`);
    expect(shellWord("it's\n\u202e\\x")).toBe(String.raw`$'it\'s\x0a\u202e\\x'`);
    const words = ['a\u001b]0;x\u0007b', "quote ' and \\ back", 'line\nend'];
    const script = `printf '%s\\0' ${words.map(shellWord).join(' ')}`;
    const { stdout } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    expect(stdout.split('\0').slice(0, -1)).toEqual(words);
  });
});
