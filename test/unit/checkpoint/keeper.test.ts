import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Interval, Keeper } from '../../../src/checkpoint/keeper.ts';
import { stateArrays } from '../../../src/checkpoint/state.ts';
import { temporaryFolder } from '../../support/temporary.ts';

function keeperIn(folder: string, every: Interval, epoch = 0) {
  const notices: string[] = [];
  const keeper = new Keeper(
    {
      folder,
      every,
      program: '1',
      identity: { data: { rows: 1, columns: 1, nonzeros: 1, hash: '' }, options: {} },
      workers: [0, 1],
      tolerance: 1,
      test: null,
    },
    epoch,
    (message) => notices.push(message),
  );
  const keep = (at: number) =>
    keeper.keep({ epoch: at, seconds: at, saved: { standing: {}, method: {} } }, () =>
      stateArrays({ row: { alpha: new Float64Array(10) } }),
    );
  return { keeper, notices, keep };
}

const epochsIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.checkpoint'))
    .map((name) => Number(/\d+/.exec(name)?.[0]))
    .sort((a, b) => a - b);

describe('when', () => {
  test('by epochs since the last', () => {
    const { keeper, keep } = keeperIn(temporaryFolder(), { epochs: 3 }, 5);
    expect([6, 7, 8, 9].map((epoch) => keeper.isDue(epoch))).toEqual([false, false, true, true]);
    keep(9);
    expect([10, 11, 12].map((epoch) => keeper.isDue(epoch))).toEqual([false, false, true]);
  });

  test('by seconds: at once for 0, not within an hour for an hour', () => {
    expect(keeperIn(temporaryFolder(), { seconds: 0 }).keeper.isDue(1)).toBe(true);
    expect(keeperIn(temporaryFolder(), { seconds: 3600 }).keeper.isDue(1)).toBe(false);
  });
});

describe('two generations', () => {
  test('stay; the older goes when the newer is there, and so does a damaged newest', () => {
    const folder = temporaryFolder();
    const { keep } = keeperIn(folder, { epochs: 1 });
    keep(1);
    expect(epochsIn(folder)).toEqual([1]);
    keep(2);
    expect(epochsIn(folder)).toEqual([1, 2]);
    writeFileSync(join(folder, 'epoch-0000000099.checkpoint'), 'damaged');
    keep(3);
    expect(epochsIn(folder)).toEqual([2, 3]);
  });

  test('one that cannot be written is told of once, the one before stays, the next is tried', () => {
    const folder = temporaryFolder();
    const { keep, notices } = keeperIn(folder, { epochs: 1 });
    keep(1);
    // A folder where the file should go stops everybody, root included.
    const inTheWay = [2, 3].map((epoch) => join(folder, `epoch-000000000${epoch}.checkpoint`));
    for (const path of inTheWay) mkdirSync(join(path, 'full'), { recursive: true });
    keep(2);
    keep(3);
    expect(notices).toHaveLength(1);
    expect(notices[0]).toContain('no checkpoint of epoch 2');
    expect(notices[0]).toContain('that of epoch 1 stays, and training goes on');
    expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).toEqual([]);
    expect(epochsIn(folder)).toContain(1);
    for (const path of inTheWay) rmSync(path, { recursive: true });
    keep(4);
    expect(epochsIn(folder)).toEqual([1, 4]);
  });
});
