/**
 * Measures what the project promises about speed, and prints ratios with their targets.
 *
 *   npm run bench                 everything, in less than twenty minutes
 *   npm run bench -- PART …       kernels, parse, convert, epochs, end-to-end, ranks, memory,
 *                                 stream, serve, ui
 *
 * A target that is missed is reported, never a failure: the machine may be busy.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { benchConvert } from './convert.ts';
import { benchEndToEnd } from './end-to-end.ts';
import { benchEpochs } from './epochs.ts';
import { benchKernels } from './kernels.ts';
import { isMet, type Measure, type PartReport } from './measure.ts';
import { benchMemory } from './memory.ts';
import { benchParse } from './parse.ts';
import { benchRanks } from './ranks.ts';
import { benchServe } from './serve.ts';
import { benchStream } from './stream.ts';
import { figure, table } from './table.ts';
import { benchUi } from './ui.ts';

const parts: Readonly<Record<string, () => Promise<PartReport>>> = {
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

const resultFile = fileURLToPath(new URL('../.cache/bench.json', import.meta.url));

function chosenParts(argv: readonly string[]): string[] {
  const known = Object.keys(parts);
  const unknown = argv.find((name) => !known.includes(name));
  if (unknown === undefined) return argv.length > 0 ? [...argv] : known;
  console.error(`bench: no part "${unknown}"; the parts are ${known.join(', ')}`);
  process.exit(2);
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

const names = chosenParts(process.argv.slice(2));
const machine = describeMachine();
const reports: Record<string, PartReport> = {};
for (const name of names) {
  console.log(`\n${name}`);
  const start = performance.now();
  reports[name] = await parts[name]();
  console.log(`(${figure((performance.now() - start) / 1000)} s)`);
}

const measures = Object.values(reports).flatMap((report) => report.measures);
console.log(`\n${table(['measure', 'value', 'target', 'verdict'], measures.map(rowOf))}`);
for (const reason of Object.values(reports).flatMap((report) => report.skipped)) {
  console.log(`SKIPPED  ${reason}`);
}
writeFileSync(resultFile, `${JSON.stringify({ machine, reports }, null, 2)}\n`);
console.log(`\nAll figures: ${resultFile}`);
