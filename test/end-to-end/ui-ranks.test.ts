/** `dso train --ui` under mpirun: the first process serves the page for all. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { readModel } from '../../src/model/file.ts';
import { listRuns } from '../../src/reporting/records/store.ts';
import {
  chartOf,
  endlessTraining,
  eventually,
  focusOf,
  gridWords,
  inkOf,
  pressStop,
  test,
  textOf,
  tileOf,
} from '../support/browser.ts';
import { executable } from '../support/command-line.ts';
import { graceOf, type Launcher, launchers } from '../support/launchers.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Starts two processes, and resolves with the address that one of them prints. */
async function startRanks({ path, options }: Launcher, folder: string, words: readonly string[]) {
  const program = [process.execPath, executable, ...words];
  const child = spawn(path!, [...options, '-n', '2', ...program], {
    cwd: folder,
    env: { ...process.env, ...graceOf(0), DSO_NO_RECORD: '' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'close');
  onTestFinished(async () => {
    // The launcher takes its processes along.
    child.kill('SIGTERM');
    await ended;
  });
  let printed = '';
  const addresses = (): string[] => [
    ...new Set(printed.match(/http:\/\/127\.0\.0\.1:\S+\/(?=\s)/g)),
  ];
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      if (addresses().length > 0) resolve();
    });
    child.on('close', () => reject(new Error(`no address was printed:\n${printed}`)));
  });
  return { address: addresses()[0], addresses, ended };
}

/** 12.3 MB → 12,300,000 */
function bytesOf(text: string): number {
  const [, digits, unit] = /([\d.]+)\s*(\D?)B in all/.exec(text) ?? [];
  return Number(digits) * 1000 ** ' kMGT'.indexOf(unit === '' ? ' ' : unit);
}

describe.each(launchers)('under $name', (launcher) => {
  test('the run of two processes is shown and stopped', async ({ visit, skip }) => {
    if (launcher.path === undefined) return skip(`${launcher.name} is not installed`);
    const folder = temporaryFolder();
    // Each process plays two of the four workers.
    const words = endlessTraining(folder, '--ui', '--no-open');
    const { address, addresses, ended } = await startRanks(launcher, folder, words);
    const page = await visit(address);
    await eventually(
      () => tileOf(page, 'epoch'),
      (epoch) => expect(epoch).toBeGreaterThan(2),
    );
    await eventually(
      () => inkOf(chartOf(page, 'Relative gap')),
      (ink) => {
        expect(ink).toHaveLength(1);
      },
    );
    await eventually(
      () => gridWords(page),
      (text) => {
        expect(text).toMatch(/4 workers in 2 processes/);
        expect(text).toMatch(/Now block 0 is .*expected with worker/);
      },
    );
    const positions = await gridWords(page);
    await eventually(
      () => gridWords(page),
      (now) => expect(now).not.toBe(positions),
    );
    await pressStop(page);
    await ended;
    expect(addresses()).toHaveLength(1);
    const { certificate } = await readModel(join(folder, 'partial.model'));
    expect(certificate.stopped).toBe('interrupted');
    await eventually(
      () => textOf(focusOf(page)),
      (text) => {
        expect(text).toMatch(/stopped on request; model in/i);
      },
    );
    const [{ latest, status }] = listRuns(join(folder, '.dso/runs'));
    expect(status).toBe('done');
    await eventually(
      () => textOf(page.getByRole('region', { name: /throughput/i })),
      (traffic) => {
        const ratio = bytesOf(traffic) / latest!.bytes!;
        expect(ratio, `${traffic}\n${latest!.bytes} bytes in the record`).toBeGreaterThan(0.9);
        expect(ratio, `${traffic}\n${latest!.bytes} bytes in the record`).toBeLessThan(1.1);
      },
    );
  });
});
