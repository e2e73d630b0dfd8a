import { describe, expect, test } from 'vitest';
import { dataName, runLabels } from '../../../../src/reporting/records/labels.ts';
import type { BeginLine, RunSummary, StartLine } from '../../../../src/reporting/records/record.ts';

let count = 0;

function run(start: Partial<StartLine> = {}, begin: Partial<BeginLine> = {}): RunSummary {
  const id = `20261115-212345-${(count++).toString(16).padStart(4, '0')}`;
  const common = { id, data: 'data/a9a.svm', loss: 'hinge', penalty: 'l2', options: {} };
  return {
    id,
    status: 'done',
    start: { ...common, ...start } as StartLine,
    begin: { solver: 'dso', lambda: 1e-3, ...begin } as BeginLine,
  };
}

test('data is called by its file', () => {
  const names = ['a/b.svm', 'c:\\d.svm', 'e.svm', '-'].map((data) => dataName(run({ data })));
  expect(names).toEqual(['b.svm', 'd.svm', 'e.svm', 'standard input']);
});

const labels = (...runs: RunSummary[]) => [...runLabels(runs).values()];

describe('what runs are called', () => {
  test('alone: by the solver', () => {
    expect(labels(run())).toEqual(['dso']);
  });

  test('by what they differ in, and not by what they share', () => {
    expect(labels(run(), run({}, { solver: 'ring-rows' }))).toEqual(['dso', 'ring-rows']);
    expect(
      labels(run({ loss: 'logistic' }, { lambda: 0.1 }), run({ data: 'other/b.svm' })),
    ).toEqual(['a9a.svm · logistic · λ 0.1', 'b.svm · hinge · λ 0.001']);
  });

  test('by options where the rest is alike, never by those without effect', () => {
    const plain = run({ options: { output: 'a.model', seed: 1 } });
    const other = run({ options: { output: 'b.model', seed: 2, noShrink: true } });
    expect(labels(plain, other)).toEqual(['dso · seed 1', 'dso · no shrink · seed 2']);
  });

  test('by the end of the id where nothing differs', () => {
    const [first, second] = [run(), run()];
    expect(labels(first, second)).toEqual([first, second].map(({ id }) => `dso · ${id.slice(-4)}`));
  });

  test('by their whole ids where even the ends of these are the same', () => {
    const ids = ['20261115-213000-00ab', '20261115-213001-00ab'];
    expect(labels(...ids.map((id) => ({ ...run(), id })))).toEqual(ids.map((id) => `dso · ${id}`));
  });

  test('by the name that they were given', () => {
    expect(labels(run({ name: 'baseline' }), run())).toEqual(['baseline', 'dso']);
    const twice = labels(run({ name: 'x' }), run({ name: 'x', options: { seed: 2 } }));
    expect(twice[1]).toBe('x · seed 2');
    expect(twice[0]).toMatch(/^x$/);
  });
});
