/** `dso train --keep-dual` and `dso verify`, as people use them. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readModel, writeModel } from '../../src/model/file.ts';
import { runDso, startDso } from '../support/command-line.ts';
import { runHere } from '../support/run-here.ts';
import { sampleText } from '../support/sample-text.ts';
import { temporaryFolder } from '../support/temporary.ts';

const people = `name,age,city,weight,label
ann,31,Paris,1,yes
bob,,Rome,2,no
cid,44,Paris,0.5,yes
dan,25,Oslo,1,no
eve,52,,1,yes
fay,19,Rome,3,no
`;

function dataFolder(): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'train.svm'), sampleText({ rows: 120, columns: 40, perRow: 6 }));
  writeFileSync(join(folder, 'people.csv'), people);
  return folder;
}

async function run(folder: string, line: string) {
  const { code, stdout, stderr } = await runHere(line.split(' '), folder);
  return { code, text: stdout.toString(), stderr };
}

async function trainHere(folder: string, line: string): Promise<void> {
  const { code, stderr } = await run(folder, `train ${line} --threads 1 --quiet`);
  expect(code, stderr).toBe(0);
}

describe('the certificate is confirmed', () => {
  test('with the dual point beside the model, or another name', async () => {
    const folder = dataFolder();
    await trainHere(folder, 'train.svm -o m --keep-dual --intercept');
    const { code, text } = await run(folder, 'verify m train.svm');
    expect(text).toMatch(
      /^claimed {2}objective .*\nproved {3}objective .*, from the kept dual point\nconfirmed: the certificate holds\n$/,
    );
    expect(code).toBe(0);
    copyFileSync(join(folder, 'm.dual'), join(folder, 'proof'));
    rmSync(join(folder, 'm.dual'));
    const named = await run(folder, 'verify m train.svm --dual proof --json');
    const found = JSON.parse(named.text) as Record<string, unknown>;
    expect(found).toMatchObject({ confirmed: true, from: 'dual-point' });
    expect(named.code).toBe(0);
  });

  test.each([
    ['people.csv', '--ignore name --loss logistic --intercept --scale std'],
    ['people.csv', '--ignore name --penalty l1 --class-weight yes=2,no=1'],
    ['train.svm', '--penalty-factors factors'],
    ['train.svm', '--zero-based'],
    ['train.svm', '--holdout 0.3 --early-stop 2 --seed 5'],
    ['train.svm', '--hash 4'],
  ])('%s %s', async (data, options) => {
    const folder = dataFolder();
    const factors = Array.from({ length: 40 }, (_, k) => `${1 + (k % 5)}\n`);
    writeFileSync(join(folder, 'factors'), factors.join(''));
    await trainHere(folder, `${data} ${options} -o m --keep-dual`);
    const given = options.match(/--(?:penalty-factors \w+|zero-based)/)?.[0];
    const { code, text, stderr } = await run(folder, `verify m ${data} ${given ?? ''}`.trim());
    expect(text, stderr).toContain('confirmed: the certificate holds');
    expect(code).toBe(0);
  });

  test('of a model trained from disk, on rows in memory', async () => {
    const folder = dataFolder();
    await run(folder, 'convert train.svm -o train.dsob --quiet');
    const options = '--memory 200M --solver ring --mode rows -o m --keep-dual --quiet --threads 1';
    const { code, stderr } = await run(folder, `train train.dsob ${options}`);
    expect(code, stderr).toBe(0);
    expect((await run(folder, 'verify m train.svm')).text).toContain('confirmed: the certificate');
  });
});

test('of the rows of a query', async () => {
  const folder = dataFolder();
  const sql = ['--sql', "select label, age, weight from 'people.csv' where age is not null"];
  const options = ['-o', 'm', '--keep-dual', '--threads', '1', '--quiet', ...sql];
  const trained = await runHere(['train', ...options], folder);
  expect(trained.code, trained.stderr).toBe(0);
  const { code, stdout, stderr } = await runHere(['verify', 'm', ...sql], folder);
  expect(stdout.toString(), stderr).toContain('confirmed: the certificate holds');
  expect(code).toBe(0);
});

/** Whether a process has a handler of SIGINT. */
function hears(pid: number | undefined): boolean {
  const [, caught] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return (BigInt(`0x${caught}`) & 2n) !== 0n;
}

test.runIf(process.platform === 'linux')('Ctrl-C ends it while it computes', async () => {
  const folder = dataFolder();
  const rows = Array.from({ length: 100_000 }, (_, k) => `${k % 2 ? 1 : -1} 1:${k % 7} 2:1\n`);
  writeFileSync(join(folder, 'large.svm'), rows.join(''));
  await run(folder, 'train large.svm --loss logistic --epochs 1 --threads 1 --quiet -o m');
  const { process: child, finished } = startDso(['verify', 'm', 'large.svm'], { folder });
  // Reading has a handler, which removes what it has begun; computing has none.
  for (const wanted of [true, false]) {
    while (hears(child.pid) !== wanted) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  child.kill('SIGINT');
  const { stdout } = await finished;
  expect(child.signalCode).toBe('SIGINT');
  expect(stdout.toString()).toBe('');
});

describe('a bound that rounding errors have put below 0', () => {
  const proofs = /at least (-?[\d.e+-]+)/g;
  const boundsIn = (text: string) => [...text.matchAll(proofs)].map(([, bound]) => Number(bound));

  async function textOf(folder: string, options: string): Promise<string> {
    const train = `train counts.svm --loss ${options} -o m --keep-dual --threads 1`;
    const { code, stderr } = await run(folder, train);
    expect(code, stderr).toBe(4);
    const loss = options.startsWith('.') ? ` --loss ${options.split(' ')[0]}` : '';
    const checked = await run(folder, `verify m counts.svm${loss}`);
    expect(checked).toMatchObject({ code: 0, text: expect.stringContaining('confirmed') });
    const texts = [stderr, checked.text];
    return [...texts, (await run(folder, 'inspect m')).text].join('\n');
  }

  test('is printed as 0, and the gap as that to 0', async () => {
    const folder = temporaryFolder();
    const count = (k: number) => 1e15 * (1 + ((k * 37) % 60) / 60);
    const rows = Array.from({ length: 60 }, (_, k) => `${count(k)} ${1 + (k % 5)}:0.${k}1 8:1\n`);
    writeFileSync(join(folder, 'counts.svm'), rows.join(''));
    const text = await textOf(folder, 'poisson --intercept --lambda 0.01');
    expect((await readModel(join(folder, 'm'))).certificate.dual).toBeLessThan(0);
    expect(boundsIn(text)).toEqual([0, 0, 0, 0, 0]);
    expect(text.match(/(?<=optimum at least 0, relative gap )\S+?(?=,|$)/gm)).toEqual([
      '1.0e0',
      '1.0e0',
    ]);
  });

  test('is printed as it is of a custom loss', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'counts.svm'), '1 1:1\n-1 2:1\n0.5 1:2 2:1\n');
    const functions = {
      value: '0.5 * (u - y) ** 2 - 5',
      derivative: 'u - y',
      curvature: '1',
      conjugate: '0.5 * u * u + u * y + 5',
      conjugateDerivative: 'u + y',
      conjugateLow: '-Infinity',
      conjugateHigh: 'Infinity',
    };
    const lines = Object.entries(functions).map(([name, body]) => {
      const given = /Low|High/.test(name) ? 'y' : 'u, y';
      return `export const ${name} = (${given}) => ${body};\n`;
    });
    const head = "export const name = 'square', task = 'regression', smooth = true;\n";
    const step = 'export const dualStep = (a, u, q, y) => (y - u + q * a) / (1 + q);\n';
    writeFileSync(join(folder, 'own.mjs'), [head, step, ...lines].join(''));
    const text = await textOf(folder, './own.mjs --lambda 0.1 --tolerance 1e-20');
    expect(boundsIn(text)).toHaveLength(3);
    for (const bound of boundsIn(text)) expect(bound).toBeCloseTo(-4.92, 2);
  });
});

test.skipIf(process.platform === 'win32')(
  'a new dual point is as private as its model',
  async () => {
    const folder = dataFolder();
    const modeOf = (name: string) => statSync(join(folder, name)).mode & 0o777;
    writeFileSync(join(folder, 'm'), '');
    chmodSync(join(folder, 'm'), 0o600);
    await trainHere(folder, 'train.svm -o m --keep-dual');
    expect([modeOf('m'), modeOf('m.dual')]).toEqual([0o600, 0o600]);
    // That of a file that is there already stays.
    chmodSync(join(folder, 'm.dual'), 0o640);
    await trainHere(folder, 'train.svm -o m --keep-dual');
    expect([modeOf('m'), modeOf('m.dual')]).toEqual([0o600, 0o640]);
  },
);

test('without a dual point the objective is confirmed, and says what the weights prove', async () => {
  const folder = dataFolder();
  await trainHere(folder, 'train.svm -o m');
  expect(existsSync(join(folder, 'm.dual'))).toBe(false);
  const { code, text } = await run(folder, 'verify m train.svm');
  expect(text).toMatch(/objective confirmed; the weights alone prove a relative gap of \d/);
  expect(code).toBe(0);
});

test('where the weights prove the claim, it says so', async () => {
  const folder = dataFolder();
  await trainHere(folder, 'train.svm -o m --loss logistic --solver lbfgs');
  const { code, text } = await run(folder, 'verify m train.svm');
  expect(text).toContain('confirmed: the certificate holds, and follows from the weights');
  expect(code).toBe(0);
});

test('a dual point of an earlier model is not used, unless it is named', async () => {
  const folder = dataFolder();
  await trainHere(folder, 'train.svm -o m --keep-dual');
  await trainHere(folder, 'train.svm -o m --lambda 0.1');
  const found = await run(folder, 'verify m train.svm');
  expect(found.stderr).toContain('warning: not used: m.dual: the dual point of another model');
  expect(found.code).toBe(0);
  const quiet = await run(folder, 'verify m train.svm --quiet');
  expect(quiet.stderr).toMatch(/^warning: not used: m\.dual: the dual point of another model.*\n$/);
  expect(quiet.code).toBe(0);
  const named = await run(folder, 'verify m train.svm --dual m.dual');
  expect(named).toMatchObject({ code: 3, stderr: expect.stringContaining('of another model') });
});

test('a damaged dual point beside the model is refused', async () => {
  const folder = dataFolder();
  await trainHere(folder, 'train.svm -o m --keep-dual');
  const bytes = readFileSync(join(folder, 'm.dual'));
  bytes[bytes.length - 3] ^= 1;
  for (const damaged of [bytes, '']) {
    writeFileSync(join(folder, 'm.dual'), damaged);
    const found = await run(folder, 'verify m train.svm --quiet');
    expect(found.code).toBe(3);
    expect(found.stderr).toMatch(/m\.dual: (damaged|not a dual point)/);
  }
});

test('exit code 1: the model claims more than is true', async () => {
  const folder = dataFolder();
  await trainHere(folder, 'train.svm -o m');
  const model = await readModel(join(folder, 'm'));
  const { certificate } = model;
  const primal = certificate.primal * 0.999;
  await writeModel(join(folder, 'n'), { ...model, certificate: { ...certificate, primal } });
  const { code, text } = await run(folder, 'verify n train.svm');
  expect(text).toContain('NOT confirmed: the objective is');
  expect(code).toBe(1);
});

test('exit code 3: other data', async () => {
  const folder = dataFolder();
  await trainHere(folder, 'train.svm -o m');
  const text = readFileSync(join(folder, 'train.svm'), 'utf8');
  writeFileSync(
    join(folder, 'other.svm'),
    text.replace(/^(-?)1/m, (_, sign) => (sign ? '1' : '-1')),
  );
  const { code, stderr } = await run(folder, 'verify m other.svm');
  expect(stderr).toMatch(/other\.svm: its hash is \w{16}; expected \w{16}: this is not the data/);
  expect(code).toBe(3);
});

describe('--keep-dual is refused', () => {
  test.each([
    ['-o - --keep-dual', 'name the model with -o MODEL'],
    ['--keep-dual --solver bmrm', 'proves its bound without one'],
    ['--keep-dual --progressive', '--keep-dual cannot be used with --progressive'],
  ])('%s', async (options, message) => {
    const folder = dataFolder();
    const { code, stderr } = await run(folder, `train train.svm ${options}`);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
    expect(existsSync(join(folder, 'train.svm.model'))).toBe(false);
  });
});

test('the built command has it', async () => {
  const folder = dataFolder();
  const train = ['train', 'train.svm', '--keep-dual', '-o', 'm', '--quiet'];
  expect((await runDso(train, { folder })).code).toBe(0);
  const { code, stdout } = await runDso(['verify', 'm', 'train.svm', '--quiet'], { folder });
  expect(stdout.toString()).toContain('confirmed: the certificate holds');
  expect(code).toBe(0);
});
