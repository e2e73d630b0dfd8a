#!/usr/bin/env node
import { fs, inheritedFiles, installedNode, isTooOld, oldestNode } from './runtime.js';

const { existsSync, mkdirSync, readFileSync, writeSync } = fs;

const version = process.versions.node;
const program = new URL('../dist/cli.js', import.meta.url);
const runtime = new URL('../tools/runtime/', import.meta.url);

/** @param {string} message */
function fail(message) {
  console.error(`dso: ${message}`);
  process.exitCode = 1;
}

/** Runs this file with another Node, which gets the input and the signals and gives the exit code. */
async function restartWith(/** @type {URL} */ node) {
  const { spawn } = await import('node:child_process');
  const { fileURLToPath } = await import('node:url');
  const argv = [...process.execArgv, ...process.argv.slice(1)];
  const child = spawn(fileURLToPath(node), argv, { stdio: inheritedFiles(process.env) });
  const forward = (/** @type {NodeJS.Signals} */ signal) => child.kill(signal);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, forward);
  child.on('error', (error) => fail(error.message));
  child.on('exit', (code, signal) => {
    for (const name of signals) process.off(name, forward);
    if (signal) process.kill(process.pid, signal);
    else process.exitCode = code ?? 1;
  });
}

function refuse() {
  const inCheckout = existsSync(runtime)
    ? '; `npm start` installs one for this checkout, which this command then uses'
    : '';
  fail(`Node ${version} is too old; Node ${oldestNode.join('.')} or newer is needed${inCheckout}.`);
}

function ownVersion() {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}

/** Prints the version without loading anything; false where that fails, which the program reports. */
function printVersion() {
  try {
    return writeSync(1, `${ownVersion()}\n`) > 0;
  } catch {
    return false;
  }
}

/** Whether the folder exists now. Node itself would try for ever to make one in /proc. */
function makeFolder(/** @type {string} */ path) {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch {
    return existsSync(path);
  }
}

/**
 * Node keeps compiled code in the user's own folder for caches, where others cannot put any. Where
 * there is none, or it cannot be written, everything is compiled anew. Threads find it by the
 * environment.
 */
function keepCompiledCode() {
  const { HOME, XDG_CACHE_HOME, LOCALAPPDATA, NODE_COMPILE_CACHE } = process.env;
  const inHome = (/** @type {string} */ name) => HOME && `${HOME}/${name}`;
  /** @type {Partial<Record<NodeJS.Platform, string | undefined>>} */
  const places = { win32: LOCALAPPDATA, darwin: inHome('Library/Caches') };
  const caches =
    places[process.platform] ??
    (XDG_CACHE_HOME?.startsWith('/') ? XDG_CACHE_HOME : inHome('.cache'));
  if (!caches || NODE_COMPILE_CACHE) return;
  const folder = `${caches}/dso-${ownVersion()}`;
  if (!makeFolder(caches) || !makeFolder(folder)) return;
  process.env.NODE_COMPILE_CACHE = folder;
  process.getBuiltinModule('module').enableCompileCache(folder);
}

if (isTooOld(version)) {
  const node = installedNode(runtime);
  if (node) await restartWith(node);
  else refuse();
} else if (/^(-V|--version)$/.test(process.argv.slice(2).join(' ')) && printVersion()) {
  // Done.
} else if (existsSync(program)) {
  keepCompiledCode();
  await import(program.href);
} else {
  fail('dist/cli.js is missing; run `npm run build` first.');
}
