import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Workers } from '../../../../src/engine/checkpoint/folder.ts';
import { chooseEpoch, listing } from '../../../../src/engine/checkpoint/resume.ts';
import { CheckpointWriter, type Interval } from '../../../../src/engine/checkpoint/writer.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { arraysOf, description, layoutOf, shareOf, sharesOf } from './support/synthetic.ts';

interface Options {
  readonly workers?: Workers;
  readonly grid?: number;
  /** The epoch in the same folder that the run continues from. */
  readonly from?: number;
}

function writerIn(folder: string, every: Interval, epoch = 0, options: Options = {}) {
  const { workers = [0, 1], grid = 1, from } = options;
  const notices: string[] = [];
  const { program, identity, tolerance, test: tested, saved } = description(0);
  const layout = layoutOf(grid, workers);
  const writer = new CheckpointWriter(
    {
      folder,
      every,
      program,
      identity,
      tolerance,
      test: tested,
      ...(from !== undefined && { previous: from }),
    },
    layout,
    from ?? epoch,
    (message) => notices.push(message),
  );
  const write = (at: number) =>
    writer.write({ epoch: at, seconds: at, saved }, () => arraysOf(layout, true));
  const keep = (at: number) => {
    write(at);
    writer.settle(at, writer.failed, true);
  };
  return { writer, notices, write, keep };
}

const epochsIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.checkpoint'))
    .map((name) => Number(/\d+/.exec(name)?.[0]))
    .sort((a, b) => a - b);

describe('when', () => {
  test('by epochs since the last', () => {
    const { writer, keep } = writerIn(temporaryFolder(), { epochs: 3 }, 5);
    expect([6, 7, 8, 9].map((epoch) => writer.isDue(epoch))).toEqual([false, false, true, true]);
    keep(9);
    expect([10, 11, 12].map((epoch) => writer.isDue(epoch))).toEqual([false, false, true]);
  });

  test('by seconds: at once for 0, not within an hour for an hour', () => {
    expect(writerIn(temporaryFolder(), { seconds: 0 }).writer.isDue(1)).toBe(true);
    expect(writerIn(temporaryFolder(), { seconds: 3600 }).writer.isDue(1)).toBe(false);
  });
});

describe('two generations', () => {
  test('stay; the older goes when the newer is there, and so does a damaged newest', () => {
    const folder = temporaryFolder();
    const { keep } = writerIn(folder, { epochs: 1 });
    keep(1);
    expect(epochsIn(folder)).toEqual([1]);
    keep(2);
    expect(epochsIn(folder)).toEqual([1, 2]);
    writeFileSync(join(folder, 'epoch-0000000099.checkpoint'), 'damaged');
    keep(3);
    expect(epochsIn(folder)).toEqual([2, 3]);
  });

  test('one that cannot be written is reported once, the one before stays, the next is tried', () => {
    const folder = temporaryFolder();
    const { keep, notices } = writerIn(folder, { epochs: 1 });
    keep(1);
    // A folder where the file should go stops everybody, root included.
    const inTheWay = [2, 3].map((epoch) => join(folder, `epoch-000000000${epoch}.checkpoint`));
    for (const path of inTheWay) mkdirSync(join(path, 'full'), { recursive: true });
    keep(2);
    keep(3);
    expect(notices).toHaveLength(1);
    expect(notices[0]).toContain('no checkpoint of epoch 2');
    expect(notices[0]).toContain('that of epoch 1 stays, and training continues');
    expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).toEqual([]);
    expect(epochsIn(folder)).toContain(1);
    for (const path of inTheWay) rmSync(path, { recursive: true });
    keep(4);
    expect(epochsIn(folder)).toEqual([1, 4]);
  });
});

/** Ranks that share a folder, or have one each, and keep their parts of one run. */
function ranksIn(folders: string | readonly string[], ranks: number, grid: number, from?: number) {
  const folderOf = (rank: number) => (typeof folders === 'string' ? folders : folders[rank]);
  const writers = sharesOf(ranks, grid).map((workers, rank) =>
    writerIn(folderOf(rank), { epochs: 1 }, 0, {
      workers,
      grid,
      ...(from !== undefined && { from }),
    }),
  );
  const settle = (epoch: number, rank: number) => {
    const failed = writers.flatMap(({ writer }) => (writer.failed ? [writer.failed] : []));
    const hull: Workers | undefined =
      failed.length === 0
        ? undefined
        : [Math.min(...failed.map(([first]) => first)), Math.max(...failed.map(([, end]) => end))];
    writers[rank].writer.settle(epoch, hull, rank === 0);
  };
  const keep = (epoch: number) => {
    for (const { write } of writers) write(epoch);
    for (const rank of writers.keys()) settle(epoch, rank);
  };
  return { writers, settle, keep };
}

/** The epoch that ranks would continue from. */
function common(folders: string | readonly string[], ranks: number, grid: number) {
  const listings = sharesOf(ranks, grid).map((share, rank) =>
    listing(typeof folders === 'string' ? folders : folders[rank], share),
  );
  return chooseEpoch(listings, grid, (rank) => shareOf(rank, ranks, grid))?.epoch;
}

/** All subsets of the ranks 0 … count-1. */
const subsets = (count: number) =>
  Array.from({ length: 2 ** count }, (_, bits) =>
    [...Array(count).keys()].filter((rank) => (bits >> rank) & 1),
  );

describe('several ranks', () => {
  const grid = 5;

  test.each(['one folder', 'a folder each'])('%s: two generations of each part', (kind) => {
    const folders = kind === 'one folder' ? temporaryFolder() : [0, 1, 2].map(temporaryFolder);
    const { keep } = ranksIn(folders, 3, grid);
    for (const epoch of [1, 2, 3]) keep(epoch);
    const names = [folders].flat().flatMap((folder) => readdirSync(folder));
    expect(names.sort()).toEqual(
      [2, 3].flatMap((epoch) =>
        ['0-1', '1-3', '3-5'].map((part) => `epoch-000000000${epoch}.workers-${part}.checkpoint`),
      ),
    );
  });

  test.each(['one folder', 'a folder each'])(
    '%s: killed between any two steps of any of them, a checkpoint is left that all have',
    (kind) => {
      for (const done of subsets(3)) {
        // Nobody settles before everybody has written, and all having written is none settled.
        for (const step of done.length < 3 ? ['write', 'settle'] : ['settle']) {
          const folders =
            kind === 'one folder' ? temporaryFolder() : [0, 1, 2].map(temporaryFolder);
          const { writers, settle, keep } = ranksIn(folders, 3, grid);
          keep(1);
          keep(2);
          const written = step === 'write' ? done : [0, 1, 2];
          for (const rank of written) writers[rank].write(3);
          if (step === 'settle') for (const rank of done) settle(3, rank);
          const expected = written.length === 3 ? 3 : 2;
          expect(common(folders, 3, grid), `${step} ${done.join()}`).toBe(expected);
          if (kind !== 'one folder') continue;
          for (const ranks of [1, 2, 4, 5]) expect(common(folders, ranks, grid)).toBe(expected);
        }
      }
    },
  );

  test('gone on with by another number of ranks: their files replace those of before', () => {
    for (const [before, after] of [
      [3, 2],
      [2, 5],
      [5, 1],
      [1, 4],
      [4, 7],
    ]) {
      const folder = temporaryFolder();
      const first = ranksIn(folder, before, grid);
      first.keep(1);
      first.keep(2);
      first.writers.at(-1)?.write(9);
      const { writers, settle, keep } = ranksIn(folder, after, grid, 2);
      for (const { write } of writers) {
        write(3);
        expect(common(folder, 3, grid)).toBeGreaterThanOrEqual(2);
      }
      for (const rank of writers.keys()) {
        settle(3, rank);
        for (const ranks of [1, 2, 3]) expect(common(folder, ranks, grid)).toBe(3);
      }
      expect([...new Set(epochsIn(folder))]).toEqual([2, 3]);
      keep(4);
      expect(common(folder, before, grid)).toBe(4);
      expect(readdirSync(folder)).toHaveLength(2 * Math.min(after, grid));
    }
  });

  test('one of them cannot write: none keeps its part, and killed on the way all have one', () => {
    for (const done of subsets(3)) {
      const folders = [0, 1, 2].map(temporaryFolder);
      const { writers, settle, keep } = ranksIn(folders, 3, grid);
      keep(1);
      const inTheWay = join(folders[1], 'epoch-0000000002.workers-1-3.checkpoint');
      mkdirSync(join(inTheWay, 'full'), { recursive: true });
      for (const { write } of writers) write(2);
      expect(writers.map(({ writer }) => writer.failed)).toEqual([undefined, [1, 3], undefined]);
      for (const rank of done) settle(2, rank);
      expect(common(folders, 3, grid)).toBe(1);
      if (done.length < 3) continue;
      expect(folders.map(epochsIn)).toEqual([[1], [1, 2], [1]]);
      expect(writers[0].notices).toEqual([
        expect.stringMatching(
          /epoch 2 in .*: workers 1 to 2 could not be written; that of epoch 1/,
        ),
      ]);
      expect(writers[1].notices).toEqual([
        expect.stringMatching(/no checkpoint of epoch 2 in .*: a/),
      ]);
      expect(writers[2].notices).toEqual([]);
      rmSync(inTheWay, { recursive: true });
      keep(3);
      expect(folders.map(epochsIn)).toEqual([
        [1, 3],
        [1, 3],
        [1, 3],
      ]);
    }
  });

  test('the disk of one is full', ({ skip }) => {
    const folders = [0, 1, 2].map(temporaryFolder);
    try {
      const mount = ['-t', 'tmpfs', '-o', 'size=16k', 'none', folders[2]];
      execFileSync('mount', mount, { stdio: 'ignore' });
    } catch {
      skip('a small file system to fill up can be mounted by root only');
    }
    onTestFinished(() => {
      execFileSync('umount', [folders[2]]);
    });
    const { writers, keep } = ranksIn(folders, 3, grid);
    keep(1);
    writeFileSync(join(folders[2], 'filler'), Buffer.alloc(3 * 4096));
    keep(2);
    expect(folders.map(epochsIn)).toEqual([[1], [1], [1]]);
    expect(writers[2].notices).toEqual([expect.stringContaining('the disk is full')]);
    expect(writers[0].notices).toEqual([expect.stringContaining('workers 3 to 4 could not')]);
    expect(readdirSync(folders[2]).filter((name) => name.endsWith('.partial'))).toEqual([]);
    expect(common(folders, 3, grid)).toBe(1);
    rmSync(join(folders[2], 'filler'));
    keep(3);
    expect(common(folders, 3, grid)).toBe(3);
  });
});
