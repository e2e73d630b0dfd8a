import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stream } from '../../src/math/random.ts';
import { executable, runDso } from '../support/command-line.ts';
import { launchers } from '../support/launchers.ts';
import { sampleText } from '../support/sample-text.ts';
import { temporaryFolder } from '../support/temporary.ts';

const [launcher] = launchers;
const missing = launcher.path === undefined ? `${launcher.name} is not installed` : false;

const common = ['--grid', '4', '--intercept', '--lambda', '1e-6', '--tolerance', '1e-300'];
const quick = ['--solver', 'ring', '--rotations', '2', '--threads', '1'];

function place() {
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

interface Job {
  /** The processes of the job, once they run. */
  members(): number[];
  /** What it said on standard error, when it has ended. */
  readonly ended: Promise<string>;
  saw(pattern: RegExp): Promise<void>;
}

/** Starts a job of several ranks. */
function start(ranks: number, folder: string, args: readonly string[]): Job {
  const all = [...launcher.options, '-n', String(ranks), process.execPath, executable, ...args];
  const child = spawn(launcher.path as string, all, { cwd: folder });
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const ended = new Promise<string>((resolve) => {
    child.on('close', () => resolve(text));
  });
  const members = () => {
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
    return children.split(' ').filter(Boolean).map(Number);
  };
  const saw = (pattern: RegExp) =>
    new Promise<void>((resolve) => {
      const check = () => pattern.test(text) && resolve();
      child.stderr.on('data', check);
      child.on('close', () => resolve());
      check();
    });
  return { members, ended, saw };
}

describe.skipIf(missing)(`under ${launcher.name}${missing ? `: skipped, ${missing}` : ''}`, () => {
  test('one rank killed again and again, gone on with by other numbers of ranks', async () => {
    const { folder, command, model } = place();
    const epochs = 400;
    await runDso(command('alone.model', epochs, '--quiet'), { folder });
    const random = stream(20, 27);
    const kept = ['--checkpoint', 'kept', '--checkpoint-every', '2', '--resume', 'kept'];
    const begun = new Set<string>();
    for (let kill = 0; kill < 10; kill++) {
      const ranks = kill % 3 === 2 ? 2 : 3;
      const job = start(ranks, folder, command('kept.model', epochs, ...kept));
      // Far enough for a checkpoint, though many ranks on few cores are slow.
      await job.saw(/(?:^epoch .*\n(?:.*\n)*?){4}/m);
      await new Promise((resolve) => setTimeout(resolve, 60 * random.uniform()));
      const members = job.members();
      process.kill(members[Math.floor(members.length * random.uniform())], 'SIGKILL');
      const said = await job.ended;
      begun.add(/going on after epoch (\d+)/.exec(said)?.[1] ?? '0');
      expect(said).not.toMatch(/dso: .*(checkpoint|keeps)/);
    }
    expect(begun.size).toBeGreaterThan(4);
    const rest = ['--resume', 'kept', '--quiet'];
    await start(3, folder, command('three.model', epochs, ...rest)).ended;
    expect(model('three.model').equals(model('alone.model'))).toBe(true);
    await runDso(command('one.model', epochs, ...rest), { folder });
    expect(model('one.model').equals(model('alone.model'))).toBe(true);
  });

  test('each rank in a folder of its own: what one has lost is told', async () => {
    const { folder, command, model } = place();
    await runDso(command('alone.model', 60, '--quiet'), { folder });
    // A rank finds its folder by a path that is the same for all and leads elsewhere for each.
    const script = join(folder, 'rank.sh');
    writeFileSync(
      script,
      `cd ${folder} && mkdir -p disk-$OMPI_COMM_WORLD_RANK && cd disk-$OMPI_COMM_WORLD_RANK && exec "$@"`,
    );
    const run = async (epochs: number, ...more: readonly string[]) => {
      const args = command('../kept.model', epochs, '--checkpoint', 'kept', '--quiet', ...more);
      args[1] = '../train.svm';
      const all = ['-n', '3', 'sh', script, process.execPath, executable, ...args];
      const child = spawn(launcher.path as string, [...launcher.options, ...all]);
      let text = '';
      child.stderr.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      await new Promise((resolve) => child.on('close', resolve));
      return text;
    };
    await run(31, '--checkpoint-every', '7');
    const disk = (rank: number) => join(folder, `disk-${rank}`, 'kept');
    expect([0, 1, 2].map((rank) => readdirSync(disk(rank)))).toEqual(
      ['0-1', '1-2', '2-4'].map((part) =>
        ['28', '31'].map((epoch) => `epoch-00000000${epoch}.workers-${part}.checkpoint`),
      ),
    );
    rmSync(join(disk(1), 'epoch-0000000031.workers-1-2.checkpoint'));
    await run(60, '--resume', 'kept');
    expect(model('kept.model').equals(model('alone.model'))).toBe(true);
    rmSync(disk(2), { recursive: true });
    const lost = await run(60, '--resume', 'kept');
    expect(lost).toContain('no checkpoint that all ranks have, so the run cannot go on:');
    expect(lost).toMatch(/rank 0: whole files of epoch 60, \d+ in .*disk-0.kept/);
    expect(lost).toMatch(/rank 2: nothing whole in .*disk-2.kept/);
  });
});
