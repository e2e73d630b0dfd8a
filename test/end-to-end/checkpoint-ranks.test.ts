import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stream } from '../../src/math/random.ts';
import { runDso } from '../support/command-line.ts';
import { runJob, startJob } from '../support/jobs.ts';
import { launchers } from '../support/launchers.ts';
import { sampleText } from '../support/sample-text.ts';
import { temporaryFolder } from '../support/temporary.ts';

const [launcher] = launchers;
const missing = launcher.path === undefined ? `${launcher.name} is not installed` : false;

const common = ['--grid', '4', '--intercept', '--lambda', '1e-6', '--tolerance', '1e-300'];
const quick = ['--solver', 'ring', '--rotations', '2', '--threads', '1'];

/** How many of the four workers have saved which epoch. */
function savedBy(folder: string): Map<number, number> {
  const workers = new Map<number, number>();
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const found = /^epoch-(\d+)\.workers-(\d+)-(\d+)\.checkpoint$/.exec(name);
    if (!found) continue;
    const [epoch, first, end] = found.slice(1).map(Number);
    workers.set(epoch, (workers.get(epoch) ?? 0) + end - first);
  }
  return workers;
}

function setUp() {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'train.svm'), sampleText({ rows: 400, columns: 150, perRow: 8 }));
  const command = (output: string, epochs: number, ...more: readonly string[]) => [
    'train',
    'train.svm',
    '-o',
    output,
    '--epochs',
    String(epochs),
    ...common,
    ...quick,
    ...more,
  ];
  const model = (name: string) => readFileSync(join(folder, name));
  return { folder, command, model };
}

describe.skipIf(missing)(`under ${launcher.name}${missing ? `: skipped, ${missing}` : ''}`, () => {
  test('one rank killed again and again, gone on with by other numbers of ranks', async () => {
    const { folder, command, model } = setUp();
    const random = stream(20, 27);
    const saving = [
      '--checkpoint',
      'checkpoints',
      '--checkpoint-every',
      '2',
      '--resume',
      'checkpoints',
    ];
    const store = join(folder, 'checkpoints');
    const newest = () => Math.max(0, ...savedBy(store).keys());
    const begun: number[] = [];
    for (let kill = 0; kill < 6; kill++) {
      const ranks = kill % 3 === 2 ? 2 : 3;
      const before = newest();
      // Without an end of its own, however late it is killed.
      const job = startJob(launcher, ranks, command('resumed.model', 1e9, ...saving), { folder });
      await job.saw(/^epoch /m);
      // At least one checkpoint more, and perhaps half of the next.
      const far = before + 1 + Math.floor(8 * random.uniform());
      const isFurther = () =>
        [...savedBy(store)].some(([epoch, workers]) => epoch > far && workers === 4);
      await expect.poll(isFurther, { timeout: 300_000, interval: 1 }).toBe(true);
      process.kill(job.processOf(Math.floor(ranks * random.uniform())), 'SIGKILL');
      const { stderr } = await job.ended;
      begun.push(Number(/resuming after epoch (\d+)/.exec(stderr)?.[1] ?? 0));
      expect(stderr).not.toMatch(/dso: .*(checkpoint|saves)/);
    }
    // Each has continued from what the one before had saved.
    expect(begun).toEqual([...new Set(begun)].sort((one, other) => one - other));
    const epochs = newest() + 50;
    await runDso(command('alone.model', epochs, '--quiet'), { folder });
    const rest = ['--resume', 'checkpoints', '--quiet'];
    await runJob(launcher, 3, command('three.model', epochs, ...rest), { folder });
    expect(model('three.model').equals(model('alone.model'))).toBe(true);
    await runDso(command('one.model', epochs, ...rest), { folder });
    expect(model('one.model').equals(model('alone.model'))).toBe(true);
  });

  test('each rank in a folder of its own: what one has lost is reported', async () => {
    const { folder, command, model } = setUp();
    await runDso(command('alone.model', 60, '--quiet'), { folder });
    // A rank finds its folder by a path that is the same for all and leads elsewhere for each.
    const change = 'mkdir -p disk-$OMPI_COMM_WORLD_RANK && cd disk-$OMPI_COMM_WORLD_RANK';
    const wrapper = ['sh', '-c', `${change} && exec "$0" "$@"`];
    const run = async (epochs: number, ...more: readonly string[]) => {
      const args = command(
        '../resumed.model',
        epochs,
        '--checkpoint',
        'checkpoints',
        '--quiet',
        ...more,
      );
      args[1] = '../train.svm';
      return (await runJob(launcher, 3, args, { folder, wrapper })).stderr;
    };
    await run(31, '--checkpoint-every', '7');
    const disk = (rank: number) => join(folder, `disk-${rank}`, 'checkpoints');
    expect([0, 1, 2].map((rank) => readdirSync(disk(rank)))).toEqual(
      ['0-1', '1-2', '2-4'].map((part) =>
        ['28', '31'].map((epoch) => `epoch-00000000${epoch}.workers-${part}.checkpoint`),
      ),
    );
    rmSync(join(disk(1), 'epoch-0000000031.workers-1-2.checkpoint'));
    await run(60, '--resume', 'checkpoints');
    expect(model('resumed.model').equals(model('alone.model'))).toBe(true);
    rmSync(disk(2), { recursive: true });
    const lost = await run(60, '--resume', 'checkpoints');
    expect(lost).toContain('no checkpoint that all ranks have, so the run cannot continue:');
    expect(lost).toMatch(/rank 0: whole files of epoch 60, \d+ in .*disk-0.checkpoints/);
    expect(lost).toMatch(/rank 2: nothing whole in .*disk-2.checkpoints/);
  });
});
