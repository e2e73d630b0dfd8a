/** Runs over several processes that are told to stop, lose one of them, or go on from before. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readModel } from '../../src/model/format.ts';
import { runDso } from '../support/command-line.ts';
import { type Job, runJob, startJob } from '../support/jobs.ts';
import { type Launcher, launchers } from '../support/launchers.ts';
import { sampleText } from '../support/sample-text.ts';
import { temporaryFolder } from '../support/temporary.ts';

const [openMpi] = launchers;
const installed = ({ path, name }: Launcher, skip: (reason: string) => void) => {
  if (path === undefined) skip(`${name} is not installed`);
};

/** Few rotations, so that an epoch of these data takes little time. */
const fixed =
  '--grid 4 --intercept --lambda 1e-6 --tolerance 1e-300 --solver ring --rotations 1 --threads 1';
const endless = 1e9;
/** Seconds: long enough for ranks that are well to come up and be heard on a busy machine. */
const silence = '12';
const unfinished = 4;
const host = hostname();

function place() {
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

/** The launcher may be gone a moment before the last of its processes is. */
async function nobodyRemains(job: Job): Promise<void> {
  await expect.poll(() => job.remaining(), { timeout: 60_000 }).toEqual([]);
}

describe.each(launchers)('$name', (launcher) => {
  test.for([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s to the launcher: rank 0 writes the model', async ([signal, code], { skip }) => {
    installed(launcher, skip);
    const { folder, command } = place();
    // Open MPI waits so many seconds before SIGTERM, and again before SIGKILL.
    const environment = { OMPI_MCA_odls_base_sigkill_timeout: '3' };
    const job = startJob(launcher, 3, command('a.model', endless), { folder, environment });
    await job.saw(/^epoch 3 /m);
    job.launcher.kill(signal);
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
    await nobodyRemains(job);
  });

  test('a rank that is killed ends the job', async ({ skip }) => {
    installed(launcher, skip);
    const { folder, command } = place();
    const job = startJob(launcher, 3, command('a.model', endless), { folder });
    await job.saw(/^epoch 3 /m);
    process.kill(job.processOf(1), 'SIGKILL');
    expect((await job.ended).code).not.toBe(0);
    expect(existsSync(join(folder, 'a.model'))).toBe(false);
    await nobodyRemains(job);
  });

  test('a rank that stops answering: exit code 5, and the run goes on from its checkpoint', async ({
    skip,
  }) => {
    installed(launcher, skip);
    const { folder, command, model, alone } = place();
    const kept = ['--checkpoint', 'kept', '--checkpoint-every', '1', '--peer-timeout', silence];
    const job = startJob(launcher, 3, command('a.model', endless, ...kept), { folder });
    await job.saw(/^epoch 4 /m);
    process.kill(job.processOf(1), 'SIGSTOP');
    const { code, said } = await job.ended;
    expect(code, said).toBe(5);
    const told = new RegExp(
      `^dso: rank 1 on ${host} has not answered for ${silence} s; epoch (\\d+) is kept in kept: the same command with --resume kept goes on from there$`,
      'gm',
    );
    const [[, epoch], ...repeated] = [...said.matchAll(told)];
    expect(repeated).toEqual([]);
    expect(said).not.toContain('DsoError');
    expect(existsSync(join(folder, 'a.model'))).toBe(false);
    await nobodyRemains(job);
    const epochs = Number(epoch) + 20;
    const rest = command('a.model', epochs, '--resume', 'kept');
    const resumed = await runJob(launcher, 2, rest, { folder });
    const [, from] = /going on after epoch (\d+)/.exec(resumed.said) ?? [];
    expect(Number(from)).toBeGreaterThanOrEqual(Number(epoch));
    expect(model('a.model').equals(await alone(epochs))).toBe(true);
  });
});

test('rank 0 stops answering, and nothing was kept: another rank says so', async ({ skip }) => {
  installed(openMpi, skip);
  const { folder, command } = place();
  const args = command('a.model', endless, '--peer-timeout', silence);
  const job = startJob(openMpi, 3, args, { folder });
  await job.saw(/^epoch 3 /m);
  process.kill(job.processOf(0), 'SIGSTOP');
  const { code, said } = await job.ended;
  expect(code, said).toBe(5);
  expect(said.match(/^dso: .*/gm)).toEqual([
    `dso: rank 0 on ${host} has not answered for ${silence} s; nothing was kept: --checkpoint would have`,
  ]);
  await nobodyRemains(job);
});

describe('checkpoints', () => {
  test('gone on with by other numbers of ranks and threads', async ({ skip }) => {
    installed(openMpi, skip);
    const { folder, command, model, alone } = place();
    const kept = ['--checkpoint', 'kept', '--checkpoint-every', '7', '--resume', 'kept'];
    const further = async (ranks: number, epochs: number, threads: string) => {
      const args = command('a.model', epochs, ...kept, '--threads', threads);
      const { code, said } = await runJob(openMpi, ranks, args, { folder });
      expect(code, said).toBe(unfinished);
      return /going on after epoch (\d+)/.exec(said)?.[1];
    };
    expect(await further(3, 10, '1')).toBeUndefined();
    expect(await further(2, 20, '2')).toBe('10');
    expect(await further(1, 30, '1')).toBe('20');
    // One of these has no workers.
    expect(await further(5, 40, '1')).toBe('30');
    expect(model('a.model').equals(await alone(40))).toBe(true);
  });

  test('a damaged part: told of, and the checkpoint before used by all', async ({ skip }) => {
    installed(openMpi, skip);
    const { folder, command, model, alone } = place();
    const kept = ['--checkpoint', 'kept', '--checkpoint-every', '7'];
    await runJob(openMpi, 3, command('a.model', 10, ...kept), { folder });
    const path = join(folder, 'kept', 'epoch-0000000010.workers-1-2.checkpoint');
    const bytes = readFileSync(path);
    bytes[bytes.length - 500] ^= 16;
    writeFileSync(path, bytes);
    const resumed = command('a.model', 30, '--resume', 'kept');
    const { code, said } = await runJob(openMpi, 3, resumed, { folder });
    expect(code, said).toBe(unfinished);
    expect(said).toMatch(/^note: .*workers-1-2.checkpoint: damaged: .*; an older checkpoint is/m);
    expect(said).toMatch(/^note: going on after epoch 7, /m);
    expect(said).not.toMatch(/^rank/m);
    expect(model('a.model').equals(await alone(30))).toBe(true);
  });

  test('a full disk at one rank: training goes on, the checkpoint before stays', async ({
    skip,
  }) => {
    installed(openMpi, skip);
    const { folder, command, model, alone } = place();
    const disk = join(folder, 'disk-1');
    mkdirSync(disk);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=160k', 'none', disk], { stdio: 'ignore' });
    } catch {
      skip('a small file system to fill up can be mounted by root only');
    }
    onTestFinished(() => {
      execFileSync('umount', [disk]);
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
    const stays = 'that of epoch 1 stays, and training goes on';
    expect(said).toMatch(
      new RegExp(
        `^rank 1 on ${host}: no checkpoint of epoch 2 in .*: the disk is full; ${stays}`,
        'm',
      ),
    );
    expect(said).toMatch(
      new RegExp(
        `^note: no checkpoint of epoch 2 in .*: worker 1 could not be written; ${stays}`,
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
