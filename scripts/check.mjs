/**
 * The static checks, and the one that repairs what it finds (`format`).
 *
 *   node scripts/check.mjs format | format-check lint types
 */
import { pathToFileURL } from 'node:url';
import { runTool } from './tools.mjs';

/**
 * @typedef {{ title: string, runs: readonly (readonly [string, ...string[]])[] }} Check
 * @type {Readonly<Record<string, Check>>}
 */
const all = {
  format: {
    title: 'format and sort imports (biome)',
    runs: [['biome', 'check', '--write', '--linter-enabled=false']],
  },
  'format-check': {
    title: 'format (biome)',
    runs: [['biome', 'check', '--linter-enabled=false', '--max-diagnostics=50']],
  },
  lint: {
    title: 'lint (biome, oxlint)',
    runs: [
      ['biome', 'lint', '--error-on-warnings', '--max-diagnostics=50'],
      ['oxlint', '--type-aware', '--deny-warnings'],
    ],
  },
  types: {
    title: 'types (tsc, svelte-check)',
    runs: [
      ['tsc', '-p', 'tsconfig.json'],
      ['tsc', '-p', 'ui/tsconfig.json'],
      ['svelte-check', '--workspace', 'ui', '--tsconfig', './tsconfig.json', '--fail-on-warnings'],
    ],
  },
};

/**
 * Runs one check silently, unless it finds something.
 *
 * @param {string} name
 * @returns {Promise<{ title: string, passed: boolean, output: string }>}
 */
export async function check(name) {
  const chosen = all[name];
  if (!chosen) throw new Error(`No check "${name}"; known: ${Object.keys(all).join(', ')}.`);
  const results = await Promise.all(
    chosen.runs.map(([command, ...argv]) => runTool(command, argv)),
  );
  const failed = results.filter(({ code }) => code !== 0);
  const output = failed.map((result) => result.output).join('');
  return { title: chosen.title, passed: failed.length === 0, output };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const name of process.argv.slice(2)) {
    const { title, passed, output } = await check(name);
    console.log(`${passed ? 'ok    ' : 'FAILED'}  ${title}`);
    if (!passed) {
      console.log(output);
      process.exitCode = 1;
    }
  }
}
