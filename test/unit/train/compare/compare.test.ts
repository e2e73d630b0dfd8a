import { describe, expect, test } from 'vitest';
import { losses } from '../../../../src/problem/losses/index.ts';
import { solvers } from '../../../../src/solvers/index.ts';
import {
  type CompareOptions,
  type Competitor,
  compare,
} from '../../../../src/train/compare/compare.ts';
import type { Comparison } from '../../../../src/train/compare/comparison.ts';
import { datasetOf, sample } from '../../../support/data.ts';

const { dataset, rows, labels } = sample({ rows: 120, columns: 8 });
const { dataset: testRows } = sample({ rows: 50, columns: 8, seed: 2 });

const ring: Competitor = { name: 'ring', solver: solvers.ring() };
const dso: Competitor = { name: 'dso', solver: solvers.dso() };
/** Refuses the hinge. */
const columns: Competitor = { name: 'columns', solver: solvers.ring({ mode: 'columns' }) };
const short = { epochs: 5, tolerance: 1e-9, warmUp: false };

function states({ runs }: Comparison): string[] {
  return runs.map(({ loss, lambda, solver, state }) => `${loss} ${lambda} ${solver} ${state}`);
}

describe('runs', () => {
  test('every entrant on every problem, in order, with all events', async () => {
    const started: string[] = [];
    const comparison = await compare(dataset, {
      ...short,
      entrants: [ring, dso],
      losses: [losses.hinge(), losses.smoothedHinge({ smoothing: 0.5 })],
      lambdas: [0.1, 0.01],
      test: testRows,
      onStart: ({ entrant, place, count }) => started.push(`${place}/${count} ${entrant.name}`),
    });
    expect(states(comparison)).toEqual(
      ['hinge', 'smoothed-hinge (smoothing 0.5)'].flatMap((loss) =>
        [0.1, 0.01].flatMap((lambda) =>
          ['ring', 'dso'].map((solver) => `${loss} ${lambda} ${solver} finished`),
        ),
      ),
    );
    expect(started[2]).toBe('3/8 ring');
    for (const { report, events, notices } of comparison.runs) {
      expect(events).toHaveLength(report!.epochs);
      expect(events.at(-1)!.testError).toBe((report!.test as { error: number }).error);
      expect(notices[0]).toMatch(/^solver /);
    }
    expect(comparison.data).toMatchObject({ rows: 120, columns: 8, nonzeros: dataset.nonzeros });
    expect(comparison.test?.rows).toBe(50);
  });

  test('a warm-up changes no result', async () => {
    const options = { ...short, entrants: [ring, dso] };
    const cold = await compare(dataset, options);
    const warm = await compare(dataset, { ...options, warmUp: true });
    const results = (found: Comparison) =>
      found.runs.map((run) => run.events.map(({ epoch, primal, dual }) => [epoch, primal, dual]));
    expect(results(warm)).toEqual(results(cold));
  });

  test('holdout: one split for all', async () => {
    const options = { ...short, entrants: [ring], lambdas: [0.1, 0.01], holdout: 0.25 };
    const { data, test: held, runs } = await compare(dataset, options);
    expect([data.rows, held?.rows]).toEqual([90, 30]);
    expect(runs.map((run) => run.report!.rows)).toEqual([90, 90]);
  });

  test('AUPRC on demand', async () => {
    const options = { ...short, entrants: [ring], test: testRows };
    const { runs } = await compare(dataset, { ...options, auprc: true });
    for (const event of runs[0].events) expect(event.testAuprc).toBeGreaterThan(0.3);
    const without = await compare(dataset, options);
    expect(without.runs[0].events[0].testAuprc).toBeUndefined();
  });

  test('serial solvers take a grid of 1 whatever the others get', async () => {
    const sgd: Competitor = { name: 'sgd', solver: solvers.sgd() };
    const comparison = await compare(dataset, { ...short, entrants: [ring, sgd], grid: 3 });
    expect(comparison.runs.map((run) => run.report!.grid)).toEqual([3, 1]);
  });
});

describe('a run that comes to nothing', () => {
  test('refused: the reason is a result, and the next one runs', async () => {
    const comparison = await compare(dataset, { ...short, entrants: [columns, ring] });
    expect(comparison.runs.map((run) => run.state)).toEqual(['refused', 'finished']);
    expect(comparison.runs[0].reason).toContain('needs a smooth loss');
  });

  test('failed: an error other than an incompatibility', async () => {
    const wild = datasetOf(
      rows.map((row) => row.map((value) => Math.fround(value * 1e30))),
      labels,
    );
    const diverging: Competitor = {
      name: 'wild',
      solver: solvers.dso({ step: 'sqrt', stepSize: 1e300, svrg: false, boxes: false }),
    };
    const { runs } = await compare(wild, { ...short, entrants: [diverging] });
    expect(runs[0].state).toBe('failed');
    expect(runs[0].reason).not.toBe('');
  });

  test('data that no solver could take ends it', async () => {
    const alike = datasetOf(
      rows,
      labels.map(() => 1),
    );
    await expect(compare(alike, { ...short, entrants: [ring] })).rejects.toThrow(
      'all labels are 1',
    );
    await expect(compare(dataset, { ...short, entrants: [] })).rejects.toThrow('no solver');
    const untested = { ...short, entrants: [ring], auprc: true };
    await expect(compare(dataset, untested)).rejects.toThrow('auprc needs test or holdout');
  });

  test('an exception of a listener ends it', async () => {
    const onEpoch = () => {
      throw new Error('disk full');
    };
    const options = { ...short, entrants: [ring], onEpoch };
    await expect(compare(dataset, options)).rejects.toThrow('disk full');
  });
});

describe('going on from earlier results', () => {
  const options: CompareOptions = { ...short, entrants: [ring], lambdas: [0.1], command: 'one' };

  test('what finished is not run again; what is new is added', async () => {
    const previous = await compare(dataset, options);
    const skipped: string[] = [];
    const next = await compare(dataset, {
      ...options,
      entrants: [dso, ring],
      lambdas: [0.1, 0.01],
      command: 'two',
      previous,
      onSkip: ({ solver, lambda }) => skipped.push(`${solver} ${lambda}`),
    });
    expect(skipped).toEqual(['ring 0.1']);
    expect(next.runs[0]).toBe(previous.runs[0]);
    expect(states(next)).toEqual([
      'hinge 0.1 ring finished',
      'hinge 0.1 dso finished',
      'hinge 0.01 dso finished',
      'hinge 0.01 ring finished',
    ]);
    expect(next.commands).toEqual(['one', 'two']);
  });

  test('an interrupted run ends the comparison and is run again', async () => {
    // Its gap never becomes 0, however late the interrupt comes.
    const slow = { name: 'sgd', solver: solvers.sgd() };
    const controller = new AbortController();
    const previous = await compare(dataset, {
      ...options,
      entrants: [slow, ring],
      signal: controller.signal,
      onEpoch: () => controller.abort(),
      epochs: 1_000_000,
      tolerance: 1e-300,
    });
    expect(previous.runs.map((run) => run.state)).toEqual(['interrupted']);
    const { epochs: _epochs, tolerance: _tolerance, ...conditions } = previous.conditions;
    const again = await compare(dataset, {
      ...options,
      entrants: [slow, ring],
      previous: { ...previous, conditions: { ...conditions, epochs: 5, tolerance: 1e-9 } },
    });
    expect(again.runs.map((run) => run.state)).toEqual(['finished', 'finished']);
  });

  test('other settings under the same name are another run', async () => {
    const previous = await compare(dataset, options);
    const skipped: unknown[] = [];
    await compare(dataset, {
      ...options,
      entrants: [{ name: 'ring', solver: solvers.ring({ rotations: 2 }) }],
      previous,
      onSkip: (run) => skipped.push(run),
    });
    expect(skipped).toEqual([]);
  });

  test('refuses other data or conditions and says which', async () => {
    const previous = await compare(dataset, options);
    const outcome = (changes: Partial<CompareOptions>, data = dataset) =>
      compare(data, { ...options, ...changes, previous }).then(
        () => 'accepted',
        (error: Error) => error.message,
      );
    expect(await outcome({ tolerance: 1e-5 })).toMatch(/tolerance was 1e-9, is 1e-5\. .*--fresh/);
    expect(await outcome({ seed: 2, epochs: 6 })).toMatch(/epochs was 5, is 6; seed was 1, is 2/);
    expect(await outcome({ test: testRows })).toContain('the test data was none, is 50 rows');
    const flipped = datasetOf(rows, labels.with(0, -labels[0]));
    expect(await outcome({}, flipped)).toMatch(/the training data was 120 rows × 8 .* hash/);
    expect(await outcome({})).toBe('accepted');
  });
});
