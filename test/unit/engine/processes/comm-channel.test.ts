/** The threads' side of the channel to the communication thread. */
import { describe, expect, test } from 'vitest';
import { workersOfRanks } from '../../../../src/engine/block-layout.ts';
import {
  announcedFields,
  answered,
  exchangesBlocks,
  linkTo,
  openChannel,
  rankOf,
  requested,
} from '../../../../src/engine/processes/comm-channel.ts';

const upTo = (count: number) => Array.from({ length: count }, (_, k) => k);
const open = (rank: number, ranks: number, workers: number) =>
  openChannel({ rank, size: ranks }, workers, new Int32Array(new SharedArrayBuffer(64 * workers)));

describe.each([1, 2, 3, 4, 9])('%i ranks', (ranks) => {
  test.each([1, 2, 3, 4, 5, 6, 7])(
    'play %i workers, each one of them, as evenly as can be',
    (workers) => {
      const firsts = workersOfRanks(workers, ranks);
      expect(firsts[0]).toBe(0);
      expect(firsts[ranks]).toBe(workers);
      const shares = upTo(ranks).map((rank) => firsts[rank + 1] - firsts[rank]);
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
      for (const worker of upTo(workers)) {
        const rank = rankOf({ firsts }, worker);
        expect(worker >= firsts[rank] && worker < firsts[rank + 1]).toBe(true);
      }
      // The rank with most workers has space for its numbers.
      const { sendBuffer, receiveBuffer } = open(0, ranks, workers);
      expect(sendBuffer.length).toBeGreaterThanOrEqual(Math.max(...shares));
      expect(receiveBuffer).toHaveLength(ranks * sendBuffer.length);
    },
  );
});

test('blocks leave a process that runs some workers, but not all', () => {
  expect(exchangesBlocks(open(0, 1, 4))).toBe(false);
  expect(exchangesBlocks(open(0, 2, 4))).toBe(true);
  expect(upTo(3).map((rank) => exchangesBlocks(open(rank, 3, 2)))).toEqual([false, true, true]);
  expect(upTo(2).map((rank) => exchangesBlocks(open(rank, 2, 1)))).toEqual([false, false]);
});

test('rotations are announced in order, each wakes the communication thread', () => {
  const channel = open(0, 2, 4);
  const link = linkTo(channel);
  expect(announcedFields(channel, 0)).toBeUndefined();
  for (const rotation of upTo(40)) {
    link.announceRotation(3 * rotation);
    expect(channel.wakeFlag[0]).toBe(rotation + 1);
    expect(announcedFields(channel, rotation)).toBe(3 * rotation);
    expect(announcedFields(channel, rotation + 1)).toBeUndefined();
  }
});

test('an allgather returns once it has been answered', () => {
  const channel = open(0, 2, 4);
  const link = linkTo(channel);
  for (const round of upTo(3)) {
    let received = Number.NaN;
    link.allgather({
      write: (buffer) => buffer.fill(round),
      // In place of the communication thread.
      wait(cells, index, value) {
        expect([index, value, channel.allgathers[requested]]).toEqual([answered, round, round + 1]);
        channel.receiveBuffer.fill(channel.sendBuffer[0] + 10);
        Atomics.add(cells, index, 1);
      },
      read(buffer) {
        [received] = buffer;
      },
    });
    expect(received).toBe(round + 10);
  }
});

test('without a channel there is rank 0 and nothing to exchange', () => {
  const link = linkTo(undefined);
  expect([link.rank, link.exchangesBlocks, link.sent, link.milliseconds]).toEqual([0, false, 0, 0]);
  const fail = () => {
    throw new Error('nothing to exchange');
  };
  expect(() => link.allgather({ write: fail, read: fail, wait: fail })).not.toThrow();
});
