/** Runs over several processes that are stopped, lose one of them, or continue from a checkpoint. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readModel } from '../../src/model/file.ts';
import { runDso } from '../support/command-line.ts';
import { type Job, runJob, startJob } from '../support/jobs.ts';
import { graceOf, type Launcher, launchers } from '../support/launchers.ts';
import { sampleText } from '../support/sample-text.ts';
import { temporaryFolder } from '../support/temporary.ts';

const [openMpi, mpich] = launchers;
const installed = ({ path, name }: Launcher, skip: (reason: string) => void) => {
  if (path === undefined) skip(`${name} is not installed`);
};

/** Few rotations, so that an epoch of these data takes little time. */
const fixed =
  '--grid 4 --intercept --lambda 1e-6 --tolerance 1e-300 --solver ring --rotations 1 --threads 1';
const endless = 1e9;
/** Seconds: no working rank is silent for that long, however busy the machine. */
const silence = '12';
const unfinished = 4;
const host = hostname();

function setUp() {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'train.svm'), sampleText({ rows: 400, columns: 150, perRow: 8 }));
  const command = (output: string, epochs: number, ...more: readonly string[]) => [
    'train',
    'train.svm',
    '-o',
    output,
    ...fixed.split(' '),
    '--epochs',
    String(epochs),
    ...more,
  ];
  const model = (name: string) => readFileSync(join(folder, name));
  /** The model of a run that nothing happens to. */
  const alone = async (epochs: number) => {
    const { code, stderr } = await runDso(command('alone.model', epochs, '--quiet'), { folder });
    expect(code, stderr).toBe(unfinished);
    return model('alone.model');
  };
  return { folder, command, model, alone };
}

function parentOf(number: number): number {
  const [, parent] = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${number}/status`, 'utf8'))!;
  return Number(parent);
}

/** The launcher may be gone a moment before the last of its processes is. */
async function allEnded(job: Job): Promise<void> {
  await expect.poll(() => job.remaining(), { timeout: 300_000 }).toEqual([]);
}

const signals = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;

describe.each(launchers)('$name', (launcher) => {
  test('SIGINT or SIGTERM to the launcher: rank 0 writes the model', async ({ skip }) => {
    installed(launcher, skip);
    // Open MPI's sleeps for so long before rank 0 hears of it, and again while it writes: two at once.
    const environment = graceOf(5);
    const begun: { job: Job; folder: string; code: number }[] = [];
    for (const [signal, code] of signals) {
      const { folder, command } = setUp();
      const job = startJob(launcher, 3, command('a.model', endless), { folder, environment });
      await job.saw(/^epoch 3 /m);
      job.launcher.kill(signal);
      begun.push({ job, folder, code });
    }
    for (const { job, folder, code } of begun) {
      const ended = await job.ended;
      // Open MPI's launcher has a code of its own for jobs that it ends. MPICH's passes rank 0's on,
      // but after a signal sometimes makes 0 of it, whatever the program is.
      const codes = launcher === openMpi ? [1] : [code, 0];
      expect(codes, ended.stderr).toContain(ended.code);
      const { certificate, weights } = await readModel(join(folder, 'a.model'));
      expect(certificate.stopped).toBe('interrupted');
      expect(certificate.epochs).toBeGreaterThanOrEqual(3);
      expect(weights.some((weight) => weight !== 0)).toBe(true);
      // What the ranks say last Open MPI's launcher may drop when it ends them.
      if (launcher !== openMpi) {
        expect(ended.said.match(/stopping, to write the model/g)).toHaveLength(1);
        expect(ended.said).toContain('interrupted after');
      }
      expect(readdirSync(folder).sort()).toEqual(['a.model', 'train.svm']);
      await allEnded(job);
    }
  });

  test('a rank that is killed ends the job', async ({ skip }) => {
    installed(launcher, skip);
    const { folder, command } = setUp();
    const job = startJob(launcher, 3, command('a.model', endless), { folder });
    await job.saw(/^epoch 3 /m);
    process.kill(job.processOf(1), 'SIGKILL');
    expect((await job.ended).code).not.toBe(0);
    expect(existsSync(join(folder, 'a.model'))).toBe(false);
    await allEnded(job);
  });
});

test('MPICH: no rank outlives its launcher, not even one that is stopped', async ({ skip }) => {
  installed(mpich, skip);
  const { folder, command } = setUp();
  const job = startJob(mpich, 3, command('a.model', endless), { folder });
  await job.saw(/^epoch 3 /m);
  process.kill(job.processOf(1), 'SIGSTOP');
  // Its part that ranks are started by.
  process.kill(parentOf(job.processOf(1)), 'SIGKILL');
  expect((await job.ended).code).not.toBe(0);
  await allEnded(job);
});

describe('a rank that stops answering', () => {
  /** A job in which a rank has been stopped; none of its ranks has much to do until that is noticed. */
  async function stoppedJob(launcher: Launcher, rank: number, ...more: readonly string[]) {
    const { folder, command, ...rest } = setUp();
    const args = command('a.model', endless, '--peer-timeout', silence, ...more);
    // The others must not repeat what one has said while the launcher takes its time.
    const job = startJob(launcher, 3, args, { folder, environment: graceOf(1) });
    await job.saw(/^epoch 4 /m);
    process.kill(job.processOf(rank), 'SIGSTOP');
    return { job, folder, command, ...rest };
  }
  type Stopped = Awaited<ReturnType<typeof stoppedJob>>;

  /** Rank 1 is named, and others continue from the checkpoint. */
  async function checkResumed(launcher: Launcher, stopped: Stopped): Promise<void> {
    const { job, folder, command, model, alone } = stopped;
    const { code, said } = await job.ended;
    expect(code, said).toBe(5);
    const message = new RegExp(
      `^dso: rank 1 on ${host} has not answered for ${silence} s; epoch (\\d+) is saved in checkpoints: the same command with --resume checkpoints continues from there$`,
      'gm',
    );
    const savedEpochs = [...said.matchAll(message)].map(([, epoch]) => Number(epoch));
    expect(savedEpochs, said).toHaveLength(1);
    expect(said).not.toContain('DsoError');
    expect(existsSync(join(folder, 'a.model'))).toBe(false);
    await allEnded(job);
    const epochs = savedEpochs[0] + 20;
    const rest = command('a.model', epochs, '--resume', 'checkpoints');
    const resumed = await runJob(launcher, 2, rest, { folder });
    const [, from] = /resuming after epoch (\d+)/.exec(resumed.said) ?? [];
    expect(Number(from), resumed.said).toBeGreaterThanOrEqual(savedEpochs[0]);
    expect(model('a.model').equals(await alone(epochs))).toBe(true);
  }

  test('exit code 5, and the run continues from its checkpoint; without one, a message says so', async ({
    skip,
  }) => {
    const present = launchers.filter(({ path }) => path !== undefined);
    if (present.length === 0) skip('no MPI is installed');
    const saving = ['--checkpoint', 'checkpoints', '--checkpoint-every', '1'];
    const stopped: [Launcher, Stopped][] = [];
    for (const launcher of present) {
      stopped.push([launcher, await stoppedJob(launcher, 1, ...saving)]);
    }
    const { job } = await stoppedJob(present[0], 0);
    for (const [launcher, one] of stopped) await checkResumed(launcher, one);
    // Another rank reports for rank 0.
    const { code, said } = await job.ended;
    expect(code, said).toBe(5);
    expect(said.match(/^dso: .*/gm)).toEqual([
      `dso: rank 0 on ${host} has not answered for ${silence} s; nothing was saved: use --checkpoint to be able to resume`,
    ]);
    await allEnded(job);
  });
});

describe('checkpoints', () => {
  test('gone on with by other numbers of ranks and threads', async ({ skip }) => {
    installed(openMpi, skip);
    const { folder, command, model, alone } = setUp();
    const saving = [
      '--checkpoint',
      'checkpoints',
      '--checkpoint-every',
      '7',
      '--resume',
      'checkpoints',
    ];
    const further = async (ranks: number, epochs: number, threads: string) => {
      const args = command('a.model', epochs, ...saving, '--threads', threads);
      const { code, said } = await runJob(openMpi, ranks, args, { folder });
      expect(code, said).toBe(unfinished);
      return /resuming after epoch (\d+)/.exec(said)?.[1];
    };
    expect(await further(3, 10, '1')).toBeUndefined();
    expect(await further(2, 20, '2')).toBe('10');
    expect(await further(1, 30, '1')).toBe('20');
    // One of these has no workers.
    expect(await further(5, 40, '1')).toBe('30');
    expect(model('a.model').equals(await alone(40))).toBe(true);
  });

  test('a damaged part: reported, and the checkpoint before used by all', async ({ skip }) => {
    installed(openMpi, skip);
    const { folder, command, model, alone } = setUp();
    const saving = ['--checkpoint', 'checkpoints', '--checkpoint-every', '7'];
    await runJob(openMpi, 3, command('a.model', 10, ...saving), { folder });
    const path = join(folder, 'checkpoints', 'epoch-0000000010.workers-1-2.checkpoint');
    const bytes = readFileSync(path);
    bytes[bytes.length - 500] ^= 16;
    writeFileSync(path, bytes);
    const resumed = command('a.model', 30, '--resume', 'checkpoints');
    const { code, said } = await runJob(openMpi, 3, resumed, { folder });
    expect(code, said).toBe(unfinished);
    expect(said).toMatch(/^note: .*workers-1-2.checkpoint: damaged: .*; an older checkpoint is/m);
    expect(said).toMatch(/^note: resuming after epoch 7, /m);
    expect(said).not.toMatch(/^rank/m);
    expect(model('a.model').equals(await alone(30))).toBe(true);
  });

  test('a full disk at one rank: training continues, the checkpoint before stays', async ({
    skip,
  }) => {
    installed(openMpi, skip);
    const { folder, command, model, alone } = setUp();
    const disk = join(folder, 'disk-1');
    mkdirSync(disk);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=160k', 'none', disk], { stdio: 'ignore' });
    } catch {
      skip('a small file system to fill up can be mounted by root only');
    }
    onTestFinished(() => {
      // At once, though the last process of a job may still be leaving it.
      execFileSync('umount', ['--lazy', disk]);
    });
    const change = 'mkdir -p disk-$OMPI_COMM_WORLD_RANK && cd disk-$OMPI_COMM_WORLD_RANK';
    const wrapper = ['sh', '-c', `${change} && exec "$0" "$@"`];
    const run = (epochs: number, ...more: string[]) => {
      const args = command('../a.model', epochs, '--checkpoint', '.', ...more);
      args[1] = '../train.svm';
      return runJob(openMpi, 3, args, { folder, wrapper });
    };
    await run(1);
    writeFileSync(join(disk, 'filler'), Buffer.alloc(4096));
    // All that is left but a page, which is enough for a run to begin with.
    expect(() => writeFileSync(join(disk, 'rest'), Buffer.alloc(2 ** 18))).toThrow('ENOSPC');
    rmSync(join(disk, 'filler'));
    const { code, said } = await run(12, '--checkpoint-every', '1', '--resume', '.');
    expect(code, said).toBe(unfinished);
    const stays = 'that of epoch 1 stays, and training continues';
    expect(said).toMatch(
      new RegExp(
        `^rank 1 on ${host}: no checkpoint of epoch 2 in .*: the disk is full; ${stays}`,
        'm',
      ),
    );
    expect(said).toMatch(
      new RegExp(
        `^warning: no checkpoint of epoch 2 in .*: worker 1 could not be written; ${stays}`,
        'm',
      ),
    );
    expect(said.match(/no checkpoint of epoch/g)).toHaveLength(2);
    const files = (rank: number) =>
      readdirSync(join(folder, `disk-${rank}`)).filter((name) => name.includes('checkpoint'));
    expect([0, 1, 2].map(files)).toEqual(
      ['0-1', '1-2', '2-4'].map((part) => [`epoch-0000000001.workers-${part}.checkpoint`]),
    );
    expect(model('a.model').equals(await alone(12))).toBe(true);
    await run(12, '--resume', '.');
    expect(model('a.model').equals(model('alone.model'))).toBe(true);
  });
});
