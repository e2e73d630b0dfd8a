import { describe, expect, test } from 'vitest';
import { parseLine } from '../../../../src/reporting/records/lines.ts';

function parse(line: object) {
  const bytes = Buffer.from(JSON.stringify(line));
  return parseLine(bytes, 0, bytes.length);
}

const start = {
  event: 'start',
  id: '20261115-212345-3f9c',
  started: '2026-11-15T21:23:45.678Z',
  version: '1.0.0',
  pid: 1,
  host: 'kiwi',
  data: 'a.svm',
  model: 'a.model',
  task: 'classification',
  loss: 'hinge',
  penalty: 'l2',
  tolerance: 0.001,
  options: {},
};
const begin = {
  event: 'begin',
  solver: 'dso',
  lambda: 1,
  rows: 1,
  columns: 1,
  nonzeros: 1,
  vectors: 1,
  grid: 1,
  threads: 1,
  loads: { rows: [1], columns: [1] },
  imbalance: { rows: 0, columns: 0, nonzeros: 0 },
  seconds: { read: 0, partition: 0 },
};
const thread = { first: 0, computing: 1, waiting: 0, communicating: 0, bytes: 0 };
const sample = {
  event: 'sample',
  epoch: 1,
  seconds: 1,
  memory: 1,
  threads: [thread],
  features: [{ name: 'a', weight: 1 }],
};
const epoch = {
  event: 'epoch',
  epoch: 1,
  seconds: 1,
  passes: 1,
  primal: 1,
  dual: null,
  relativeGap: null,
};
const result = { event: 'result', ended: '', code: 0, model: 'a.model' };

describe('a line of a record', () => {
  test.each([start, begin, sample, epoch, result])('$event is taken as it is', (line) => {
    expect(parse(line)).toEqual(line);
    expect(parse({ ...line, unheard: { of: ['it'] } })).toBeDefined();
  });

  test.each<[string, object]>([
    ['no kind', {}],
    ['a kind of Object.prototype', { event: 'constructor' }],
    ['a list', [start]],
    ['a time that is none', { ...start, started: 'soon' }],
    ['words that are none', { ...start, words: [{}] }],
    ['words in one text', { ...start, words: 'train' }],
    ['options in a list', { ...start, options: [] }],
    ['a limit in words', { ...start, epochs: 'x' }],
    ['a grid beyond all bounds', { ...begin, grid: 1e308 }],
    ['no grid', { ...begin, grid: 0 }],
    ['part of a class', { ...begin, vectors: 1.5 }],
    ['classes without end', { ...begin, vectors: 1e9 }],
    ['loads that are none', { ...begin, loads: { rows: null, columns: 'x' } }],
    ['a load in words', { ...begin, loads: { rows: ['1'], columns: [1] } }],
    ['no imbalance', { ...begin, imbalance: {} }],
    ['ranks in words', { ...begin, ranks: 'x' }],
    ['threads that are none', { ...sample, threads: [null, null] }],
    ['a thread without its time', { ...sample, threads: [{ first: 0 }] }],
    ['features that are none', { ...sample, features: [null] }],
    ['a feature without a name', { ...sample, features: [{ weight: 1 }] }],
    ['an error in words', { ...epoch, testError: 'x' }],
    ['passes in words', { ...result, passes: 'p' }],
    ['times that are none', { ...result, seconds: {} }],
  ])('%s: it is none', (_, line) => {
    expect(parse(line)).toBeUndefined();
  });
});
