import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Description } from '../../../../src/engine/checkpoint/file.ts';
import { addCheckpoint, type Workers } from '../../../../src/engine/checkpoint/folder.ts';
import {
  type CheckpointListing,
  type Choice,
  checkpointSetOf,
  chooseEpoch,
  listing,
  listingText,
  loadArrays,
  parseListing,
} from '../../../../src/engine/checkpoint/resume.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { arraysOf, description, layoutOf, shareOf, sharesOf } from './support/synthetic.ts';

/** What some processes write at an epoch; those without workers write nothing. */
function write(
  folder: string,
  epoch: number,
  shares: readonly Workers[],
  grid: number,
  more: Partial<Description> = {},
): void {
  for (const share of shares) {
    if (share[0] === share[1]) continue;
    const layout = layoutOf(grid, share);
    addCheckpoint(folder, description(epoch, more), arraysOf(layout, true), layout);
  }
}

/** What the ranks of a job choose from folders of their own, or from one they share. */
function choose(folders: string | readonly string[], ranks: number, grid: number) {
  const folderOf = (rank: number) => (typeof folders === 'string' ? folders : folders[rank]);
  const listings: CheckpointListing[] = sharesOf(ranks, grid).map((share, rank) =>
    parseListing(listingText(listing(folderOf(rank), share))),
  );
  const choice = chooseEpoch(listings, grid, (rank) => shareOf(rank, ranks, grid));
  return { listings, choice };
}

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, k) => from + k);

describe.each(range(1, 7))('a grid of %i', (grid) => {
  test.each(range(1, 5).flatMap((before) => range(1, 5).map((after) => [before, after])))(
    'written by %i ranks, read by %i: every number is where it belongs',
    (before, after) => {
      const folder = temporaryFolder();
      write(folder, 60, sharesOf(before, grid), grid);
      const { listings, choice } = choose(folder, after, grid);
      expect(choice?.epoch).toBe(60);
      for (const [rank, share] of sharesOf(after, grid).entries()) {
        const layout = layoutOf(grid, share);
        const target = arraysOf(layout, false);
        loadArrays(checkpointSetOf(listings[rank], choice as Choice), target, layout);
        expect(target).toEqual(arraysOf(layout, true));
      }
    },
  );
});

describe('which epoch', () => {
  test('the newest that all have', () => {
    const folder = temporaryFolder();
    write(folder, 60, sharesOf(3, 7), 7);
    write(folder, 70, sharesOf(3, 7).slice(0, 2), 7);
    const { choice } = choose(folder, 3, 7);
    expect(choice?.epoch).toBe(60);
    expect(choice?.passedOver).toEqual(['rank 2: epoch 70: no whole files of workers 4 to 6']);
    // Two ranks, one of which could go on from the newer one.
    expect(choose(folder, 2, 7).choice?.epoch).toBe(60);
    // An old number of ranks and a new one at the same epoch: together they have all workers.
    write(folder, 70, [[2, 7]], 7);
    for (const ranks of range(1, 5)) expect(choose(folder, ranks, 7).choice?.epoch).toBe(70);
  });

  test('each rank on a disk of its own', () => {
    const folders = range(0, 2).map(() => temporaryFolder());
    for (const [rank, folder] of folders.entries()) {
      write(folder, 60, [shareOf(rank, 3, 4)], 4);
      write(folder, 70, [shareOf(rank, 3, 4)], 4);
    }
    expect(choose(folders, 3, 4).choice?.epoch).toBe(70);
    const [newest] = readdirSync(folders[1]).sort().reverse();
    truncateSync(join(folders[1], newest), 300);
    const { choice } = choose(folders, 3, 4);
    expect(choice?.epoch).toBe(60);
    expect(choice?.passedOver).toEqual([expect.stringMatching(/0070.*: cut off/)]);
  });

  test('no common one: what each rank has', () => {
    const folders = range(0, 2).map(() => temporaryFolder());
    for (const epoch of [60, 70]) write(folders[0], epoch, [shareOf(0, 3, 4)], 4);
    write(folders[1], 50, [shareOf(1, 3, 4)], 4);
    expect(() => choose(folders, 3, 4)).toThrow(
      new RegExp(
        [
          'no checkpoint that all ranks have, so the run cannot continue:',
          'rank 0: whole files of epoch 70, 60 in .*',
          'rank 1: whole files of epoch 50 in .*',
          'rank 2: nothing whole in .*',
          'rank 1: epoch 70: no whole files of worker 1',
        ].join('\\n  '),
      ),
    );
  });

  test('none: undefined, also where only some ranks had their very first one', () => {
    const folder = temporaryFolder();
    expect(choose(folder, 3, 4).choice).toBeUndefined();
    expect(choose(join(folder, 'nowhere'), 1, 4).choice).toBeUndefined();
    write(folder, 5, [shareOf(1, 3, 4)], 4, { follows: 0 });
    expect(choose(folder, 3, 4).choice).toBeUndefined();
    write(folder, 5, [shareOf(0, 3, 4)], 4, { follows: 4 });
    expect(() => choose(folder, 3, 4)).toThrow('rank 2: epoch 5: no whole files of workers 2 to 3');
  });

  test('files of different runs are not put together', () => {
    const folder = temporaryFolder();
    const other = { saved: { convergence: { dual: 0 }, method: {} } };
    write(folder, 60, sharesOf(2, 4), 4);
    write(folder, 70, [[0, 2]], 4);
    write(folder, 70, [[2, 4]], 4, other);
    const { choice } = choose(folder, 1, 4);
    expect(choice?.epoch).toBe(60);
    expect(choice?.passedOver).toEqual([
      expect.stringMatching(/epoch 70: files of different runs: .*workers-0-2.*, .*workers-2-4/),
    ]);
    // Either half serves one of two ranks, but not the same run.
    const two = choose(folder, 2, 4).choice;
    expect(two?.epoch).toBe(60);
    expect(two?.passedOver).toEqual(['epoch 70: ranks have files of different runs']);
    write(folder, 70, [[0, 3]], 4, other);
    expect(choose(folder, 1, 4).choice?.epoch).toBe(70);
  });

  test('a rank without workers continues with the others', () => {
    const folder = temporaryFolder();
    write(folder, 60, [[0, 1]], 1);
    const { listings, choice } = choose(folder, 3, 1);
    expect(listings.map(({ parts }) => parts.length)).toEqual([0, 0, 1]);
    expect(choice?.header.saved).toEqual(description(60).saved);
    expect(checkpointSetOf(listings[0], choice as Choice).parts).toEqual([]);
  });
});

describe('one process', () => {
  const alone = (folder: string) => chooseEpoch([listing(folder, [0, 2], 1)], 2, () => [0, 2]);
  const fill = (folder: string, epochs: readonly number[]) => {
    for (const epoch of epochs) write(folder, epoch, [[0, 2]], 2);
  };

  test('the newest is used, by number; older ones are not read', () => {
    const folder = temporaryFolder();
    fill(folder, [9, 10, 100]);
    expect(alone(folder)?.epoch).toBe(100);
    expect(listing(folder, [0, 2], 1).parts).toHaveLength(1);
  });

  test('one that opens but cannot be read is told of, and the one before used', () => {
    const folder = temporaryFolder();
    fill(folder, [9]);
    mkdirSync(join(folder, 'epoch-0000000010.checkpoint'));
    const choice = alone(folder);
    expect(choice?.epoch).toBe(9);
    expect(choice?.passedOver).toEqual([
      expect.stringContaining('epoch-0000000010.checkpoint: cannot be read: EISDIR'),
    ]);
  });

  test('with nothing whole: an error that says what is wrong with each', () => {
    const folder = temporaryFolder();
    fill(folder, [9, 10]);
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      const bytes = readFileSync(path);
      bytes[bytes.length - 40] ^= 1;
      writeFileSync(path, bytes);
    }
    expect(() => alone(folder)).toThrow(
      /no complete checkpoint in .*\n.*0010.checkpoint: damaged: .*\n.*0009.checkpoint: damaged: /,
    );
  });
});
