/** Looking at runs and stopping them by `dso runs`, and the charts of `dso train --chart`. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readModel } from '../../src/model/file.ts';
import type { RunDetail, RunSummary } from '../../src/reporting/records/record.ts';
import { executable, runDso, startDso } from '../support/command-line.ts';
import { sampleText } from '../support/sample-text.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Tests leave no records unless they ask for them. */
const environment = { DSO_NO_RECORD: '', LC_ALL: 'C.UTF-8' };

/** Steps that shrink so fast that it never gets there, on any machine. */
const endless = ['--solver', 'dso', '--tolerance', '1e-15', '--epochs', '100000000'];

function dataFolder(): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'train.svm'), sampleText({ rows: 300, columns: 120, perRow: 8 }));
  return folder;
}

const dso = (folder: string, ...args: string[]) => runDso(args, { folder, environment });

async function output(folder: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await dso(folder, ...args);
  expect([code, stderr]).toEqual([0, '']);
  return stdout.toString();
}

describe('runs that were made', () => {
  test('are listed, shown and made again', async () => {
    const folder = dataFolder();
    await dso(folder, 'train', 'train.svm', '--quiet', '--holdout', '0.2');
    await dso(folder, 'train', 'train.svm', '--quiet', '--loss', 'logistic', '-o', "it's.model");
    const runs = JSON.parse(await output(folder, 'runs', '--json')) as RunSummary[];
    expect(runs.map(({ start }) => start.loss)).toEqual(['logistic', 'hinge']);
    const table = (await output(folder, 'runs')).trimEnd().split('\n');
    expect(table.slice(1).map((line) => line.split(' ')[0])).toEqual(runs.map(({ id }) => id));
    expect(table[1]).toMatch(/ train\.svm .* logistic, l2 .* converged$/);

    const text = await output(folder, 'runs', 'show');
    expect(text).toMatch(/^certificate +within .* of the optimum/m);
    expect(text).toMatch(/^model +it's\.model \(.*B\)$/m);
    expect(text).toMatch(/^relative gap {2}╌╌ tolerance 0\.001$/m);
    const [, words] = /^command +dso (.*)$/m.exec(text)!;
    expect(words).toBe(`train train.svm --quiet --loss logistic -o 'it'\\''s.model'`);
    const again = spawnSync('sh', ['-c', `"$0" "$1" ${words}`, process.execPath, executable], {
      cwd: folder,
      env: { ...process.env, ...environment },
    });
    expect([again.status, again.stderr.toString()]).toEqual([0, '']);
    expect(JSON.parse(await output(folder, 'runs', '--json', '-n', '9'))).toHaveLength(3);

    const hinge = await output(folder, 'runs', 'show', runs[1].id.slice(-11), '--json');
    const detail = JSON.parse(hinge) as RunDetail;
    expect(detail.summary.id).toBe(runs[1].id);
    expect(detail.series.testError).toHaveLength(detail.epochs);
  });

  test('there are none yet', async () => {
    const run = await dso(temporaryFolder(), 'runs');
    expect([run.code, run.stdout.toString()]).toEqual([0, '']);
    expect(run.stderr).toMatch(/^no runs in \.dso\/runs; ".*train" records one there\n$/);
  });

  test('what is not there is refused', async () => {
    const folder = dataFolder();
    const none = await dso(folder, 'runs', 'show');
    expect([none.code, none.stderr]).toEqual([3, 'dso: .dso/runs: no run is recorded there\n']);
    await dso(folder, 'train', 'train.svm', '--quiet');
    const unknown = await dso(folder, 'runs', 'show', 'nothing');
    expect(unknown.code).toBe(3);
    expect(unknown.stderr).toContain('no run "nothing"; there is ');
    const word = await dso(folder, 'runs', 'sho');
    expect(word.code).toBe(2);
    expect(word.stderr).toContain('runs sho: expected show or stop, or no further word');
    const ended = await dso(folder, 'runs', 'stop');
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/run \S+ is not running \(converged\)/);
  });
});

test('a run is stopped, and its model is there', async () => {
  const folder = temporaryFolder();
  const data = sampleText({ rows: 3000, columns: 2000, perRow: 10 });
  writeFileSync(join(folder, 'train.svm'), data);
  const running = startDso(['train', 'train.svm', ...endless], { folder, environment });
  await running.saw(/^epoch 3 /m);
  // The record is written a little later than the line on the terminal.
  await expect
    .poll(async () => (await dso(folder, 'runs')).stdout.toString(), { timeout: 100_000 })
    .toMatch(/ running$/m);
  const shown = await output(folder, 'runs', 'show', 'last');
  expect(shown).toMatch(/^run \S+: running, /);
  expect(shown).toMatch(/^model +train\.svm\.model \(not yet written\)$/m);
  const stop = await dso(folder, 'runs', 'stop', 'last');
  expect([stop.code, stop.stderr]).toEqual([
    0,
    expect.stringMatching(/^run \S+ has ended; its model is in train\.svm\.model\n$/),
  ]);
  expect((await running.finished).code).toBe(130);
  const model = await readModel(join(folder, 'train.svm.model'));
  expect(model.certificate.stopped).toBe('interrupted');
  expect(await output(folder, 'runs')).toMatch(/ stopped$/m);
});

describe('dso train --chart', () => {
  const titles = /relative gap|objective(?= {2}o)|test error(?= \(%\))/g;

  test('draws at the end where there is no terminal', async () => {
    const folder = dataFolder();
    const args = ['train', 'train.svm', '--holdout', '0.2', '--chart'];
    const { code, stderr } = await dso(folder, ...args);
    expect(code, stderr).toBe(0);
    expect(stderr.match(titles)).toEqual(['relative gap', 'objective', 'test error']);
    expect(stderr.indexOf('relative gap  ')).toBeGreaterThan(stderr.indexOf('epoch 1 '));
    expect(stderr.indexOf('hinge loss, l2')).toBeGreaterThan(stderr.indexOf('test error, %'));
    const quiet = await dso(folder, ...args, '--quiet');
    expect([quiet.code, quiet.stderr]).toEqual([0, '']);
  });

  test('in ASCII where the locale has no more', async () => {
    const folder = dataFolder();
    const run = await runDso(['train', 'train.svm', '--chart'], {
      folder,
      environment: { LC_ALL: 'C' },
    });
    expect(run.stderr).toContain('relative gap  -- tolerance 0.001\n');
    expect(run.stderr).not.toMatch(/[\u2500-\u257f\u2800-\u28ff]/);
  });

  describe('on a terminal', () => {
    let canPretend = false;

    beforeAll(() => {
      canPretend = spawnSync('script', ['--version']).status === 0;
    });

    /**
     * util-linux' `script` makes a pseudo-terminal, on which Ctrl-C is pressed when it shows what
     * `enough` needs. It would write ^C into the middle of a picture without this option.
     */
    async function onTerminal(
      columns: number,
      rows: number,
      args: string,
      enough: (text: string) => boolean = () => false,
    ): Promise<string> {
      const command = `stty -echo cols ${columns} rows ${rows}; "${process.execPath}" "${executable}" ${args}`;
      const child = spawn('script', ['-qec', command, '/dev/null'], {
        cwd: dataFolder(),
        env: { ...process.env, ...environment, TERM: 'xterm' },
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      let text = '';
      let isPressed = false;
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (isPressed || !enough(text)) return;
        isPressed = true;
        child.stdin.write('\u0003');
      });
      await once(child, 'close');
      return text;
    }

    test('draws in place, side by side where there is room', async ({ skip }) => {
      if (!canPretend) skip('no `script` command to make a pseudo-terminal with');
      const headsOf = (shown: string): string[] =>
        shown.split('\n').filter((line) => line.includes('relative gap'));
      const args = `train train.svm --holdout 0.2 --chart ${endless.join(' ')}`;
      const text = await onTerminal(130, 30, args, (shown) => headsOf(shown).length > 2);
      const heads = headsOf(text);
      // Time and again over the one before, 12 lines further up, and then the summary.
      expect(heads.length).toBeGreaterThan(1);
      for (const head of heads) {
        expect(head.match(titles)).toEqual(['relative gap', 'objective', 'test error']);
      }
      expect(text.split('\u001b[12A\r')).toHaveLength(heads.length);
      const end = text.slice(text.lastIndexOf('relative gap  '));
      const lines = stripVTControlCharacters(end).split(/\r?\n/);
      expect(lines[12]).toContain('hinge loss, l2 penalty');
      for (const line of lines.slice(0, 12)) expect(line.length).toBeLessThan(130);
    });

    test('the gap alone on a low one, and tables that fit', async ({ skip }) => {
      if (!canPretend) skip('no `script` command to make a pseudo-terminal with');
      const text = await onTerminal(80, 15, 'train train.svm --holdout 0.2 --chart');
      expect(new Set(text.match(titles))).toEqual(new Set(['relative gap']));
      const table = await onTerminal(
        60,
        15,
        `train train.svm --quiet; "${process.execPath}" "${executable}" runs`,
      );
      const lines = table.trimEnd().split(/\r?\n/);
      expect(lines).toHaveLength(2);
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
    });
  });
});
