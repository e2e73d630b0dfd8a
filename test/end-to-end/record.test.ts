/** What `dso train` keeps of its runs. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readModel } from '../../src/model/file.ts';
import type {
  BeginLine,
  EpochLine,
  ResultLine,
  RunLine,
  SampleLine,
} from '../../src/reporting/records/record.ts';
import { listRuns } from '../../src/reporting/records/store.ts';
import { executable, type RunOptions, runDso, startDso } from '../support/command-line.ts';
import { launch, launchers } from '../support/launchers.ts';
import { sampleText } from '../support/sample-text.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Tests leave no records unless they ask for them. */
const recorded = { DSO_NO_RECORD: '' };

function dataFolder(): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'train.svm'), sampleText({ rows: 300, columns: 120, perRow: 8 }));
  return folder;
}

const train = (folder: string, args: readonly string[] = [], options: RunOptions = {}) =>
  runDso(['train', 'train.svm', ...args], { folder, environment: recorded, ...options });

function recordsOf(folder: string, runs = '.dso/runs'): RunLine[][] {
  const path = join(folder, runs);
  if (!existsSync(path)) return [];
  const names = readdirSync(path).filter((name) => name.endsWith('.jsonl'));
  return names.map((name) =>
    readFileSync(join(path, name), 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as RunLine),
  );
}

const kind = <Line extends RunLine>(lines: readonly RunLine[], event: Line['event']) =>
  lines.filter((line): line is Line => line.event === event);

describe('the record of a run', () => {
  test('has options, data, every epoch and the result', async () => {
    const folder = dataFolder();
    const run = await train(folder, ['--loss', 'logistic', '--holdout', '0.2', '--json']);
    expect(run.code, run.stderr).toBe(0);
    const [lines, ...others] = recordsOf(folder);
    expect(others).toEqual([]);
    const report = JSON.parse(run.stdout.toString()) as ResultLine;
    expect(lines[0]).toMatchObject({
      event: 'start',
      data: 'train.svm',
      model: 'train.svm.model',
      words: ['train', 'train.svm', '--loss', 'logistic', '--holdout', '0.2', '--json'],
      options: { loss: 'logistic', holdout: 0.2 },
    });
    const [begin] = kind<BeginLine>(lines, 'begin');
    expect(begin).toMatchObject({ rows: 240, columns: 120, lambda: 1 / 240, vectors: 1 });
    const epochs = kind<EpochLine>(lines, 'epoch');
    expect(epochs.map(({ epoch }) => epoch)).toEqual([...epochs.keys()].map((k) => k + 1));
    expect(epochs.at(-1)).toMatchObject({ primal: report.primal, dual: report.dual });
    expect(epochs.every(({ testError }) => testError !== undefined)).toBe(true);
    expect(lines.at(-1)).toMatchObject({ ...report, event: 'result', code: 0 });
    expect(readFileSync(join(folder, '.dso/.gitignore'), 'utf8')).toBe('*\n');
  });

  test('names features as the data does', async () => {
    const folder = dataFolder();
    const rows = Array.from({ length: 40 }, (_, k) => `${k % 2 ? 'yes' : 'no'},${k % 2},${k % 5}`);
    writeFileSync(join(folder, 'table.csv'), ['label,wide,tall', ...rows, ''].join('\n'));
    const run = await runDso(['train', 'table.csv', '--label', 'label'], {
      folder,
      environment: recorded,
    });
    expect(run.code, run.stderr).toBe(0);
    const [lines] = recordsOf(folder);
    const names = kind<SampleLine>(lines, 'sample')
      .at(-1)
      ?.features.map(({ name }) => name);
    expect(names?.toSorted()).toEqual(['tall', 'wide']);
  });

  test.each<[string, readonly string[], Record<string, string>]>([
    ['--no-record', ['--no-record'], {}],
    ['DSO_NO_RECORD', [], { DSO_NO_RECORD: '1' }],
  ])('%s: there is none', async (_, args, environment) => {
    const folder = dataFolder();
    const run = await train(folder, args, { environment: { ...recorded, ...environment } });
    expect(run.code, run.stderr).toBe(0);
    expect(readdirSync(folder).sort()).toEqual(['train.svm', 'train.svm.model']);
  });

  test('--runs names another folder, whatever DSO_NO_RECORD says', async () => {
    const folder = dataFolder();
    const environment = { DSO_NO_RECORD: '1' };
    const run = await train(folder, ['--runs', 'saved/here'], { environment });
    expect(run.code, run.stderr).toBe(0);
    expect(recordsOf(folder, 'saved/here')).toHaveLength(1);
    expect(existsSync(join(folder, '.dso'))).toBe(false);
  });

  test('a run that is refused leaves nothing', async () => {
    const folder = dataFolder();
    writeFileSync(join(folder, 'train.svm'), '+1 1:x\n');
    expect((await train(folder)).code).toBe(3);
    expect((await train(folder, ['--lambda', '-1'])).code).toBe(2);
    expect(readdirSync(folder)).toEqual(['train.svm']);
  });

  test('a folder that cannot be made costs the record and not the run', async () => {
    const folder = dataFolder();
    writeFileSync(join(folder, '.dso'), 'in the way');
    const run = await train(folder);
    expect(run.code, run.stderr).toBe(0);
    expect(run.stderr).toMatch(/note: .*\.dso/);
    expect((await readModel(join(folder, 'train.svm.model'))).columns).toBe(120);
  });

  test('a failure is recorded with its message', async () => {
    const folder = dataFolder();
    const run = await train(folder, [
      '--solver',
      'sgd',
      '--loss',
      'square',
      '--step-size',
      '1e200',
    ]);
    expect(run.code, run.stderr).toBe(1);
    const [lines] = recordsOf(folder);
    expect(lines.at(-1)).toMatchObject({ event: 'failure' });
    expect(run.stderr).toContain((lines.at(-1) as { message: string }).message);
    expect(listRuns(join(folder, '.dso/runs'))).toMatchObject([{ status: 'failed' }]);
  });

  test('a stream has reports instead of epochs', async () => {
    const folder = dataFolder();
    const run = await train(folder, ['--progressive']);
    expect(run.code, run.stderr).toBe(0);
    const [lines] = recordsOf(folder);
    expect(kind(lines, 'report').length).toBeGreaterThan(5);
    expect(lines.at(-1)).toMatchObject({ event: 'result', stopped: 'stream', rows: 300 });
  });

  test('dso runs stop ends a run as Ctrl-C does', async () => {
    const folder = dataFolder();
    // Its steps shrink so fast that it never gets there, on any machine.
    const limits = ['--solver', 'dso', '--tolerance', '1e-15', '--epochs', '100000000'];
    const running = startDso(['train', 'train.svm', ...limits], { folder, environment: recorded });
    await running.saw(/^epoch 20 /m);
    const stop = await runDso(['runs', 'stop', 'last'], { folder });
    expect(stop.code, stop.stderr).toBe(0);
    const run = await running.finished;
    expect(run.code, run.stderr).toBe(130);
    expect(run.stderr).toContain('interrupted after');
    const { certificate } = await readModel(join(folder, 'train.svm.model'));
    expect(certificate.stopped).toBe('interrupted');
    expect(recordsOf(folder)[0].at(-1)).toMatchObject({ stopped: 'interrupted', code: 130 });
    expect(readdirSync(join(folder, '.dso/runs'))).toHaveLength(1);
  });
});

describe.each(launchers)('under $name', (launcher) => {
  test('rank 0 records for all: threads, memory and large weights of every rank', async ({
    skip,
  }) => {
    if (launcher.path === undefined) skip(`${launcher.name} is not installed`);
    const folder = dataFolder();
    const [data, model, runs] = ['train.svm', 'm.model', 'runs'].map((name) => join(folder, name));
    const words = ['train', data, '-o', model, '--runs', runs, '--grid', '4', '--quiet'];
    const job = await launch(launcher, 2, [process.execPath, executable, ...words]);
    expect(job.code, job.stderr).toBe(0);
    const [lines, ...others] = recordsOf(folder, 'runs');
    expect(others).toEqual([]);
    const [begin] = kind<BeginLine>(lines, 'begin');
    expect(begin).toMatchObject({ grid: 4, ranks: 2, firsts: [0, 2] });
    expect(begin.loads.cells).toHaveLength(16);
    const last = kind<SampleLine>(lines, 'sample').at(-1);
    expect(last?.threads.map(({ first }) => first)).toEqual([0, 2]);
    expect(last?.threads.every(({ bytes }) => bytes > 0)).toBe(true);
    const { weights } = await readModel(model);
    const bySize = [...weights.keys()].sort((a, b) => Math.abs(weights[b]) - Math.abs(weights[a]));
    const names = last?.features.map(({ name }) => name) ?? [];
    expect(names.length).toBeGreaterThanOrEqual(5);
    expect(names).toEqual(bySize.slice(0, names.length).map((column) => String(column + 1)));
    const alone = await runDso(['train', data, '-o', join(folder, 'alone'), '--grid', '4']);
    expect(alone.code, alone.stderr).toBe(0);
    expect(readFileSync(model)).toEqual(readFileSync(join(folder, 'alone')));
  });
});
