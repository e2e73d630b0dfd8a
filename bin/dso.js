#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inheritedFiles, installedNode, isTooOld, oldestNode } from './runtime.js';

const version = process.versions.node;
const program = new URL('../dist/cli.js', import.meta.url);
const runtime = new URL('../tools/runtime/', import.meta.url);

/** @param {string} message */
function fail(message) {
  console.error(`dso: ${message}`);
  process.exitCode = 1;
}

/** Runs this file with another Node, which gets the input and the signals and gives the exit code. */
function restartWith(/** @type {URL} */ node) {
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

if (isTooOld(version)) {
  const node = installedNode(runtime);
  if (node) restartWith(node);
  else refuse();
} else if (existsSync(program)) {
  await import(program.href);
} else {
  fail('dist/cli.js is missing; run `npm run build` first.');
}
