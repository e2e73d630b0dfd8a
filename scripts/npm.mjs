import { spawnSync } from 'node:child_process';

/**
 * How to call npm. Inside an npm script its own file is known, which spares a shell on Windows
 * (npm.cmd cannot be spawned without one).
 *
 * @returns {{ command: string, prefix: string[] }}
 */
export function npm() {
  const script = process.env.npm_execpath;
  if (script?.endsWith('.js')) return { command: process.execPath, prefix: [script] };
  return { command: 'npm', prefix: [] };
}

/**
 * What npm prints as JSON; undefined where that is nothing, or not JSON. npm prints its errors as
 * JSON too.
 *
 * @param {string[]} argv
 * @param {string} [folder]
 * @returns {unknown}
 */
export function npmJson(argv, folder = '.') {
  const { command, prefix } = npm();
  const options = ['--json', '--loglevel=silent'];
  const { error, stdout } = spawnSync(command, [...prefix, ...argv, ...options], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (error) throw new Error(`Could not start npm: ${error.message}`);
  try {
    return JSON.parse(stdout);
  } catch {
    return undefined;
  }
}
