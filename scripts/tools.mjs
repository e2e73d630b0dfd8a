import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Where a tool's package is, if not at node_modules/NAME.
 *
 * @type {Record<string, string>}
 */
const folders = {
  biome: 'node_modules/@biomejs/biome',
  tsc: 'node_modules/typescript',
  'svelte-check': 'tools/page-types/node_modules/svelte-check',
};

/**
 * The JavaScript file behind a development tool's command, so that it runs with this very Node
 * and without a shell on every platform.
 *
 * @param {string} command
 * @returns {string}
 */
function toolFile(command) {
  const folder = folders[command] ?? join('node_modules', command);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return join(folder, typeof bin === 'string' ? bin : bin[command]);
}

/**
 * Runs an installed development tool from the repository's root.
 *
 * @param {string} command such as `biome`
 * @param {string[]} argv
 * @param {{ show?: boolean }} [options] show: let the tool write to the terminal itself
 * @returns {Promise<{ code: number, output: string }>}
 */
export function runTool(command, argv, { show = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [toolFile(command), ...argv], {
      stdio: [show ? 'inherit' : 'ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'],
    });
    let output = '';
    const collect = (/** @type {Buffer} */ chunk) => {
      output += chunk;
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
