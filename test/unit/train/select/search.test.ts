import { describe, expect, test } from 'vitest';
import { losses } from '../../../../src/problem/losses/index.ts';
import { penalties } from '../../../../src/problem/penalties/index.ts';
import { crossValidate } from '../../../../src/train/select/cross-validate.ts';
import { type SearchOptions, search, searchAndTrain } from '../../../../src/train/select/search.ts';
import { train } from '../../../../src/train/train.ts';
import { sampleFor } from '../../../support/data.ts';

const { dataset } = sampleFor(losses.hinge(), { rows: 150, columns: 12, noise: 2 });
const options = {
  losses: [losses.hinge(), losses.logistic()],
  penalties: [penalties.l2(), penalties.l1()],
  lambdas: [0.03, 0.003],
  folds: 3,
  threads: 1,
} satisfies SearchOptions;

const nameOf = ({ loss, penalty }: { loss: { name: string }; penalty: { name: string } }) =>
  `${loss.name} ${penalty.name}`;

describe('a search', () => {
  test('ranks every loss with every penalty by the same measure on the same folds', async () => {
    const fits: string[] = [];
    const { ranking, winner, metric, complete } = await search(dataset, {
      ...options,
      onFit: (candidate, done, of) => fits.push(`${candidate}: ${done} of ${of}`),
    });
    expect([metric, complete]).toEqual(['error', true]);
    expect(ranking.map(nameOf).toSorted()).toEqual([
      'hinge l1',
      'hinge l2',
      'logistic l1',
      'logistic l2',
    ]);
    expect(winner).toBe(ranking[0]);
    expect(fits).toHaveLength(4 * 6);
    expect(fits.at(-1)).toBe('3: 6 of 6');
    const means = ranking.map(({ validation }) => validation.best.mean);
    expect(means).toEqual(means.toSorted((left, right) => left - right));
    for (const { loss, penalty, validation } of ranking) {
      const { lambdas, folds, threads } = options;
      const alone = { loss, penalty, lambdas, folds, threads };
      expect(await crossValidate(dataset, alone)).toEqual(validation);
    }
  });

  test('trains the winner on all rows', async () => {
    const found = await searchAndTrain(dataset, { ...options, metric: 'auc' });
    const { loss, penalty, validation } = found.search.winner;
    const means = found.search.ranking.map((one) => one.validation.best.mean);
    expect(means).toEqual(means.toSorted((left, right) => right - left));
    const areas = validation.lambdas.map(({ mean }) => mean);
    expect(validation.best.mean).toBe(Math.max(...areas));
    expect(validation.best.mean).toBeGreaterThan(0.5);
    const { model } = await train(dataset, {
      loss,
      penalty,
      lambda: validation.best.lambda,
      threads: 1,
    });
    expect(found.model).toEqual(model);
  });

  test('in regression by the mean squared error', async () => {
    const { dataset: real } = sampleFor(losses.square(), { rows: 90, columns: 5 });
    const some = [losses.square(), losses.huber(), losses.absolute()];
    const { metric, winner } = await search(real, { ...options, losses: some });
    expect(metric).toBe('mse');
    expect(winner.validation.best.mean).toBeLessThan(2);
  });

  test('ended by a signal: candidates that were done are ranked', async () => {
    const controller = new AbortController();
    const found = await search(dataset, {
      ...options,
      signal: controller.signal,
      onFit: (candidate, done) => candidate === 2 && done === 3 && controller.abort(),
    });
    expect(found.complete).toBe(false);
    expect(found.ranking.map(nameOf).toSorted()).toEqual(['hinge l1', 'hinge l2']);
  });

  test.each([
    [{ losses: [] }, 'no loss to search among'],
    [{ penalties: [] }, 'no penalty to search among'],
    [{ losses: [losses.hinge(), losses.square()] }, 'no measure fits both'],
    [{ metric: 'mae' }, 'is not measured by mae'],
    [{ metric: 'loss' }, 'choose error or auc'],
    [
      { losses: [losses.quantile({ quantile: 0.1 }), losses.quantile()], metric: 'loss' },
      'choose mse or mae',
    ],
  ])('%o is refused', async (change, message) => {
    await expect(search(dataset, { ...options, ...change } as SearchOptions)).rejects.toThrow(
      message,
    );
  });
});
