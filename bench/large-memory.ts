import { spawnSync } from 'node:child_process';
import { availableParallelism, freemem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { epochs, type LargeEpoch, methods } from './large-methods.ts';
import type { Measure, PartReport } from './measure.ts';
import { figure, table } from './table.ts';

const script = fileURLToPath(new URL('large-epoch.ts', import.meta.url));
const sizes = [2, 6] as const;
const rounds = 2;
const limit = 1.2;
/** Bytes that the larger runs take in all, with some room. */
const needed = 9e9;
/** The first epoch also compiles kernels and touches memory for the first time. */
const warmUpEpochs = 1;

function run(method: string, gibibytes: number): LargeEpoch {
  process.stderr.write(`  ${method}, ${gibibytes} GiB …\n`);
  const { status, stdout } = spawnSync(process.execPath, [script, method, String(gibibytes)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`${method} on ${gibibytes} GiB could not be measured`);
  return JSON.parse(stdout) as LargeEpoch;
}

/** Nanoseconds per non-zero and epoch, of the fastest run. */
function timeOf(runs: readonly LargeEpoch[], of: 'marks' | 'processor'): number {
  const times = runs.map(({ [of]: seconds, nonzeros }) => {
    const [first, last] = [seconds[warmUpEpochs - 1], seconds[seconds.length - 1]];
    return ((last - first) * 1e9) / ((seconds.length - warmUpEpochs) * nonzeros);
  });
  return Math.min(...times);
}

/** What an epoch on more memory than 32-bit addresses reach costs, against one on less. */
export async function benchLargeMemory(): Promise<PartReport> {
  const skip = (reason: string) => ({ measures: [], details: [], skipped: [reason] });
  if (freemem() < needed) return skip(`large-memory: ${needed / 1e9} GB of free memory are needed`);
  if (availableParallelism() < 2) return skip('large-memory: two threads need two cores');
  const details = [];
  const measures: Measure[] = [];
  const lines: string[][] = [];
  for (const method of Object.keys(methods)) {
    const runs: LargeEpoch[][] = sizes.map(() => []);
    for (let round = 0; round < rounds; round++) {
      sizes.forEach((size, k) => {
        runs[k].push(run(method, size));
      });
    }
    const cells: string[] = [];
    const ratios = (['marks', 'processor'] as const).map((of) => {
      const [small, large] = runs.map((same) => timeOf(same, of));
      cells.push(figure(small), figure(large), `${figure(large / small)}×`);
      return large / small;
    });
    const resident = runs.map(([{ resident: bytes }]) => `${figure(bytes / 2 ** 30)} GiB`);
    lines.push([method, ...cells, ...resident]);
    measures.push({
      name: `epoch per non-zero of ${method}, ${sizes[1]} GiB / ${sizes[0]} GiB`,
      value: ratios[0],
      unit: '×',
      target: { kind: 'at most', limit },
    });
    details.push({ method, runs });
  }
  const heads = sizes.map((size) => `${size} GiB`);
  const ofProcessor = [...heads, 'ratio'].map((head) => `${head}, processor`);
  console.log(`nanoseconds per non-zero and epoch, epochs ${warmUpEpochs + 1} to ${epochs}`);
  console.log(table(['', ...heads, 'ratio', ...ofProcessor, 'resident', ''], lines));
  return { measures, details, skipped: [] };
}
