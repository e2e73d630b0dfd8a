/**
 * Attacks the program with damaged, forged and random inputs, in a fixed order that a seed decides.
 *
 *   npm run fuzz                                all targets, a minute each
 *   npm run fuzz -- certificates parquet        some of them
 *
 *   --seconds N   time for each target (default: 60)
 *   --inputs N    inputs for each target, at most
 *   --seed N      decides every input (default: 1)
 *   --first N     number of the first input (default: 0), to repeat one
 *   --help        this text
 *
 * Exit code 1: an input made the program do what it promises never to do. Each is printed with a
 * command that shows it again.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { attack, closingLine, type Found, type Limits } from './attack.ts';
import { targets } from './targets.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = join(root, '.cache', 'fuzz');

function usageError(message: string): never {
  console.error(`fuzz: ${message}`);
  process.exit(2);
}

function parsed<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    return usageError((error as Error).message);
  }
}

/** The comment at the head of this file, and the targets. */
function showHelp(): never {
  const lines = readFileSync(import.meta.filename, 'utf8').split('\n');
  const head = lines.slice(1, lines.indexOf(' */')).map((line) => line.slice(3));
  console.log(`${head.join('\n')}\n\nTargets: ${Object.keys(targets).join(', ')}`);
  process.exit(0);
}

function parse(argv: readonly string[]): { names: string[]; limits: Limits } {
  const known = Object.keys(targets);
  const text = { type: 'string' } as const;
  const options = {
    seconds: text,
    inputs: text,
    seed: text,
    first: text,
    help: { type: 'boolean' },
  } as const;
  const { values, positionals } = parsed(() =>
    parseArgs({ args: [...argv], options, allowPositionals: true }),
  );
  if (values.help) showHelp();
  const unknown = positionals.find((name) => !known.includes(name));
  if (unknown !== undefined) usageError(`no target "${unknown}"; there are ${known.join(', ')}`);
  const number = (name: Exclude<keyof typeof values, 'help'>, otherwise: number) => {
    const given = values[name];
    if (given === undefined) return otherwise;
    const value = Number(given);
    if (Number.isSafeInteger(value) && value >= 0) return value;
    return usageError(`--${name} ${given}: expected a whole number`);
  };
  const seconds = number('seconds', values.inputs === undefined ? 60 : Infinity);
  const limits = { seconds, inputs: number('inputs', Infinity), seed: number('seed', 1) };
  return {
    names: positionals.length > 0 ? positionals : known,
    limits: { ...limits, first: number('first', 0) },
  };
}

/** Shows each failure at once, and every few seconds how far it is. */
function reporter(name: string, seed: number) {
  const every = process.stderr.isTTY ? 1000 : 30_000;
  let last = performance.now();
  let shown = 0;
  return (done: number, failures: readonly Found[]) => {
    for (const { input, what, command } of failures.slice(shown)) {
      const again = `npm run fuzz -- ${name} --seed ${seed} --first ${input} --inputs 1`;
      console.log(
        `FAILED  ${name}, input ${input} of seed ${seed}: ${what}\n  ${command ?? again}`,
      );
    }
    shown = failures.length;
    if (performance.now() - last < every) return;
    last = performance.now();
    const count = done.toLocaleString('en');
    process.stderr.write(`${name}: ${count} inputs, ${failures.length} failures\n`);
  };
}

async function runTarget(name: string, limits: Limits): Promise<number> {
  const target = await targets[name]();
  const missing = target.unavailable?.();
  if (missing !== undefined) {
    console.log(`${name}: SKIPPED, ${missing}`);
    return 0;
  }
  const started = performance.now();
  const { inputs, failures, counts } = await attack(
    target,
    join(folder, `${name}-${process.pid}`),
    limits,
    reporter(name, limits.seed),
  );
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(`${name}: ${closingLine({ inputs, failures, counts }, seconds)}`);
  return failures.length;
}

async function main(argv: readonly string[]): Promise<void> {
  const { names, limits } = parse(argv);
  let failures = 0;
  for (const name of names) failures += await runTarget(name, limits);
  if (failures > 0) process.exitCode = 1;
}

await main(process.argv.slice(2));
