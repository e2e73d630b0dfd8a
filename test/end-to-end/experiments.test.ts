import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { serial } from '../../experiments/serial.ts';
import { parseOptions } from '../../experiments/support/options.ts';
import { lastingFolders } from '../support/lasting-folder.ts';

const lastingFolder = lastingFolders();

const program = fileURLToPath(new URL('../../experiments/run.ts', import.meta.url));

/** Runs `npm run experiment -- …` without the building. */
function runExperiment(args: readonly string[]) {
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args]);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

interface Results {
  readonly experiment: string;
  readonly settings: { readonly scale: number };
  readonly claims: readonly { claim: string; measured: string; verdict: string }[];
  readonly skipped: readonly string[];
  readonly results: unknown;
}

const verdicts = ['holds', 'partly holds', 'does not hold', 'not measured'];

/**
 * At a tiny scale, with the options that make it quick, and the reports and figures it leaves. What
 * counts epochs has time for all of them.
 */
const cases: Readonly<Record<string, { args: string[]; claims: number; files: RegExp[] }>> = {
  shapes: { args: [], claims: 2, files: [] },
  serial: { args: ['--time', '0.05'], claims: 4, files: [/^real-sim-like$/] },
  parallel: {
    args: ['--time', '0.05', '--like', 'real-sim', '--grid', '4'],
    claims: 7,
    files: [/^real-sim-like$/],
  },
  scaling: {
    args: ['--epochs', '4', '--rotations', '200', '--time', '600'],
    claims: 4,
    files: [/^speed-up\.svg$/, /^speed-up\.png$/, /^time-per-epoch\.svg$/],
  },
  splice: {
    args: ['--time', '0.05', '--longest', '3', '--grid', '2'],
    claims: 4,
    files: [/^splice$/],
  },
  theorem: {
    args: ['--epochs', '40', '--time', '600'],
    claims: 2,
    files: [/^gap-hinge\.svg$/, /^gap-logistic\.png$/],
  },
  async: { args: ['--time', '0.05'], claims: 2, files: [/^p-2$/, /^p-4-disturbed$/] },
};

test.concurrent.each(Object.entries(cases))(
  'experiment %s runs to its end on generated data and says what holds',
  async (name, { args, claims, files }) => {
    const folder = lastingFolder();
    const output = join(folder, 'results');
    const none = join(folder, 'none');
    const shared = ['--scale', '0.02', '--threads', '2', '--data', none];
    const { code, stdout, stderr } = await runExperiment([name, ...shared, ...args, '-o', output]);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const text = readFileSync(join(output, 'results.json'), 'utf8');
    const results = JSON.parse(text) as Results;
    expect(results.experiment).toBe(name);
    expect(results.settings.scale).toBe(0.02);
    expect(results.claims).toHaveLength(claims);
    for (const { claim, measured, verdict } of results.claims) {
      expect(verdicts).toContain(verdict);
      expect(measured).not.toMatch(/NaN|undefined|\[object/);
      expect(stdout).toContain(`[${verdict}] ${claim}`);
      expect(stdout).toContain(measured);
    }
    for (const reason of results.skipped) expect(stdout).toContain(`SKIPPED  ${reason}`);
    const left = readdirSync(output);
    for (const file of files) expect(left).toContainEqual(expect.stringMatching(file));
    for (const file of left.filter((one) => one.endsWith('.svg'))) {
      expect(readFileSync(join(output, file), 'utf8')).toMatch(/^<svg/);
    }
    // Real data that is missing is named, and what was used instead.
    if (name === 'serial')
      expect(stdout).toContain(`SKIPPED  debdesc: no ${join(none, 'debdesc.svm.gz')}`);
    if (name === 'splice') expect(stdout).toContain('sequences with a planted motif instead');
  },
);

test.concurrent('each explains itself', async () => {
  const { code, stdout } = await runExperiment(['all', '--help']);
  expect(code).toBe(0);
  const texts = stdout.split('npm run experiment -- ').slice(1);
  const names = texts.map((text) => text.slice(0, text.indexOf(' [options]')));
  expect(names).toEqual([...Object.keys(cases), 'cluster', 'certificates']);
  for (const text of texts) {
    for (const option of ['--scale', '--threads', '--time', '--output']) {
      expect(text).toContain(option);
    }
  }
});

test.concurrent.each([
  [['nothing'], 'no "nothing"'],
  [['serial', '--colour', 'red'], "serial: Unknown option '--colour'"],
  [['parallel', '--like', 'iris'], '--like iris: expected one of real-sim, webspam, splice'],
  [['serial', '--scale', '0.001', '--solvers', 'magic'], "no solver 'magic'"],
])('%j is refused with code 2', async (args, message) => {
  const { code, stderr } = await runExperiment([...args]);
  expect(stderr).toContain(message);
  expect(code).toBe(2);
});

test.each([
  [['--scale', '0'], '--scale 0: expected a number above 0'],
  [['--threads', '1.5'], '--threads 1.5: expected a whole number'],
])('%j is refused', (args, message) => {
  expect(() => parseOptions(serial, args)).toThrow(message);
});

test.concurrent('without a name it lists what there is', async () => {
  const { code, stdout } = await runExperiment([]);
  expect(code).toBe(0);
  for (const name of Object.keys(cases)) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
});
