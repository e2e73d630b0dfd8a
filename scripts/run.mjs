/**
 * The entry point of every npm script. On a fresh clone nothing is installed and the system's Node
 * may be as old as 20, so this file and what it imports at the top use Node 20 and no package.
 *
 *   node scripts/run.mjs start|dso|test|build|bench|experiment|fuzz|models|lint|format|check|audit [arguments …]
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { inheritedFiles, installedNode } from '../bin/runtime.js';
import { fingerprint, readStamp, writeStamp } from './fingerprint.mjs';
import { npm } from './npm.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const oldestSystemNode = 20;
const wantedNode = 24;

/** What each npm script runs, as a file below the root and its arguments for Node 24. @type {Record<string, string[][]>} */
const commands = {
  start: [['scripts/build.mjs'], ['bin/dso.js', 'demo']],
  dso: [['scripts/build.mjs'], ['bin/dso.js']],
  test: [['scripts/test.mjs']],
  build: [['scripts/build.mjs']],
  bench: [['scripts/build.mjs'], ['bench/run.ts']],
  experiment: [['scripts/build.mjs'], ['experiments/run.ts']],
  fuzz: [['scripts/build.mjs'], ['test/fuzz/run.ts']],
  models: [['scripts/build.mjs'], ['test/support/model-matrix.ts']],
  lint: [['scripts/check.mjs', 'lint']],
  format: [['scripts/check.mjs', 'format']],
  check: [['scripts/check.mjs', 'format-check', 'lint', 'types']],
  audit: [['scripts/audit.mjs']],
};

/** Commands that check types, which needs `tools/page-types`. */
const checking = ['test', 'check'];

/** @param {string} message */
function say(message) {
  process.stderr.write(`${message}\n`);
}

/** @param {string} message @returns {never} */
function fail(message) {
  say(message);
  process.exit(1);
}

/** @param {string} version such as 24.1.0 */
function majorOf(version) {
  return Number(version.split('.')[0]);
}

/**
 * Installs a folder's locked packages, unless its lock file is the one installed last.
 *
 * @param {string} folder
 * @param {string} description what the user sees
 * @param {NodeJS.ProcessEnv} env
 * @param {{ optional?: boolean }} [options] optional: a failure is only reported
 */
function install(folder, description, env, { optional = false } = {}) {
  const lock = fingerprint(readFileSync(join(folder, 'package-lock.json')));
  const stampFile = join(folder, 'node_modules', '.dso-stamp');
  const installed = readStamp(stampFile);
  if (installed === lock) return;
  say(`Installing ${description} (${installed ? 'the lock file changed' : 'first run'}) …`);
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { command, prefix } = npm();
  const result = spawnSync(command, [...prefix, 'ci', ...options], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 2],
  });
  const report = optional ? say : fail;
  if (result.error) report(`Could not start npm: ${result.error.message}`);
  else if (result.status !== 0) report(`npm ci failed in ${folder}; see its messages above.`);
  else writeStamp(stampFile, lock);
}

/**
 * The executable of Node 24: this process's own if it is new enough, else a binary that npm
 * fetches as a plain package into tools/runtime, outside of what is published.
 *
 * @param {NodeJS.ProcessEnv} env
 */
function node(env) {
  if (majorOf(process.versions.node) >= wantedNode) return process.execPath;
  const folder = join(root, 'tools', 'runtime');
  install(folder, `Node ${wantedNode} for this checkout`, env);
  const installed = installedNode(pathToFileURL(`${folder}/`));
  if (installed) return fileURLToPath(installed);
  return fail(
    `This is Node ${process.versions.node} on ${process.platform}-${process.arch}, for which npm ` +
      `offers no Node ${wantedNode}: install Node ${wantedNode} or newer yourself and try again.`,
  );
}

/**
 * Runs a program in the foreground and returns its exit code. Ctrl-C reaches the program by itself,
 * since it shares the terminal; here it is only noted, so that the program can finish its work.
 *
 * @param {string} executable
 * @param {string[]} argv
 * @param {{ cwd: string, env: NodeJS.ProcessEnv }} options
 * @returns {Promise<number>}
 */
async function foreground(executable, argv, options) {
  const child = spawn(executable, argv, { ...options, stdio: inheritedFiles(options.env) });
  const wait = () => {};
  const forward = () => child.kill('SIGTERM');
  process.on('SIGINT', wait).on('SIGTERM', forward);
  const [code, signal] = await once(child, 'exit');
  process.off('SIGINT', wait).off('SIGTERM', forward);
  if (signal) process.kill(process.pid, signal);
  return code ?? 1;
}

/** @param {string[]} argv */
async function main([name = '', ...rest]) {
  if (majorOf(process.versions.node) < oldestSystemNode) {
    fail(`Node ${process.versions.node} is too old: Node ${oldestSystemNode} or newer is needed.`);
  }
  const steps = commands[name];
  if (!steps) return fail(`Unknown command "${name}"; known: ${Object.keys(commands).join(', ')}.`);

  const env = { ...process.env };
  const executable = node(env);
  // Windows spells it Path; a second spelling would be ignored or win at random.
  const pathName = Object.keys(env).find((key) => key.toUpperCase() === 'PATH') ?? 'PATH';
  env[pathName] = [dirname(executable), env[pathName]].filter(Boolean).join(delimiter);
  install(root, 'dependencies', env);
  if (checking.includes(name)) {
    install(join(root, 'tools', 'page-types'), 'the type checker of the page', env);
  }
  if (name === 'test') {
    for (const folder of ['test-nodes', 'runtime']) {
      const description = `versions of Node for tests (${folder})`;
      install(join(root, 'tools', folder), description, env, { optional: true });
    }
  }
  // npm starts scripts in the root; paths that a user gives are relative to where the user is.
  const folder = name === 'dso' ? (process.env.INIT_CWD ?? root) : root;

  for (const [index, step] of steps.entries()) {
    const [file, ...argv] = step;
    const last = index === steps.length - 1;
    const options = { cwd: last ? folder : root, env };
    const words = [join(root, file), ...argv, ...(last ? rest : [])];
    const code = await foreground(executable, words, options);
    if (code !== 0) process.exit(code);
  }
}

await main(process.argv.slice(2));
