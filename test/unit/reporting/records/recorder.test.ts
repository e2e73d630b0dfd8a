import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { newRunId } from '../../../../src/reporting/records/folder.ts';
import type { EpochLine, RunLine, StartLine } from '../../../../src/reporting/records/record.ts';
import { Recorder } from '../../../../src/reporting/records/recorder.ts';
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

interface Kept {
  readonly recorder: Recorder;
  readonly path: string;
  readonly failures: string[];
  /** What went to onLine. */
  readonly seen: RunLine[];
  lines(): RunLine[];
}

function record(folder: string, start: StartLine = startLine()): Kept {
  const failures: string[] = [];
  const seen: RunLine[] = [];
  const recorder = new Recorder({
    folder,
    start,
    onFailure: (message) => failures.push(message),
    onLine: (line) => seen.push(line),
  });
  onTestFinished(() => recorder.close());
  const path = join(folder, `${start.id}.jsonl`);
  return { recorder, path, failures, seen, lines: () => linesOf(path) };
}

function linesOf(path: string): RunLine[] {
  const text = readFileSync(path, 'utf8');
  expect(text.endsWith('\n')).toBe(true);
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as RunLine);
}

const isEpoch = (line: RunLine): line is EpochLine => line.event === 'epoch';

describe('the file of a record', () => {
  test('is made when training begins, with what was said before', () => {
    const folder = join(temporaryFolder(), 'a', 'b');
    const { recorder, path, lines } = record(folder);
    recorder.write({ event: 'notice', message: 'λ is small' });
    expect(existsSync(dirname(folder))).toBe(false);
    recorder.write(beginLine());
    expect(existsSync(path)).toBe(true);
    expect(lines().map(({ event }) => event)).toEqual(['start', 'notice', 'begin']);
  });

  test('a run that is refused leaves nothing', () => {
    const folder = join(temporaryFolder(), 'runs');
    const { recorder, seen } = record(folder);
    recorder.write({ event: 'notice', message: 'reading' });
    recorder.write(failureLine);
    recorder.close();
    expect(existsSync(folder)).toBe(false);
    expect(seen.map(({ event }) => event)).toEqual(['notice', 'failure']);
  });

  test('a report makes it too', () => {
    const start = startLine();
    const { recorder, lines } = record(temporaryFolder(), start);
    recorder.write(reportLine(1000));
    expect(lines()).toEqual([expect.objectContaining(start), reportLine(1000)]);
  });

  test('grows while the run continues, without being closed', async () => {
    const { recorder, lines } = record(temporaryFolder());
    recorder.write(beginLine());
    recorder.write(epochLine(1));
    await vi.waitFor(() => expect(lines().at(-1)).toEqual(epochLine(1)), 60_000);
    recorder.write(epochLine(2));
    await vi.waitFor(() => expect(lines().at(-1)).toEqual(epochLine(2)), 60_000);
  });

  test('has all lines after a process that ends without closing it', async () => {
    const folder = temporaryFolder();
    const { id, ended } = await recording(folder, 'exit');
    await ended;
    expect(linesOf(join(folder, `${id}.jsonl`)).at(-1)).toEqual(epochLine(10));
  });

  test('is never that of another run', () => {
    const folder = temporaryFolder();
    const start = startLine();
    const path = join(folder, `${start.id}.jsonl`);
    writeFileSync(path, 'of somebody else\n');
    const { recorder, failures, seen } = record(folder, start);
    recorder.write(beginLine());
    recorder.write(epochLine(1));
    recorder.close();
    expect(readFileSync(path, 'utf8')).toBe('of somebody else\n');
    expect(failures).toEqual([
      `this run is not recorded: ${folder}: a record with its name exists already`,
    ]);
    expect(seen).toEqual([beginLine(), epochLine(1)]);
  });

  test('may be behind a symbolic link', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'real'));
    symlinkSync(join(folder, 'real'), join(folder, 'link'), 'dir');
    const { recorder, failures, path } = record(join(folder, 'link'));
    recorder.write(beginLine());
    expect(failures).toEqual([]);
    expect(readdirSync(join(folder, 'real'))).toEqual([basename(path)]);
  });

  test('says when its process began, where the system does', ({ skip }) => {
    if (!existsSync('/proc/self/stat')) skip('a system without /proc');
    const { recorder, lines } = record(temporaryFolder());
    recorder.write(beginLine());
    const [start] = lines();
    expect(start).toHaveProperty('began', expect.any(Number));
    const remote = record(temporaryFolder(), startLine({ host: 'elsewhere' }));
    remote.recorder.write(beginLine());
    expect(remote.lines()[0]).not.toHaveProperty('began');
  });
});

describe('the default folder', () => {
  test('is made so that git leaves it alone', async () => {
    const parent = temporaryFolder();
    const { id, ended } = await recording('.dso/runs', 'exit', parent);
    await ended;
    expect(readdirSync(join(parent, '.dso')).sort()).toEqual(['.gitignore', 'runs']);
    expect(readFileSync(join(parent, '.dso/.gitignore'), 'utf8')).toBe('*\n');
    expect(readdirSync(join(parent, '.dso/runs'))).toEqual([`${id}.jsonl`]);
  });

  test('that is there already, or another one, gets nothing of the kind', async () => {
    const parent = temporaryFolder();
    mkdirSync(join(parent, '.dso'));
    await (await recording('.dso/runs', 'exit', parent)).ended;
    await (await recording('other/runs', 'exit', parent)).ended;
    expect(readdirSync(join(parent, '.dso'))).toEqual(['runs']);
    expect(readdirSync(join(parent, 'other'))).toEqual(['runs']);
  });
});

describe('long runs', () => {
  test('all of 10,000 epochs are written, then every tenth, and the last one', () => {
    const { recorder, lines, seen } = record(temporaryFolder());
    recorder.write(beginLine());
    for (let epoch = 1; epoch <= 10_025; epoch++) recorder.write(epochLine(epoch));
    recorder.write(resultLine);
    recorder.close();
    const numbers = lines()
      .filter(isEpoch)
      .map(({ epoch }) => epoch);
    expect(numbers.slice(0, 10_000)).toEqual(Array.from({ length: 10_000 }, (_, i) => i + 1));
    expect(numbers.slice(10_000)).toEqual([10_010, 10_020, 10_025]);
    expect(lines().at(-1)).toEqual(resultLine);
    expect(seen).toEqual(lines().slice(1));
  });

  test('the last epoch is there once, also if nothing says how the run ended', () => {
    const { recorder, lines } = record(temporaryFolder());
    recorder.write(beginLine());
    for (let epoch = 1; epoch <= 10_020; epoch++) recorder.write(epochLine(epoch));
    recorder.close();
    const numbers = lines()
      .filter(isEpoch)
      .map(({ epoch }) => epoch);
    expect(numbers.slice(9_999)).toEqual([10_000, 10_010, 10_020]);
    const other = record(temporaryFolder());
    other.recorder.write(beginLine());
    for (let epoch = 1; epoch <= 10_001; epoch++) other.recorder.write(epochLine(epoch));
    other.recorder.close();
    expect(other.lines().at(-1)).toEqual(epochLine(10_001));
  });

  test('the last epoch of every vector is written, the newest last', () => {
    const { recorder, lines } = record(temporaryFolder());
    recorder.write(beginLine({ vectors: 3 }));
    for (let epoch = 1; epoch <= 3_400; epoch++) {
      for (const vector of [2, 0, 1]) recorder.write(epochLine(epoch, { vector }));
    }
    recorder.write(epochLine(3_401, { vector: 0 }));
    recorder.write(failureLine);
    recorder.close();
    // The 10,200th line was due; the other two are the newest that were left out.
    expect(lines().slice(-4, -1)).toEqual([
      epochLine(3_400, { vector: 1 }),
      epochLine(3_400, { vector: 2 }),
      epochLine(3_401, { vector: 0 }),
    ]);
  });

  test('a vector that comes to the tolerance is written at once', () => {
    const { recorder, lines } = record(temporaryFolder());
    recorder.write(beginLine({ vectors: 3 }));
    for (let epoch = 1; epoch <= 10_000; epoch++) {
      recorder.write(epochLine(epoch, { vector: 0, relativeGap: 1 }));
    }
    for (const vector of [1, 2]) {
      recorder.write(epochLine(1, { vector, relativeGap: 1e-3 }));
      recorder.write(epochLine(2, { vector, relativeGap: 1e-4 }));
    }
    recorder.close();
    const others = lines().filter(isEpoch).slice(10_000);
    // The second epochs were left out until the end.
    expect(others.map(({ vector, epoch }) => [vector, epoch])).toEqual([
      [1, 1],
      [2, 1],
      [1, 2],
      [2, 2],
    ]);
  });

  test('bytes are added up for each vector, and nothing is lost with lines left out', () => {
    const { recorder, lines } = record(temporaryFolder());
    recorder.write(beginLine());
    for (let epoch = 1; epoch <= 10_014; epoch++) {
      recorder.write(epochLine(epoch, { vector: 0, bytes: 3 }));
    }
    recorder.write(epochLine(1, { vector: 1, bytes: 5 }));
    recorder.write(resultLine);
    recorder.close();
    const epochs = lines().filter(isEpoch);
    expect(epochs.slice(0, 2).map(({ bytes }) => bytes)).toEqual([3, 6]);
    expect(epochs.slice(-3).map(({ vector, epoch, bytes }) => [vector, epoch, bytes])).toEqual([
      [0, 10_010, 30_030],
      [0, 10_014, 30_042],
      [1, 1, 5],
    ]);
  });

  test('samples and notices stay few, and the newest sample is written', () => {
    const { recorder, lines } = record(temporaryFolder());
    recorder.write(beginLine());
    for (let epoch = 1; epoch <= 50_001; epoch++) {
      recorder.write(sampleLine(epoch));
      if (epoch <= 2_000) recorder.write({ event: 'notice', message: `${epoch}` });
    }
    recorder.write(epochLine(50_001));
    recorder.write(resultLine);
    recorder.close();
    const samples = lines().filter(({ event }) => event === 'sample');
    expect(samples.length).toBeGreaterThan(300);
    expect(samples.length).toBeLessThan(1000);
    expect(samples.at(-1)).toEqual(sampleLine(50_001));
    expect(lines().filter(({ event }) => event === 'notice')).toHaveLength(1000);
  });

  test('so do reports of a stream', () => {
    const { recorder, lines } = record(temporaryFolder());
    for (let rows = 1; rows <= 10_021; rows++) recorder.write(reportLine(rows));
    recorder.write(resultLine);
    recorder.close();
    const reports = lines().flatMap((line) => (line.event === 'report' ? [line.rows] : []));
    expect(reports.slice(9_998)).toEqual([9_999, 10_000, 10_010, 10_020, 10_021]);
  });
});

describe('what is written', () => {
  test('numbers survive; what JSON cannot express becomes null or is left out', () => {
    const { recorder, lines, seen } = record(temporaryFolder());
    recorder.write(beginLine());
    recorder.write(
      epochLine(1, { primal: 0.1 + 0.2, dual: -Infinity, relativeGap: Infinity, testError: NaN }),
    );
    recorder.write(epochLine(2, { primal: NaN, testError: 5e-324, testAuprc: 1 / 3 }));
    recorder.close();
    const { testError: _, ...first } = epochLine(1, { primal: 0.1 + 0.2, testError: 0 });
    expect(lines().slice(2)).toEqual([
      { ...first, dual: null, relativeGap: null },
      epochLine(2, { primal: null, testError: 5e-324, testAuprc: 1 / 3 }),
    ]);
    expect(seen).toEqual(lines().slice(1));
  });

  test('every line begins with its kind', () => {
    const { recorder, path } = record(temporaryFolder());
    recorder.write(beginLine());
    recorder.write({ ...epochLine(1), event: 'epoch', vector: 3 });
    const { event: _, ...fields } = resultLine;
    recorder.write({ ...fields, event: 'result' });
    recorder.close();
    const beginnings = readFileSync(path, 'utf8').match(/^.{26}/gm);
    expect(beginnings).toEqual([
      '{"event":"start","format":',
      '{"event":"begin","solver":',
      '{"event":"epoch","vector":',
      '{"event":"result","ended":',
    ]);
  });

  test('nothing follows a result', () => {
    const { recorder, lines, seen } = record(temporaryFolder());
    recorder.write(beginLine());
    recorder.write(resultLine);
    recorder.write(epochLine(1));
    recorder.write(failureLine);
    recorder.close();
    recorder.write(epochLine(2));
    expect(lines().slice(1)).toEqual([beginLine(), resultLine]);
    expect(seen).toEqual([beginLine(), resultLine]);
  });

  test('without a folder lines go to the listener alone', () => {
    const seen: RunLine[] = [];
    const start = startLine();
    const recorder = new Recorder({ start, onLine: (line) => seen.push(line) });
    recorder.write(beginLine());
    for (let epoch = 1; epoch <= 10_015; epoch++) recorder.write(epochLine(epoch, { bytes: 1 }));
    recorder.watchStop(() => expect.unreachable());
    recorder.write(resultLine);
    recorder.close();
    expect(seen.slice(-3)).toEqual([
      epochLine(10_010, { bytes: 10_010 }),
      epochLine(10_015, { bytes: 10_015 }),
      resultLine,
    ]);
  });
});

describe('a folder that cannot be written to ends the record, once, and not the run', () => {
  /** Lines are still seen. */
  function tryAt(folder: string): string[] {
    const { recorder, failures, seen } = record(folder);
    recorder.write(beginLine());
    for (let epoch = 1; epoch <= 5; epoch++) recorder.write(epochLine(epoch));
    recorder.write(resultLine);
    recorder.close();
    expect(seen).toHaveLength(7);
    return failures;
  }

  test('a file where it or a folder above should be', () => {
    const parent = temporaryFolder();
    const file = join(parent, 'file');
    writeFileSync(file, 'mine');
    for (const folder of [file, join(file, 'runs')]) {
      expect(tryAt(folder)).toEqual([`this run is not recorded: ${folder}: it is not a folder`]);
    }
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });

  test('a link that leads nowhere', () => {
    const parent = temporaryFolder();
    symlinkSync(join(parent, 'nowhere'), join(parent, 'link'));
    expect(tryAt(join(parent, 'link'))).toEqual([
      expect.stringMatching(/^this run is not recorded: .*link: there is no such folder/),
    ]);
  });

  test('one in which no file can be made', ({ skip }) => {
    if (!existsSync('/proc/self')) skip('a system without /proc');
    expect(tryAt('/proc/dso/runs')).toEqual([expect.stringMatching(/^this run is not recorded: /)]);
  });

  test('a disk that is full or becomes so', ({ skip }) => {
    const disk = temporaryFolder();
    try {
      const mount = ['-t', 'tmpfs', '-o', 'size=64k', 'none', disk];
      execFileSync('mount', mount, { stdio: 'ignore' });
    } catch {
      skip('a small file system to fill up can be mounted by root only');
    }
    onTestFinished(() => {
      execFileSync('umount', [disk]);
    });
    const { recorder, path, failures, seen } = record(disk);
    recorder.write(beginLine());
    for (let epoch = 1; epoch <= 2000; epoch++) recorder.write(epochLine(epoch));
    recorder.write(resultLine);
    recorder.close();
    expect(failures).toEqual([`the record of this run ends early: ${path}: the disk is full`]);
    expect(seen).toHaveLength(2002);
    // The part that found room is there.
    expect(statSync(path).size).toBeGreaterThan(4096);
    const second = record(disk);
    second.recorder.write(beginLine());
    second.recorder.close();
    expect(second.failures).toEqual([expect.stringContaining('the disk is full')]);
    expect(existsSync(second.path)).toBe(false);
  });
});

describe('older records', () => {
  test('make room for a new one: a hundred remain', () => {
    const folder = temporaryFolder();
    const older = Array.from({ length: 103 }, (_, seconds) => runId(seconds - 200));
    for (const id of older) {
      const lines = [startLine({ id }), beginLine(), resultLine];
      writeFileSync(join(folder, `${id}.jsonl`), recordText(lines));
    }
    const { recorder, path } = record(folder);
    recorder.write(beginLine());
    const names = readdirSync(folder).sort();
    expect(names).toEqual([...older.slice(4).map((id) => `${id}.jsonl`), basename(path)]);
  });
});

describe('a request to stop', () => {
  test('is heard once, and its file is gone', async () => {
    const { recorder, path } = record(temporaryFolder());
    const stop = path.replace(/jsonl$/, 'stop');
    recorder.write(beginLine());
    let calls = 0;
    recorder.watchStop(() => calls++);
    writeFileSync(stop, '');
    await vi.waitFor(() => expect(calls).toBe(1), 60_000);
    expect(existsSync(stop)).toBe(false);
  });

  test('that comes too late is cleared away', () => {
    const { recorder, path } = record(temporaryFolder());
    recorder.write(beginLine());
    writeFileSync(path.replace(/jsonl$/, 'stop'), '');
    recorder.close();
    expect(readdirSync(dirname(path))).toEqual([basename(path)]);
  });
});

test('names of runs come from here as well', () => {
  expect(newRunId(new Date(0))).toMatch(/^19700101-000000-/);
});
