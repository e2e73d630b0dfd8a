/**
 * Proves that no bit of a trained model has changed. Trains some hundred small models by the public
 * library and the built command line, and keeps a SHA-256 of each in test/golden/models.json.
 *
 *   npm run models                       trains, and writes the file
 *   npm run models -- --check            trains, and compares with the file
 *   npm run models -- --only PATTERN     only the runs whose names match
 *
 * A model holds the version of the program, so a new version needs a new file.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { commandRuns } from './model-matrix/command-runs.ts';
import { writeFiles } from './model-matrix/data.ts';
import { libraryRuns } from './model-matrix/library-runs.ts';
import { optionRuns } from './model-matrix/option-runs.ts';
import { hashOf, type ModelRun, resultOf, skipped } from './model-matrix/run.ts';

type Values = Record<string, string>;

interface Difference {
  readonly name: string;
  readonly expected: string;
  readonly got: string;
}

const golden = fileURLToPath(new URL('../golden/models.json', import.meta.url));
const kernels = fileURLToPath(new URL('../../wasm/', import.meta.url));
/** Commands that run at the same time. */
const lanes = 2;

function kernelRuns(): ModelRun[] {
  const files = readdirSync(kernels).filter((file) => file.endsWith('.wasm'));
  return files.map((file) => ({
    name: `wasm/${file}`,
    value: () => hashOf(readFileSync(join(kernels, file))),
  }));
}

/** Takes one run after the other until none is left. */
async function perform(runs: Iterator<ModelRun>, values: Values): Promise<void> {
  for (let next = runs.next(); !next.done; next = runs.next()) {
    values[next.value.name] = await resultOf(next.value);
  }
}

/** All runs in a new folder, which is the current one meanwhile, so that no path is in a model. */
async function performAll(isSelected: (run: ModelRun) => boolean) {
  const before = process.cwd();
  const folder = mkdtempSync(join(tmpdir(), 'dso-models-'));
  const values: Values = {};
  process.chdir(folder);
  try {
    await writeFiles();
    // The library has threads of its own, and commands are processes.
    const inside = [...kernelRuns(), ...libraryRuns(), ...optionRuns()].filter(isSelected);
    const commands = commandRuns().filter(isSelected);
    await perform(inside.values(), values);
    const queue = commands.values();
    await Promise.all(Array.from({ length: lanes }, () => perform(queue, values)));
    return { runs: [...inside, ...commands], values };
  } finally {
    process.chdir(before);
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/** Runs that must have the value of another run of the same time. */
function unequalPairs(runs: readonly ModelRun[], values: Values): Difference[] {
  return runs.flatMap(({ name, equals }) => {
    if (equals === undefined || values[equals] === undefined) return [];
    const [expected, got] = [values[equals], values[name]];
    if (expected === got || got === skipped) return [];
    return [{ name: `${name} (compared with ${equals})`, expected, got }];
  });
}

function changes(stored: Values, values: Values): Difference[] {
  const names = new Set([...Object.keys(stored), ...Object.keys(values)]);
  return [...names].flatMap((name) => {
    const [expected, got] = [stored[name] ?? 'nothing', values[name] ?? 'nothing'];
    return expected === got || got === skipped ? [] : [{ name, expected, got }];
  });
}

function readGolden(): Values {
  try {
    return JSON.parse(readFileSync(golden, 'utf8')) as Values;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

function writeGolden(values: Values): void {
  const entries = Object.entries(values);
  entries.sort(([first], [second]) => (first < second ? -1 : 1));
  writeFileSync(golden, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
}

function matching(values: Values, pattern: RegExp): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => pattern.test(name)));
}

/** What to write: without a pattern nothing stays of runs that are no more. */
function merged(stored: Values, values: Values, isWhole: boolean): Values {
  const result = isWhole ? {} : { ...stored };
  for (const [name, value] of Object.entries(values)) {
    if (value !== skipped) result[name] = value;
    else if (stored[name] !== undefined) result[name] = stored[name];
  }
  return result;
}

async function main(): Promise<void> {
  const { values: given } = parseArgs({
    options: { check: { type: 'boolean', default: false }, only: { type: 'string' } },
  });
  const pattern = new RegExp(given.only ?? '');
  const stored = readGolden();
  const { runs, values } = await performAll(({ name }) => pattern.test(name));
  const differences = unequalPairs(runs, values);
  if (given.check) differences.push(...changes(matching(stored, pattern), values));
  for (const { name, expected, got } of differences) {
    console.log(`${name}\n  expected ${expected}\n  got      ${got}`);
  }
  const left = Object.values(values).filter((value) => value === skipped).length;
  if (left > 0) console.log(`${left} skipped: mpirun is not installed`);
  const count = runs.length - left;
  if (differences.length > 0) process.exitCode = 1;
  if (given.check) console.log(`${count} models checked, ${differences.length} differ`);
  else if (differences.length > 0) console.log('nothing written: runs that must be equal differ');
  else {
    writeGolden(merged(stored, values, given.only === undefined));
    console.log(`${count} models written to test/golden/models.json`);
  }
}

await main();
// Threads of the library would keep the process alive.
process.exit();
