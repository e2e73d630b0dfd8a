/**
 * Repeats the figures and tables of the paper.
 *
 *   npm run experiment -- NAME [options]      one of them; --help lists its options
 *   npm run experiment -- all [options]       all, one after the other
 */
import { join } from 'node:path';
import { exitCodeOfError } from '../src/apps/cli/terminal.ts';
import { DsoError } from '../src/errors.ts';
import { asynchronous } from './async.ts';
import { certificates } from './certificates.ts';
import { cluster } from './cluster.ts';
import { parallel } from './parallel.ts';
import { scaling } from './scaling.ts';
import { serial } from './serial.ts';
import { shapes } from './shapes.ts';
import { splice } from './splice.ts';
import type { Experiment } from './support/experiment.ts';
import { helpOf, parseOptions } from './support/options.ts';
import { claimsTable, describeMachine, writeResults } from './support/report.ts';
import { theorem } from './theorem.ts';

const experiments: readonly Experiment[] = [
  shapes,
  serial,
  parallel,
  scaling,
  splice,
  theorem,
  asynchronous,
  cluster,
  certificates,
];

function usage(): string {
  const width = Math.max(...experiments.map(({ name }) => name.length));
  const lines = experiments.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    'npm run experiment -- NAME [options]; --help after a name lists its options',
    '',
    ...lines,
    `  ${'all'.padEnd(width)}  all of them, one after the other, with shared options only`,
  ].join('\n');
}

async function runExperiment(
  experiment: Experiment,
  argv: readonly string[],
  sequence: { readonly first: boolean; readonly alone: boolean },
): Promise<void> {
  const parsed = parseOptions(experiment, argv);
  // With several experiments each has its own folder in the requested one.
  const within = parsed && !sequence.alone && argv.some((word) => /^(?:-o|--output)/.test(word));
  const request = within ? { ...parsed, folder: join(parsed.folder, experiment.name) } : parsed;
  if (!request) {
    console.log(helpOf(experiment));
    return;
  }
  const machine = describeMachine();
  console.log(`${experiment.name}: ${experiment.summary}`);
  console.log(`${machine.cores} cores (${machine.model}), Node ${machine.node}`);
  // Later experiments see the load of earlier ones.
  if (sequence.first && machine.load > 0.5) {
    console.log(`The machine is busy (load ${machine.load.toFixed(2)}): times mean little.`);
  }
  const started = performance.now();
  const outcome = await experiment.run(request);
  for (const reason of outcome.skipped) console.log(`\nSKIPPED  ${reason}`);
  const { claims } = outcome;
  if (claims.length > 0) console.log(`\nThe paper's claims\n\n${claimsTable(claims)}`);
  const files = await writeResults(request, experiment.name, machine, outcome);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`\n${seconds} s; wrote ${files.length} files to ${request.folder}`);
}

async function main([name = '--help', ...rest]: readonly string[]): Promise<void> {
  const chosen = experiments.filter((experiment) => name === 'all' || experiment.name === name);
  if (chosen.length === 0) {
    console.log(usage());
    if (name === '--help') return;
    console.error(`\nexperiment: no "${name}"`);
    process.exitCode = 2;
    return;
  }
  for (const [index, experiment] of chosen.entries()) {
    await runExperiment(experiment, rest, { first: index === 0, alone: chosen.length === 1 });
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof DsoError)) throw error;
  console.error(`experiment: ${error.message}`);
  process.exitCode = exitCodeOfError(error);
}
