import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { stream } from '../../src/math/random.ts';
import { runDso, startDso } from '../support/command-line.ts';
import { lastingFolders } from '../support/lasting-folder.ts';
import { sampleText } from '../support/sample-text.ts';

const lastingFolder = lastingFolders();

/** A folder with data, and the command that trains on it for a while. */
function setUp(options: { rows?: number; epochs?: number; more?: readonly string[] } = {}) {
  const { rows = 400, epochs = 60, more = [] } = options;
  const folder = lastingFolder();
  writeFileSync(join(folder, 'train.svm'), sampleText({ rows, columns: 150, perRow: 8 }));
  const fixed = `--grid 4 --intercept --lambda 1e-6 --tolerance 1e-300 --epochs ${epochs}`.split(
    ' ',
  );
  const command = (output: string, ...extra: readonly string[]) => [
    'train',
    'train.svm',
    '-o',
    output,
    ...fixed,
    ...more,
    ...extra,
  ];
  const model = (name: string) => readFileSync(join(folder, name));
  const saved = () =>
    existsSync(join(folder, 'checkpoints')) ? readdirSync(join(folder, 'checkpoints')).sort() : [];
  return { folder, command, model, saved };
}

interface LogLine {
  readonly event: 'epoch' | 'result';
  readonly epoch?: number;
  readonly resumed?: { readonly epoch: number; readonly seconds: number };
}

function linesOf(log: string): LogLine[] {
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as LogLine);
}

const epochsIn = (log: string) =>
  linesOf(log).flatMap(({ event, epoch }) => (event === 'epoch' ? [epoch as number] : []));

/** Few rotations, so that an epoch of these data takes a fraction of a millisecond. */
const quick = ['--solver', 'ring', '--rotations', '2', '--threads', '1'];

const saving = ['--checkpoint', 'checkpoints', '--checkpoint-every'] as const;

/** What an uninterrupted run with the same limits ends with. */
const unfinished = 4;

/** A run with this many epochs does not end by itself, however late it is stopped. */
const endless = 1e9;

/** The epoch of the newest checkpoint of a folder. */
function newest(names: readonly string[]): number {
  return Math.max(
    0,
    ...names.map((name) => Number(/^epoch-(\d+)\.checkpoint$/.exec(name)?.[1] ?? 0)),
  );
}

/** Waits for a checkpoint of a later epoch than that; the limit is that of the test. */
async function progress(saved: () => string[], epoch: number): Promise<void> {
  await vi.waitUntil(() => newest(saved()) > epoch, { timeout: 600_000, interval: 5 });
}

describe.concurrent('killed', () => {
  test.each(process.env.DSO_TEST_FULL ? [1, 2] : [1])(
    '25 times at random moments and resumed each time: the model of a run left alone (%i)',
    async (run) => {
      const { folder, command, model, saved } = setUp({ epochs: endless, more: quick });
      const random = stream(20, 25 + run);
      const often = [...saving, '5', '--resume', 'checkpoints', '--log', 'log'];
      const begun = new Set<string>();
      for (let kill = 0; kill < 25; kill++) {
        const threads = String(1 + (kill % 3));
        const before = newest(saved());
        const running = startDso(command('resumed.model', ...often, '--threads', threads), {
          folder,
        });
        // Some while the process starts, most while it trains and writes checkpoints.
        if (kill % 5 !== 0) await running.saw(/^epoch /m);
        // A busy machine may write none in so short a time: some wait for one, so that there is progress.
        if (kill % 5 === 1 || kill % 5 === 3) await progress(saved, before);
        const most = kill % 5 === 0 ? 500 : 60;
        await new Promise((resolve) => setTimeout(resolve, most * random.uniform()));
        running.process.kill('SIGKILL');
        const { stderr } = await running.finished;
        begun.add(/resuming after epoch (\d+)/.exec(stderr)?.[1] ?? '0');
        expect(stderr).not.toContain('error');
        expect(existsSync(join(folder, 'resumed.model'))).toBe(false);
      }
      // Had no run come further than the one before, little would be proved.
      expect(begun.size).toBeGreaterThan(5);
      const epochs = newest(saved()) + 100;
      const limit = ['--epochs', String(epochs)];
      const alone = await runDso(command('alone.model', '--quiet', ...limit), { folder });
      expect(alone.code, alone.stderr).toBe(unfinished);
      const rest = [...saving, '1h', '--resume', 'checkpoints', '--log', 'log', ...limit];
      const last = await runDso(command('resumed.model', ...rest), { folder });
      expect(last.code, last.stderr).toBe(unfinished);
      expect(last.stderr).toMatch(/resuming after epoch \d+/);
      expect(model('resumed.model').equals(model('alone.model'))).toBe(true);
      expect(saved()).toHaveLength(2);
      // What was done again after a kill is in the log once.
      const logged = epochsIn(join(folder, 'log'));
      expect(logged.every((epoch, k) => epoch > (logged[k - 1] ?? 0))).toBe(true);
      expect(logged.at(-1)).toBe(epochs);
    },
  );
});

describe.concurrent('stopped and resumed', () => {
  test('by Ctrl-C', async () => {
    const { folder, command, model, saved } = setUp({ epochs: endless, more: quick });
    const running = startDso(command('resumed.model', ...saving, '1h', '--log', 'log'), { folder });
    await running.saw(/^epoch 3 /m);
    running.process.kill('SIGINT');
    const stopped = await running.finished;
    expect(stopped.code, stopped.stderr).toBe(130);
    const epochs = newest(saved()) + 500;
    const limit = ['--epochs', String(epochs)];
    await runDso(command('alone.model', '--quiet', ...limit), { folder });
    expect(model('resumed.model').equals(model('alone.model'))).toBe(false);
    const resume = command('resumed.model', '--resume', 'checkpoints', '--log', 'log', ...limit);
    const rest = await runDso(resume, { folder });
    expect(rest.code, rest.stderr).toBe(unfinished);
    expect(model('resumed.model').equals(model('alone.model'))).toBe(true);
    const log = linesOf(join(folder, 'log'));
    expect(epochsIn(join(folder, 'log'))).toEqual(Array.from({ length: epochs }, (_, k) => k + 1));
    expect(log.at(-1)?.resumed?.epoch).toBeGreaterThanOrEqual(3);
    expect(log.at(-1)?.resumed?.seconds).toBeGreaterThan(0);
  });

  test('by --time, several times', async () => {
    const { folder, command, model, saved } = setUp({ epochs: endless, more: quick });
    const common = [...saving, '1h', '--resume', 'checkpoints'];
    for (let k = 0; k < 4; k++) {
      const { code } = await runDso(command('resumed.model', ...common, '--time', '0.02'), {
        folder,
      });
      expect(code).toBe(unfinished);
    }
    const limit = ['--epochs', String(newest(saved()) + 500)];
    await runDso(command('alone.model', '--quiet', ...limit), { folder });
    const last = await runDso(command('resumed.model', ...common, ...limit), { folder });
    expect(last.stderr).toContain('resuming after epoch');
    expect(last.stderr).toContain('epoch limit');
    expect(model('resumed.model').equals(model('alone.model'))).toBe(true);
  });

  test('a finished run says so, and continues with a larger --epochs', async () => {
    const { folder, command, model } = setUp();
    await runDso(command('resumed.model', ...saving, '7'), { folder });
    const again = await runDso(command('again.model', '--resume', 'checkpoints'), { folder });
    expect(again.stderr).toContain('note: the run was complete already');
    expect(model('again.model').equals(model('resumed.model'))).toBe(true);
    const more = ['--epochs', '90'];
    await runDso(command('alone.model', ...more), { folder });
    await runDso(command('more.model', '--resume', 'checkpoints', ...more), { folder });
    expect(model('more.model').equals(model('alone.model'))).toBe(true);
  });

  test('dso-async: dso replay makes the visits of before and after', async () => {
    const { folder, command } = setUp({ epochs: 6, more: ['--solver', 'dso-async'] });
    await runDso(command('one.model', ...saving, '3'), { folder });
    const more = ['--resume', 'checkpoints', '--epochs', '11'];
    const rest = await runDso(command('two.model', ...more), { folder });
    expect(rest.code, rest.stderr).toBe(unfinished);
    const replayed = await runDso(['replay', 'two.model.visits', 'train.svm'], { folder });
    expect(replayed.code, replayed.stderr).toBe(0);
    expect(replayed.stderr).toContain('11 epochs');
    expect(replayed.stderr).toContain('bit for bit');
  });
});

describe.concurrent('a damaged checkpoint', () => {
  test('is reported and the one before used; with none whole, exit code 3', async () => {
    const { folder, command, model, saved } = setUp();
    await runDso(command('alone.model', ...saving, '7'), { folder });
    const [older, newer] = saved().map((name) => join(folder, 'checkpoints', name));
    const bytes = readFileSync(newer);
    bytes[bytes.length - 1000] ^= 4;
    writeFileSync(newer, bytes);
    const run = await runDso(command('resumed.model', '--resume', 'checkpoints'), { folder });
    expect(run.stderr).toContain(`damaged: its SHA-256 is not that of its bytes; an older`);
    expect(run.stderr).toContain('resuming after epoch 56');
    expect(model('resumed.model').equals(model('alone.model'))).toBe(true);
    truncateSync(older, 4000);
    const refused = await runDso(command('none.model', '--resume', 'checkpoints'), { folder });
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain('no complete checkpoint in');
    expect(refused.stderr).toContain('damaged: its SHA-256');
    expect(refused.stderr).toContain('cut off: it has 4000 bytes of');
    expect(existsSync(join(folder, 'none.model'))).toBe(false);
  });
});

describe.concurrent('another run', () => {
  test('other options, data or limits are refused by name', async () => {
    const { folder, command } = setUp();
    await runDso(command('a.model', ...saving, '7'), { folder });
    const errorOf = async (args: readonly string[]) => {
      const { code, stderr } = await runDso(args, { folder });
      return `${code} ${stderr.replaceAll('\n', ' ')}`;
    };
    const resume = (...args: string[]) =>
      errorOf(command('b.model', '--resume', 'checkpoints', ...args));
    const changed = '--lambda 2e-4 --loss logistic --seed 3 --grid 2 --non-negative --upper 0.5';
    const other = await resume(...changed.split(' '), '--holdout', '0.2');
    expect(other).toMatch(/^2 .*loss was hinge, is logistic; lambda was 0.000001, is 0.0002/);
    for (const difference of [
      'seed was 1, is 3',
      'grid was 4, is 2',
      'lower was not given, is 0',
      'upper was not given, is 0.5',
      'holdout was not given, is 0.2',
    ]) {
      expect(other).toContain(difference);
    }
    expect(await resume('--epochs', '5')).toMatch(/^2 .*after epoch 5; .*at epoch 60 already/);
    expect(await errorOf(command('b.model', ...saving, '7'))).toMatch(
      /^2 .*checkpoints holds the checkpoints of a run: resume it from there/,
    );
    expect(await errorOf(command('b.model', '--resume', 'nowhere'))).toMatch(
      /^3 .*nowhere: no checkpoint there to resume from/,
    );
    expect(await errorOf(command('b.model', '--checkpoint-every', '3'))).toMatch(
      /^2 .*--checkpoint-every needs --checkpoint/,
    );
    const text = sampleText({ rows: 400, columns: 150, perRow: 8, seed: 2 });
    writeFileSync(join(folder, 'train.svm'), text);
    expect(await resume()).toMatch(/^3 .*train.svm: other numbers than those of the checkpoint/);
    writeFileSync(join(folder, 'train.svm'), text.slice(text.indexOf('\n') + 1));
    expect(await resume()).toMatch(/^3 .*train.svm: 399 rows; the checkpoint .* run on 400/);
  });
});

describe.concurrent('another solver', () => {
  test('is named without the settings that follow from it; settings are named by their flags', async () => {
    const { folder, command } = setUp({ epochs: 4, more: ['--solver', 'dso'] });
    await runDso(command('a.model', ...saving, '2'), { folder });
    const resume = async (...args: string[]) =>
      (await runDso(command('b.model', '--resume', 'checkpoints', ...args), { folder })).stderr;
    expect(await resume('--solver', 'psgd')).toMatch(/another run: solver was dso, is psgd\n$/);
    expect(await resume('--local-descent', '3', '--no-svrg')).toMatch(
      /another run: svrg was on, is off; local-descent was 0, is 3\n$/,
    );
  });
});

describe.concurrent('the folder', () => {
  test('of a run at work is refused to another one, and free as soon as that is killed', async () => {
    const { folder, command, saved } = setUp({ epochs: endless, more: quick });
    const running = startDso(command('a.model', ...saving, '1'), { folder });
    await running.saw(/^epoch 3 /m);
    const resume = [...saving, '1', '--resume', 'checkpoints', '--time', '0.1'];
    const refused = await runDso(command('b.model', ...resume), { folder });
    expect(`${refused.code} ${refused.stderr}`).toMatch(
      new RegExp(`^2 .*process ${running.process.pid} on .* which is running; if it is gone`, 's'),
    );
    expect(running.process.exitCode).toBe(null);
    running.process.kill('SIGKILL');
    await running.finished;
    const free = await runDso(command('b.model', ...resume), { folder });
    expect(free.code, free.stderr).toBe(unfinished);
    expect(free.stderr).toContain('resuming after epoch');
    expect(saved().filter((name) => name.endsWith('.lock'))).toEqual([]);
  });

  test('that cannot be written to is refused before training', async () => {
    const { folder, command } = setUp();
    const { code, stderr } = await runDso(command('a.model', '--checkpoint', '/proc'), { folder });
    expect(`${code} ${stderr}`).toMatch(/^2 .*checkpoints cannot go to \/proc: /s);
    expect(stderr).not.toContain('epoch 1 ');
    expect(existsSync(join(folder, 'a.model'))).toBe(false);
  });
});

test.concurrent('a full disk: training continues, the checkpoint before stays, nothing half-written', async ({
  skip,
  onTestFinished,
}) => {
  const { folder, command, model } = setUp({ epochs: 40, more: ['--threads', '1'] });
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=160k', 'none', disk], { stdio: 'ignore' });
  } catch {
    skip('a small file system to fill up can be mounted by root only');
  }
  onTestFinished(() => {
    execFileSync('umount', [disk]);
  });
  await runDso(command('alone.model'), { folder });
  const to = ['--checkpoint', 'disk', '--checkpoint-every', '1'];
  const fits = await runDso(command('resumed.model', ...to, '--epochs', '1'), { folder });
  expect(fits.stderr).not.toContain('no checkpoint of');
  expect(readdirSync(disk)).toEqual(['epoch-0000000001.checkpoint']);
  writeFileSync(join(disk, 'filler'), Buffer.alloc(4096 * 28));
  // What fails is told even by --quiet, and nothing else is.
  const quiet = command('resumed.model', ...to, '--resume', 'disk', '--quiet');
  const full = await runDso(quiet, { folder });
  expect(full.code, full.stderr).toBe(unfinished);
  expect(full.stderr).toMatch(
    /^warning: no checkpoint of epoch 2 in .*: the disk is full; that of epoch 1 stays, and training continues\n$/,
  );
  expect(full.stderr.match(/no checkpoint of/g)).toHaveLength(1);
  expect(readdirSync(disk).sort()).toEqual(['epoch-0000000001.checkpoint', 'filler']);
  expect(model('resumed.model').equals(model('alone.model'))).toBe(true);
  const rest = await runDso(command('rest.model', '--resume', 'disk'), { folder });
  expect(rest.stderr).toContain('resuming after epoch 1,');
  expect(model('rest.model').equals(model('alone.model'))).toBe(true);
});
