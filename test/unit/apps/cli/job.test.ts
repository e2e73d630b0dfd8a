import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { LostRanks } from '../../../../src/apps/cli/job.ts';

/** Whether it is a rank's turn to report once these are lost. */
async function reports(rank: number, lost: readonly number[]): Promise<boolean> {
  const losses = new LostRanks(rank);
  for (const other of lost) losses.add(other);
  let isTurn = false;
  void losses.turn.then(() => {
    isTurn = true;
  });
  await setImmediate();
  return isTurn;
}

describe('who says that ranks are lost', () => {
  test('rank 0, or rank 1 if rank 0 is lost', async () => {
    expect(await reports(0, [2])).toBe(true);
    expect(await reports(1, [2])).toBe(false);
    expect(await reports(1, [0])).toBe(true);
    expect(await reports(2, [0])).toBe(false);
  });

  test('the first that is left where several are lost, such as behind a cut cable', async () => {
    expect(await reports(2, [0, 1])).toBe(true);
    expect(await reports(2, [1, 0])).toBe(true);
    expect(await reports(3, [0, 1])).toBe(false);
    expect(await reports(2, [0, 3])).toBe(false);
  });

  test('no rank before one is lost', async () => {
    const losses = new LostRanks(0);
    expect(losses.any).toBe(false);
    losses.add(1);
    expect(losses.any).toBe(true);
    expect(await reports(0, [])).toBe(false);
  });
});
