import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunLine, StartLine } from '../../../../src/reporting/records/record.ts';
import { Recorder } from '../../../../src/reporting/records/recorder.ts';
import { RunView } from '../../../../src/reporting/records/run-view.ts';
import { listRuns, readRun } from '../../../../src/reporting/records/store.ts';
import { fc } from '../../../support/property.ts';
import {
  beginLine,
  epochLine,
  failureLine,
  reportLine,
  resultLine,
  runId,
  sampleLine,
  startLine,
} from '../../../support/run-lines.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

describe('a run in memory', () => {
  test('says what has come so far', () => {
    const start = startLine();
    const run = RunView.live(start);
    expect(run.id).toBe(start.id);
    expect(run.summary()).toEqual({ id: start.id, status: 'running', start });
    expect(run.detail()).toMatchObject({ epochs: 0, series: { epoch: [] }, samples: [] });
    run.add(beginLine());
    run.add(epochLine(1));
    run.add({ event: 'notice', message: 'note' });
    expect(run.summary()).toMatchObject({ begin: beginLine(), latest: epochLine(1) });
    expect(run.summary('lost').status).toBe('lost');
    const earlier = run.detail();
    run.add({ event: 'notice', message: 'another' });
    run.add(failureLine);
    expect(run.summary()).toMatchObject({ status: 'failed', failure: failureLine });
    expect(run.detail().notices).toEqual(['note', 'another']);
    expect(earlier.notices).toEqual(['note']);
  });

  test('says which vectors have reached the tolerance', () => {
    const run = RunView.live(startLine({ tolerance: 0.1 }));
    run.add(beginLine({ vectors: 3 }));
    expect(run.detail().reached).toEqual([]);
    run.add(epochLine(20, { vector: 2 }));
    run.add(epochLine(19, { vector: 1 }));
    run.add(epochLine(30, { vector: 0 }));
    expect(run.detail({ vector: 1 }).reached).toEqual([0, 2]);
  });

  test('passes every line to its listeners until they unsubscribe', () => {
    const run = RunView.live(startLine());
    const heard: RunLine[] = [];
    run.add(beginLine());
    const leave = run.subscribe((line) => heard.push(line));
    run.add(epochLine(1));
    run.add(resultLine);
    run.add(epochLine(2));
    leave();
    leave();
    expect(heard).toEqual([epochLine(1), resultLine]);
    expect(run.summary()).toMatchObject({ status: 'done', latest: epochLine(1) });
  });
});

type Line = Exclude<RunLine, StartLine>;

const measured = fc.oneof(fc.double(), fc.constantFrom(Infinity, -Infinity, NaN, -0, 1 / 3));
const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
const count = fc.nat({ max: 1e6 });

const epoch: fc.Arbitrary<Line> = fc
  .record(
    {
      vector: fc.nat({ max: 2 }),
      epoch: count,
      seconds: finite,
      passes: finite,
      primal: measured,
      dual: fc.oneof(measured, fc.constant(null)),
      relativeGap: measured,
      testError: measured,
      testAuprc: measured,
      bytes: count,
    },
    { requiredKeys: ['epoch', 'seconds', 'passes', 'primal', 'dual', 'relativeGap'] },
  )
  .map((fields) => ({ event: 'epoch', ...fields }));
const sample: fc.Arbitrary<Line> = fc
  .tuple(count, fc.string({ unit: 'binary' }), finite)
  .map(([number, name, weight]) => sampleLine(number, { features: [{ name, weight }] }));
const notice: fc.Arbitrary<Line> = fc
  .string({ unit: 'binary' })
  .map((message) => ({ event: 'notice', message }));
const report: fc.Arbitrary<Line> = fc.tuple(count, measured).map(([rows, loss]) => ({
  ...reportLine(rows),
  loss,
}));
const end: fc.Arbitrary<Line[]> = fc.constantFrom([], [resultLine], [failureLine]);
const lines = (repeated: fc.Arbitrary<Line>) => fc.array(repeated, { maxLength: 60 });

/** Training: notices, a beginning, epochs and samples, an end or none. */
const training = fc
  .tuple(lines(notice), lines(fc.oneof({ arbitrary: epoch, weight: 5 }, sample, notice)), end)
  .map(([before, during, after]) => [...before, beginLine(), ...during, ...after]);
/** Learning from a stream: reports instead. */
const streaming = fc
  .tuple(lines(notice), report, lines(fc.oneof(report, notice)), end)
  .map(([before, first, during, after]) => [...before, first, ...during, ...after]);

test('what is in memory is what a reader of the record finds', () => {
  const parent = temporaryFolder();
  fc.assert(
    fc.property(
      fc.oneof(training, streaming),
      fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }),
      fc.nat({ max: 2 }),
      (written, points, vector) => {
        const folder = mkdtempSync(join(parent, 'runs-'));
        // With another host the first line is written as it is given.
        const start = startLine({ id: runId(), host: 'elsewhere' });
        const run = RunView.live(start);
        const recorder = new Recorder({ folder, start, onLine: (line) => run.add(line) });
        for (const line of written) recorder.write(line);
        recorder.close();
        const query = { points, vector };
        expect(readRun(folder, start.id, query)).toEqual(run.detail(query));
        expect(listRuns(folder)).toEqual([run.summary()]);
      },
    ),
    { numRuns: 150 },
  );
});
