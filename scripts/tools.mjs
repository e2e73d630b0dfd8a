import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Packages whose command has another name than the package. @type {Record<string, string>} */
const packages = { biome: '@biomejs/biome', tsc: 'typescript' };

/**
 * The JavaScript file behind a development tool's command, so that it runs with this very Node
 * and without a shell on every platform.
 *
 * @param {string} command
 * @returns {string}
 */
function toolFile(command) {
  const folder = join('node_modules', packages[command] ?? command);
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
      stdio: ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'],
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
