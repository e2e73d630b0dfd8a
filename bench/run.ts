/**
 * Measures what the project promises about speed, and prints ratios with their targets.
 *
 *   npm run bench                 everything, in less than twenty minutes
 *   npm run bench -- PART …       start, kernels, parse, convert, epochs, end-to-end, ranks, memory,
 *                                 stream, serve, ui
 *   npm run bench -- l1 tall threads busy
 *                                 these take long and run only if they are named, and so do most
 *                                 cells of end-to-end; --files NAME,NAME (default: all),
 *                                 --solver NAME (l1 and tall; default: auto)
 *   npm run bench -- large-memory likewise; it needs 9 GB of free memory
 *
 * A target that is missed is reported, never a failure: the machine may be busy.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { solverByName } from '../src/solvers/index.ts';
import { benchBusy } from './busy.ts';
import { benchConvert } from './convert.ts';
import { benchEndToEnd } from './end-to-end.ts';
import { benchEpochs } from './epochs.ts';
import { benchKernels } from './kernels.ts';
import { benchL1 } from './l1.ts';
import { benchLargeMemory } from './large-memory.ts';
import { isMet, type Measure, type PartOptions, type PartReport } from './measure.ts';
import { benchMemory } from './memory.ts';
import { benchParse } from './parse.ts';
import { benchRanks } from './ranks.ts';
import { benchServe } from './serve.ts';
import { benchStart } from './start.ts';
import { benchStream } from './stream.ts';
import { figure, table } from './table.ts';
import { benchTall } from './tall.ts';
import { benchThreads } from './threads.ts';
import { benchUi } from './ui.ts';

type Part = (options: PartOptions) => Promise<PartReport>;

const quickParts: Readonly<Record<string, Part>> = {
  start: benchStart,
  kernels: benchKernels,
  parse: benchParse,
  convert: benchConvert,
  epochs: benchEpochs,
  'end-to-end': benchEndToEnd,
  ranks: benchRanks,
  memory: benchMemory,
  stream: benchStream,
  serve: benchServe,
  ui: benchUi,
};

/** These run when they are named. */
const longParts: Readonly<Record<string, Part>> = {
  l1: benchL1,
  tall: benchTall,
  threads: benchThreads,
  busy: benchBusy,
  'large-memory': benchLargeMemory,
};

const parts = { ...quickParts, ...longParts };

const resultFile = fileURLToPath(new URL('../.cache/bench.json', import.meta.url));

function refuse(message: string): never {
  console.error(`bench: ${message}`);
  process.exit(2);
}

function chosen(argv: readonly string[]): { names: string[]; options: PartOptions } {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        solver: { type: 'string', default: 'auto' },
        files: { type: 'string', default: '' },
      },
    });
    const unknown = positionals.find((name) => !Object.hasOwn(parts, name));
    if (unknown) refuse(`no part "${unknown}"; the parts are ${Object.keys(parts).join(', ')}`);
    const names = positionals.length > 0 ? positionals : Object.keys(quickParts);
    const files = values.files.split(',').filter(Boolean);
    const brief = positionals.length === 0;
    return { names, options: { solver: solverByName(values.solver), files, brief } };
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function describeMachine() {
  const [{ model }] = cpus();
  const load = loadavg()[0];
  const cores = availableParallelism();
  console.log(`${cores} cores (${model}), Node ${process.versions.node}, load ${figure(load)}`);
  if (load > 0.5) console.log('The machine is busy: only ratios mean something, and those less.');
  return { date: new Date().toISOString(), node: process.versions.node, model, cores, load };
}

function rowOf(measure: Measure): string[] {
  const { name, value, unit, target, decimals } = measure;
  const met = isMet(measure);
  const sign = target?.kind === 'at most' ? '≤' : '≥';
  return [
    name,
    `${decimals === undefined ? figure(value) : value.toFixed(decimals)}${unit}`,
    target ? `${sign} ${target.limit}${unit}` : '',
    met === undefined ? '' : met ? 'met' : 'NOT MET',
  ];
}

const { names, options } = chosen(process.argv.slice(2));
const machine = describeMachine();
const reports: Record<string, PartReport> = {};
for (const name of names) {
  console.log(`\n${name}`);
  const start = performance.now();
  reports[name] = await parts[name](options);
  console.log(`(${figure((performance.now() - start) / 1000)} s)`);
}

const measures = Object.values(reports).flatMap((report) => report.measures);
console.log(`\n${table(['measure', 'value', 'target', 'verdict'], measures.map(rowOf))}`);
for (const reason of Object.values(reports).flatMap((report) => report.skipped)) {
  console.log(`SKIPPED  ${reason}`);
}
writeFileSync(resultFile, `${JSON.stringify({ machine, reports }, null, 2)}\n`);
console.log(`\nAll figures: ${resultFile}`);
