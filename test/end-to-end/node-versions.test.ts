/** The oldest Node that is supported, and the first five minutes on one that is too old. */
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, cpSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { installedNode } from '../../bin/runtime.js';
import { readModel } from '../../src/model/file.ts';
import { runDso, startDso } from '../support/command-line.ts';
import { launch, launchers } from '../support/launchers.ts';
import { oldestSupportedNode, tooOldNode } from '../support/nodes.ts';
import { sampleText } from '../support/sample-text.ts';
import { temporaryFolder } from '../support/temporary.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const library = new URL('../../dist/index.js', import.meta.url).href;
const data = sampleText({ rows: 400, columns: 60, perRow: 8 });

const supported = oldestSupportedNode();
const restarted = installedNode(new URL('../../tools/runtime/', import.meta.url));
const old = restarted && tooOldNode();
const none = 'skipped: tools/test-nodes or tools/runtime is not installed here';

function dataFolder(): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'train.svm'), data);
  return folder;
}

describe.skipIf(!supported)(`the oldest supported Node (${supported?.version ?? none})`, () => {
  const node = supported?.path ?? '';

  test('is the one that package.json promises, or the next that npm has', () => {
    const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(engines.node).toBe('>=22.12');
    expect(supported!.version).toMatch(/^22\.(1[2-9]|2\d)\./);
    if (process.platform === 'linux' && process.arch === 'x64') {
      expect(supported!.version).toBe('22.12.0');
    }
  });

  test('the library trains, writes, reads and predicts, with the same bits', () => {
    const program = `
      import { datasetFromRows, encodeModel, decodeModel, losses, predict, train } from '${library}';
      const rows = [[0, 2], [1, 3], [0, 1], [2, 3]].map((indices) => ({ indices, values: [1, 0.5] }));
      const dataset = datasetFromRows({ rows, labels: [1, -1, 1, -1] });
      const { model } = await train(dataset, { loss: losses.logistic(), lambda: 0.01, threads: 2, grid: 2 });
      const bytes = encodeModel(model);
      const predictions = predict(decodeModel(bytes), dataset);
      console.log(Buffer.from(bytes).toString('hex'), JSON.stringify(predictions));
    `;
    const file = join(temporaryFolder(), 'program.mjs');
    writeFileSync(file, program);
    const [here, there] = [process.execPath, node].map((path) =>
      execFileSync(path, [file], { encoding: 'utf8' }),
    );
    expect(there).toBe(here);
    expect(here.length).toBeGreaterThan(500);
  });

  test.each(['1', '2'])(
    'dso train and predict on %s threads, with the same bits',
    async (threads) => {
      const outputs = [];
      for (const path of [process.execPath, node]) {
        const options = { folder: dataFolder(), node: path };
        const grid = ['--threads', threads, '--grid', '2', '--quiet'];
        const trained = await runDso(['train', 'train.svm', '-o', 'x.model', ...grid], options);
        expect(trained.code, trained.stderr).toBe(0);
        const predicted = await runDso(['predict', 'x.model', 'train.svm'], options);
        expect(predicted.code, predicted.stderr).toBe(0);
        outputs.push([readFileSync(join(options.folder, 'x.model')), predicted.stdout]);
      }
      expect(outputs[1]).toEqual(outputs[0]);
      expect(outputs[0][1].length).toBeGreaterThan(400);
    },
  );

  test('zstd, which came with Node 22.15, is refused in words', async ({ skip }) => {
    const { version } = supported!;
    skip(Number(version.split('.')[1]) >= 15, `Node ${version} has zstd`);
    const options = { folder: dataFolder(), node };
    const run = await runDso(['convert', 'train.svm', '-o', 'y.svm.zst'], options);
    expect(run.code).not.toBe(0);
    expect(run.stderr).toContain(`zstd needs Node 22.15 or newer, this is v${version}`);
  });
});

describe.skipIf(!old)(`a Node that is too old (${old?.version ?? none})`, () => {
  const node = old?.path ?? '';

  test('every line that the demo prints under "Next" works unchanged', async () => {
    const folder = temporaryFolder();
    const demo = await runDso(['demo', 'out', '--size', '0.02'], { folder, node });
    expect(demo.code, demo.stderr).toBe(0);
    const next = demo.stdout.toString().split('\nNext\n')[1];
    const lines = [...next.matchAll(/^ {2}(node .*?) {2,}/gm)].map(([, line]) => line);
    expect(lines.length).toBeGreaterThanOrEqual(4);
    const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
    for (const line of lines) {
      const run = spawnSync(line, { cwd: folder, env, shell: true, encoding: 'utf8' });
      expect(run.status, `${line}\n${run.stderr}`).toBe(0);
    }
  });

  test('npm run dso -- … takes paths from where the user is', () => {
    const folder = dataFolder();
    const run = spawnSync(node, [join(root, 'scripts/run.mjs'), 'dso', 'inspect', 'train.svm'], {
      env: { ...process.env, INIT_CWD: folder },
      encoding: 'utf8',
    });
    expect(run.status).toBe(3);
    expect(run.stderr).toContain('train.svm');
    expect(run.stderr).not.toContain('no such file');
  });

  test("the connection to MPICH's launcher passes through", async ({ skip }) => {
    const mpich = launchers.find(({ name }) => name === 'MPICH')!;
    if (mpich.path === undefined) skip('MPICH is not installed');
    const folder = dataFolder();
    const files = [join(folder, 'train.svm'), '-o', join(folder, 'x.model')];
    const limits = ['--epochs', '2', '--threads', '1', '--no-record'];
    const program = [node, join(root, 'bin/dso.js'), 'train', ...files, ...limits];
    const run = await launch(mpich, 2, program);
    expect(run.code, run.stderr).toBe(4);
    expect(run.stdout + run.stderr).toContain('2 ranks of 1 thread');
    expect((await readModel(join(folder, 'x.model'))).columns).toBe(60);
  });

  test.for([['bin/dso.js'], ['scripts/run.mjs', 'dso']])(
    '%s passes on what PMI_FD names, if it is open',
    ([script, ...words], { skip }) => {
      if (process.platform !== 'linux') skip('open files have no names here');
      const folder = dataFolder();
      const handle = openSync(folder, 'r');
      const convert = (from: string, launcher: string) => {
        const files = [from, '-o', join(folder, `${launcher}.dsob`)];
        return spawnSync(node, [join(root, script), ...words, 'convert', ...files], {
          env: { ...process.env, PMI_FD: launcher },
          stdio: ['ignore', 'ignore', 'pipe', 'ignore', 'ignore', handle],
          encoding: 'utf8',
        });
      };
      const runs = [
        convert('/proc/self/fd/5/train.svm', '5'),
        convert(join(folder, 'train.svm'), '900'),
      ];
      closeSync(handle);
      for (const { status, stderr } of runs) expect(status, stderr).toBe(0);
    },
  );

  test('standard input and the exit code pass through', async () => {
    const folder = temporaryFolder();
    const good = await runDso(['train', '-', '-o', 'x.model', '--quiet'], {
      folder,
      node,
      input: data,
    });
    expect(good.code, good.stderr).toBe(0);
    expect((await readModel(join(folder, 'x.model'))).columns).toBe(60);
    const bad = await runDso(['train', '-', '-o', 'y.model'], { folder, node, input: '+1 x:1\n' });
    expect(bad.code, bad.stderr).toBe(3);
  });

  const endless = ['--solver', 'dso', '--tolerance', '1e-15', '--epochs', '100000000'];
  const training = ['train', 'large.svm', '-o', 'x.model', ...endless];
  /** With data whose epochs are long enough that no run ends before a signal. */
  const lastingData = () => {
    const folder = dataFolder();
    writeFileSync(join(folder, 'large.svm'), sampleText({ rows: 3000, columns: 2000, perRow: 10 }));
    return folder;
  };

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends training, which writes its model', async (signal, code) => {
    const folder = lastingData();
    const running = startDso(training, { folder, node });
    await running.saw(/^epoch 3 /m);
    running.process.kill(signal);
    const run = await running.finished;
    expect(run.code, run.stderr).toBe(code);
    expect((await readModel(join(folder, 'x.model'))).certificate.stopped).toBe('interrupted');
  });

  test('Ctrl-C, which reaches both processes, counts once', async () => {
    const folder = lastingData();
    const running = startDso(training, { folder, node, ownGroup: true });
    await running.saw(/^epoch 3 /m);
    process.kill(-running.process.pid!, 'SIGINT');
    const run = await running.finished;
    expect(run.code, run.stderr).toBe(130);
    expect((await readModel(join(folder, 'x.model'))).certificate.stopped).toBe('interrupted');
  });

  test('a signal that ends dso is what ended the command', async () => {
    const running = startDso(training, { folder: lastingData(), node });
    await running.saw(/^epoch 3 /m);
    running.process.kill('SIGHUP');
    expect((await running.finished).code).toBeNull();
    expect(running.process.signalCode).toBe('SIGHUP');
  });

  test('an installed package names the version that it needs', () => {
    const folder = temporaryFolder();
    for (const name of ['bin', 'package.json']) {
      cpSync(join(root, name), join(folder, name), { recursive: true });
    }
    const run = spawnSync(node, [join(folder, 'bin/dso.js')], { encoding: 'utf8' });
    expect(run.status).toBe(1);
    expect(run.stderr).toBe(
      `dso: Node ${old!.version} is too old; Node 22.12 or newer is needed.\n`,
    );
  });

  test('the library names the version that it needs', () => {
    const program = `import '${library}';`;
    const argv = ['--input-type=module', '--eval', program];
    const run = spawnSync(node, argv, { encoding: 'utf8' });
    expect(run.status).toBe(1);
    expect(run.stderr).toContain(
      `Error: dso needs Node 22.12 or newer; this is Node ${old!.version}\n`,
    );
  });
});
