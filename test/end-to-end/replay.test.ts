import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { runDso, startDso } from '../support/command-line.ts';
import { lastingFolders } from '../support/lasting-folder.ts';
import { sampleText } from '../support/sample-text.ts';

const lastingFolder = lastingFolders();

const text = sampleText({ rows: 400, columns: 60, perRow: 8 });

/**
 * An asynchronous run on the data in a folder. Its epochs depend on who comes first; to this
 * tolerance they are dozens, whoever does.
 */
async function record(folder: string, ...more: string[]): Promise<void> {
  writeFileSync(join(folder, 'train.svm'), text);
  const common = ['train', 'train.svm', '--solver', 'dso-async', '--threads', '4', '-o', 'a.model'];
  const { code, stderr } = await runDso([...common, '--tolerance', '0.2', ...more], { folder });
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('dso replay a.model.visits train.svm');
}

/** The lines of one plain run, which all tests that change its record begin with. */
let plain: readonly string[];

beforeAll(async () => {
  const folder = lastingFolder();
  await record(folder);
  plain = readFileSync(join(folder, 'a.model.visits'), 'utf8').trim().split('\n');
});

/** A folder with the data and a changed record of the plain run. */
function changed(change: (lines: string[]) => string[] = (lines) => lines): string {
  const folder = lastingFolder();
  writeFileSync(join(folder, 'train.svm'), text);
  writeFileSync(join(folder, 'a.model.visits'), `${change([...plain]).join('\n')}\n`);
  return folder;
}

/** The lines with a checksum that fits them, as if the run had recorded them. */
function sealed(lines: readonly string[]): string[] {
  const { stopped, model } = JSON.parse(lines.at(-1)!) as Record<string, string>;
  const result = { stopped, model };
  const before = lines.slice(0, -1);
  const all = `${before.join('\n')}\n${JSON.stringify(result)}`;
  const sha256 = createHash('sha256').update(all).digest('hex');
  return [...before, JSON.stringify({ ...result, sha256 })];
}

interface EpochLine {
  readonly primal: number;
  readonly dual: number;
  readonly visits: readonly number[];
}

const withoutOptions = (header: string) =>
  JSON.stringify({ ...(JSON.parse(header) as object), options: null });

const epochOf = (line: string) => JSON.parse(line) as EpochLine;

describe.concurrent('dso replay', () => {
  test.each([
    { title: 'plain', more: [] },
    { title: 'with bounds', more: ['--non-negative', '--upper', '0.1'] },
    { title: 'with a limit that was not reached', more: ['--time', '1000', '--epochs', '5000'] },
    { title: 'with a hold-out set and an intercept', more: ['--holdout', '0.2', '--intercept'] },
    {
      title: 'with settings',
      more: ['--loss', 'logistic', '--seed', '7', '--grid', '5', '--lambda', '0.01', '--paper'],
    },
  ])('makes the recorded visits again, $title', async ({ more }) => {
    const folder = lastingFolder();
    await record(folder, ...more);
    const args = ['replay', 'a.model.visits', 'train.svm', '-o', 'b.model'];
    const { code, stderr } = await runDso(args, { folder });
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(
      /\d+ epochs?, [\d,]+ visits replayed serially: the same model, bit for bit/,
    );
    const [one, two] = ['a.model', 'b.model'].map((name) => readFileSync(join(folder, name)));
    expect(two.equals(one)).toBe(true);
  });

  test('a run that Ctrl-C ended is recorded too', async () => {
    const folder = lastingFolder();
    writeFileSync(join(folder, 'train.svm'), text);
    const args = ['train', 'train.svm', '--solver', 'dso-async', '--tolerance', '1e-15'];
    const running = startDso([...args, '--epochs', '1000000000'], { folder });
    await running.saw(/^epoch 5 /m);
    running.process.kill('SIGINT');
    expect((await running.finished).code).toBe(130);
    const replayed = await runDso(['replay', 'train.svm.model.visits', 'train.svm'], { folder });
    expect(replayed.code, replayed.stderr).toBe(0);
  });

  test('other visits are another model: the first epoch that differs is named', async () => {
    // One whose objective and bound are its own, not the best of before.
    const line = plain.findIndex((one, k) => {
      if (k < 2) return false;
      const [before, now] = [epochOf(plain[k - 1]), epochOf(one)];
      return now.primal < before.primal && now.dual > before.dual;
    });
    const epoch = epochOf(plain[line]);
    const reversed = JSON.stringify({ ...epoch, visits: epoch.visits.toReversed() });
    const folder = changed((lines) => sealed(lines.with(line, reversed)));
    const { code, stderr } = await runDso(['replay', 'a.model.visits', 'train.svm'], { folder });
    expect(code).toBe(1);
    expect(stderr).toContain(
      `not what was recorded; objective or bound first differ in epoch ${line}`,
    );
  });

  test.each<[string, (lines: string[]) => string[], string]>([
    ['no record', () => ['hello'], ':1: "hello"; expected a JSON object'],
    ['another JSON file', () => ['{"a":1}'], ':1: not a record of block visits'],
    ['another version', (l) => [l[0].replace('"version":2', '"version":9')], ':1: version 9'],
    ['cut short', (l) => l.slice(0, 3), ': the record ends without its last line'],
    ['an epoch missing', (l) => l.toSpliced(2, 1), ':3: epoch is 3; expected 2'],
    ['a grid of 0', (l) => [l[0].replace('"grid":4', '"grid":0'), ...l.slice(1)], 'grid is 0'],
    [
      'a cell visited twice',
      (l) => l.with(1, l[1].replace(/\[\d+,(\d+)/, '[$1,$1')),
      ':2: visits do not name each of the 16 cells of the grid once',
    ],
    [
      'a digit that is another',
      (l) =>
        l.with(
          3,
          l[3].replace(/"primal":0\.(\d)/, (_, d) => `"primal":0.${9 - d}`),
        ),
      'damaged: its SHA-256 is not that of its lines',
    ],
    ['no options', (l) => sealed(l.with(0, withoutOptions(l[0]))), ':1: options is null'],
  ])('%s: rejected with its position', async (_, change, message) => {
    const folder = changed(change);
    const { code, stderr } = await runDso(['replay', 'a.model.visits', 'train.svm'], { folder });
    expect(code, stderr).toBe(3);
    expect(stderr).toContain(message);
  });

  test('other data is refused', async () => {
    const folder = changed();
    writeFileSync(join(folder, 'other.svm'), sampleText({ rows: 300, columns: 60, perRow: 8 }));
    const { code, stderr } = await runDso(['replay', 'a.model.visits', 'other.svm'], { folder });
    expect(code).toBe(3);
    expect(stderr).toContain('other.svm: not the data of the recorded run');
  });

  test('one value that is another is other data', async () => {
    const folder = changed();
    writeFileSync(join(folder, 'other.svm'), text.replace(/:(\S+)/, ':123'));
    const { code, stderr } = await runDso(['replay', 'a.model.visits', 'other.svm'], { folder });
    expect(code, stderr).toBe(3);
  });

  test('a record whose numbers were changed is found out', async () => {
    const folder = changed((lines) => {
      const epoch = epochOf(lines[3]);
      return sealed(lines.with(3, JSON.stringify({ ...epoch, primal: epoch.primal + 1e-3 })));
    });
    const { code, stderr } = await runDso(['replay', 'a.model.visits', 'train.svm'], { folder });
    expect(code).toBe(1);
    expect(stderr).toContain('not what was recorded; objective or bound first differ in epoch 3');
  });

  test('--visits belongs to dso-async', async () => {
    const { code, stderr } = await runDso(['train', 'x.svm', '--visits', 'v']);
    expect(code).toBe(2);
    expect(stderr).toContain('--visits is an option of --solver dso-async; the solver is auto');
  });
});
