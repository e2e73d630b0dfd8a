import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { epochLine as lineOf } from '../../../../src/apps/cli/observers.ts';
import { Recorder, RunLog } from '../../../../src/reporting/records/recorder.ts';
import type { EpochEvent } from '../../../../src/train/events.ts';
import { beginLine, epochLine, resultLine, startLine } from '../../../support/run-lines.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const neverFails = {
  onFailure(message: string) {
    throw new Error(message);
  },
};

const linesIn = (path: string) =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('the file appears with the first epoch and has all lines before it', () => {
  const path = join(temporaryFolder(), 'run.jsonl');
  const recorder = new Recorder({ start: startLine(), log: new RunLog(path, neverFails) });
  recorder.write(beginLine());
  expect(existsSync(path)).toBe(false);
  recorder.write(epochLine(1));
  expect(linesIn(path).map(({ event }) => event)).toEqual(['start', 'begin', 'epoch']);
  recorder.write(epochLine(2));
  expect(linesIn(path).at(-1)).toEqual(epochLine(2));
  recorder.close();
});

test('it names neither the process nor its machine', () => {
  const path = join(temporaryFolder(), 'run.jsonl');
  const start = startLine();
  const recorder = new Recorder({ start, log: new RunLog(path, neverFails) });
  recorder.write(epochLine(1));
  recorder.close();
  const { pid: _, host: _host, ...others } = start;
  expect(linesIn(path)[0]).toEqual(others);
});

test('it has every epoch of a run whose record is downsampled', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'run.jsonl');
  const start = startLine();
  const recorder = new Recorder({ folder, start, log: new RunLog(path, neverFails) });
  recorder.write(beginLine());
  for (let epoch = 1; epoch <= 10_015; epoch++) recorder.write(epochLine(epoch));
  recorder.write(resultLine);
  recorder.close();
  const epochs = (lines: { event: string }[]) => lines.filter(({ event }) => event === 'epoch');
  expect(epochs(linesIn(path))).toHaveLength(10_015);
  expect(epochs(linesIn(join(folder, `${start.id}.jsonl`)))).toHaveLength(10_002);
  expect(linesIn(path).at(-1)).toEqual(resultLine);
});

const event: EpochEvent = {
  vector: { index: 1, count: 3 },
  epoch: 4,
  seconds: 0.5,
  passes: 4.5,
  primal: 0.25,
  dual: 0.125,
  relativeGap: 0.5,
  latest: { primal: 0.5, dual: 0.125 },
  testError: 0.0625,
  testAuprc: 0.75,
  effort: { computing: 1, waiting: 2, communicating: 0.5, bytes: 100 },
};

test('an epoch has all that training reports of it, in the record too', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'run.jsonl');
  const start = startLine();
  const recorder = new Recorder({ folder, start, log: new RunLog(path, neverFails) });
  recorder.write(beginLine({ vectors: 3 }));
  recorder.write(lineOf(event, 7));
  recorder.close();
  const common = { event: 'epoch', elapsed: 7, bytes: 100 };
  expect(linesIn(path).at(-1)).toEqual({ ...event, ...common });
  expect(linesIn(join(folder, `${start.id}.jsonl`)).at(-1)).toEqual({
    ...event,
    ...common,
    vector: 1,
  });
});

test('a log that cannot be written is reported once and does not throw', () => {
  const path = join(temporaryFolder(), 'folder');
  mkdirSync(path);
  const failures: string[] = [];
  const log = new RunLog(path, { onFailure: (message) => failures.push(message) });
  log.write(epochLine(1));
  log.write(epochLine(2));
  log.close();
  expect(failures).toHaveLength(1);
  expect(failures[0]).toContain('EISDIR');
  expect(log.failed).toBe(true);
});

test('lines can be printed instead', () => {
  let printed = '';
  const print = (line: string) => {
    printed += line;
  };
  const log = new RunLog('-', { ...neverFails, print });
  log.write(epochLine(1));
  expect(printed).toBe(`${JSON.stringify(epochLine(1))}\n`);
});

const text = (epoch: number) => `${JSON.stringify(epochLine(epoch))}\n`;
const result = `${JSON.stringify(resultLine)}\n`;

test.each([
  ['lines after the checkpoint are written again', text(3) + text(4) + text(5), text(3)],
  [
    'so is the result of a run that had ended',
    text(3) + result + text(4) + result,
    text(3) + result,
  ],
  ['an incomplete line is removed', `${text(3)}{"event":"ep`, text(3)],
  ['lines of others stay', `mine\n${text(3)}`, `mine\n${text(3)}`],
  ['nothing is removed if nothing is written again', text(3) + result, text(3) + result],
])('a log that continues with epoch 4: %s', (_, before, remaining) => {
  const path = join(temporaryFolder(), 'run.jsonl');
  writeFileSync(path, before);
  const log = new RunLog(path, { ...neverFails, resumes: true });
  log.write(beginLine());
  log.write(epochLine(4));
  log.write(epochLine(5));
  log.close();
  const begin = `${JSON.stringify(beginLine())}\n`;
  expect(readFileSync(path, 'utf8')).toBe(remaining + begin + text(4) + text(5));
});

test('a log to continue that does not exist is created', () => {
  const path = join(temporaryFolder(), 'run.jsonl');
  const log = new RunLog(path, { ...neverFails, resumes: true });
  log.write(epochLine(4));
  log.close();
  expect(readFileSync(path, 'utf8')).toBe(text(4));
});
