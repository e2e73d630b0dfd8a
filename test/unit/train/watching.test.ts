import { describe, expect, test } from 'vitest';
import { encodeModel } from '../../../src/model/file.ts';
import { losses } from '../../../src/problem/losses/index.ts';
import { penalties } from '../../../src/problem/penalties/index.ts';
import { solverByName, solverNames, solvers } from '../../../src/solvers/index.ts';
import type { BeginEvent, SampleEvent } from '../../../src/train/events.ts';
import type { TrainOptions } from '../../../src/train/options/options.ts';
import { train } from '../../../src/train/train.ts';
import { sample } from '../../support/data.ts';

const { dataset } = sample({ rows: 300, columns: 40 });

async function watch(options: TrainOptions) {
  const samples: SampleEvent[] = [];
  const looks: ReturnType<BeginEvent['look']>[] = [];
  let begin: BeginEvent | undefined;
  const result = await train(dataset, {
    ...options,
    onBegin(event) {
      begin = event;
      looks.push(event.look());
    },
    onEpoch: () => void looks.push(begin?.look()),
    onSample: (event) => void samples.push(event),
  });
  looks.push(begin?.look());
  return { ...result, begin: begin as BeginEvent, samples, looks };
}

describe('a run that is watched', () => {
  test('begins with the whole grid: rows, columns and non-zeros of every part', async () => {
    const { begin, report } = await watch({ grid: 4, threads: 2 });
    const total = (shares: readonly number[]) => shares.reduce((sum, share) => sum + share, 0);
    expect(begin).toMatchObject({ grid: 4, threads: 2, vectors: 1, rows: 300, columns: 40 });
    expect([total(begin.loads.rows), total(begin.loads.columns)]).toEqual([300, 40]);
    expect(begin.loads.cells).toHaveLength(16);
    expect(total(begin.loads.cells)).toBe(dataset.nonzeros);
    expect(begin.imbalance).toEqual(report.imbalance);
    expect(begin.solver).toBe(report.solver);
  });

  test('ends with a sample: the largest weights of the model, and the time of every thread', async () => {
    const { samples, model, report } = await watch({ grid: 4, threads: 2, intercept: true });
    const last = samples.at(-1) as SampleEvent;
    expect(last.epoch).toBe(report.epochs);
    expect(last.threads.map(({ first }) => first)).toEqual([0, 2]);
    const computing = last.threads.reduce((sum, thread) => sum + thread.computing, 0);
    expect(computing).toBeCloseTo(report.effort.computing, 9);
    expect(last.memory).toBeGreaterThan(1e6);
    const bySize = [...model.weights.keys()].sort(
      (a, b) => Math.abs(model.weights[b]) - Math.abs(model.weights[a]),
    );
    const columns = last.largest.map(({ column }) => column);
    expect(columns).toEqual(bySize.slice(0, columns.length));
    expect(columns.length).toBeGreaterThanOrEqual(19);
    for (const { column, weight } of last.largest) expect(weight).toBe(model.weights[column]);
  });

  test('reports the weights that the model will have, also where columns were scaled', async () => {
    const { samples, model } = await watch({ scale: 'std' });
    for (const { column, weight } of samples.at(-1)?.largest ?? []) {
      expect(weight).toBe(model.weights[column]);
    }
  });

  test('several classes: each sample names its vector', async () => {
    const labels = dataset.parts[0].labels.map((_, row) => row % 3);
    const three = { ...dataset, parts: [{ ...dataset.parts[0], labels }] };
    const vectors = new Set<number>();
    await train(three, { onSample: ({ vector }) => void vectors.add(vector!.index) });
    expect([...vectors].sort((a, b) => a - b)).toEqual([0, 1, 2]);
  });

  test('shows where blocks are only while it trains', async () => {
    const { looks } = await watch({ grid: 4, threads: 2, solver: solvers.dso(), epochs: 20 });
    expect([looks.at(0), looks.at(-1)]).toEqual([undefined, undefined]);
    const seen = looks.filter((look) => look !== undefined);
    expect(seen.length).toBeGreaterThan(0);
    for (const { holders, elsewhere } of seen) {
      expect(holders).toHaveLength(4);
      expect(holders.every((worker) => worker >= 0 && worker < 4)).toBe(true);
      expect(elsewhere).toEqual([]);
    }
  });

  test.each(solverNames.filter((name) => name !== 'dso-async'))(
    '%s: watching does not change a bit of the model',
    async (name) => {
      const solver = solverByName(name);
      const grid = ['sgd', 'dcd'].includes(name) ? 1 : 4;
      const penalty = name === 'working-set' ? penalties.l1() : penalties.l2();
      const options = { loss: losses.logistic(), penalty, solver, grid, epochs: 5 };
      const watched = await watch({ ...options, threads: 2 });
      const plain = await train(dataset, { ...options, threads: 1 });
      expect(encodeModel(watched.model)).toEqual(encodeModel(plain.model));
    },
  );

  test('an exception in onSample stops it and rejects train()', async () => {
    const onSample = () => {
      throw new Error('no more');
    };
    await expect(train(dataset, { onSample })).rejects.toThrow('no more');
  });
});
