/**
 * Compiles the reader of text to WebAssembly, and the hot loops of training once per loss:
 * assembly/kernels.ts imports the loss from `./loss`, a file that exists only in the compiler's eyes
 * and forwards to src/problem/losses/<loss>.ts. So no call and no branch on the loss remains in a
 * loop, and the mathematics is written once. Each loss has two modules: for memories of up to 4 GiB,
 * and with addresses of 64 bits beyond.
 */
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { lossNames } from '../src/problem/losses/index.ts';
import { exportNames, signatures } from '../src/solvers/kernels/signatures.ts';
import { fingerprint, fingerprintOf } from './fingerprint.mjs';
import { readSource, write } from './sources.mjs';

const kernelFile = 'assembly/kernels.ts';
const recordFile = '.cache/wasm.json';
/** The calls of the kernels, a module that src/solvers/kernels/wasm.ts imports. */
export const callsFile = 'wasm/calls.js';

/** Shared memory, since workers pass blocks of weights without a copy; 65,536 pages are 4 GiB. */
const flags =
  '-O3 --runtime stub --noAssert --enable threads --enable simd ' +
  '--importMemory --sharedMemory --initialMemory 1 --maximumMemory 65536';
/** Every thread reads text in a memory of its own. */
const textFlags = '-O3 --runtime stub --noAssert --enable simd --importMemory --initialMemory 1';

/**
 * A module, by its name in wasm/. One that imports a loss says which; a wide one has addresses of 64
 * bits.
 *
 * @typedef {{ name: string, file: string, loss?: string, flags: string, wide: boolean }} Module
 * @type {Module[]}
 */
const modules = [
  { name: 'text', file: 'assembly/text.ts', flags: textFlags, wide: false },
  ...lossNames.flatMap((loss) => [
    { name: loss, file: kernelFile, loss, flags, wide: false },
    { name: `${loss}64`, file: kernelFile, loss, flags, wide: true },
  ]),
];
/** @param {string} name */
const outFileOf = (name) => `wasm/${name}.wasm`;
export const moduleFiles = modules.map(({ name }) => outFileOf(name));

/** @typedef {import('./compile-wasm.mjs').Compiled & { tool: string }} BuildRecord */

/** @param {BuildRecord | undefined} record @param {string} tool @param {string} outFile */
function upToDate(record, tool, outFile) {
  if (record?.tool !== tool || !existsSync(outFile)) return false;
  if (fingerprint(readFileSync(outFile)) !== record.output) return false;
  return Object.entries(record.sources).every(([file, hash]) => {
    const text = readSource(file);
    return text !== undefined && fingerprint(text) === hash;
  });
}

/** The expression behind one value of a signature. @param {string} value */
function expressionOf(value) {
  if (value === '*') return 'parameter';
  if (value === '0') return value;
  const name = value.replace(/^[#?@]/, '');
  if (value.startsWith('#')) return name;
  if (value.startsWith('?')) return `${name} ? 1 : 0`;
  return value.startsWith('@') ? `${name}.length` : `${name}.byteOffset`;
}

/**
 * The text of one kernel: a call that passes addresses and numbers, to another function where
 * weights are bounded.
 *
 * @param {string} name
 * @param {import('../src/solvers/kernels/signatures.ts').Signature} signature
 */
function kernelText(name, [parameters, values, bounded]) {
  /** @param {string} target @param {string} list */
  const call = (target, list) =>
    `return wasm.${target}(${list.split(' ').map(expressionOf).join(', ')});`;
  const lines = [call(exportNames.get(name) ?? name, values)];
  if (bounded) {
    const [target, bounds] = bounded.split(' ');
    const test = bounds.replace('#', '');
    lines.unshift(`if (${test}) ${call(target, `${values} ${bounds}.low ${bounds}.high`)}`);
  }
  return `  ${name}(${parameters.replaceAll(' ', ', ')}) {\n    ${lines.join('\n    ')}\n  },\n`;
}

/** Writes the calls of all kernels as a module. */
function writeCalls() {
  const kernels = Object.entries(signatures).map(([name, signature]) =>
    kernelText(name, signature),
  );
  const text = `// @ts-nocheck: made by scripts/build-wasm.mjs from src/solvers/kernels/signatures.ts.
/** @returns {Omit<import('../src/solvers/kernels/kernels.ts').Kernels, 'name'>} */
export const kernelCalls = (wasm, parameter) => ({
${kernels.join('')}});
`;
  if (readSource(callsFile) !== text) write(callsFile, text);
}

/**
 * Writes the calls and compiles what changed since last time.
 *
 * @returns {Promise<string>} how many modules were compiled
 */
export async function buildWasm() {
  const tool = fingerprintOf([
    'scripts/build-wasm.mjs',
    'scripts/compile-wasm.mjs',
    'scripts/wide-addresses.mjs',
    'node_modules/assemblyscript/package.json',
  ]);
  /** @type {Record<string, BuildRecord>} */
  const records = existsSync(recordFile) ? JSON.parse(readFileSync(recordFile, 'utf8')) : {};
  mkdirSync('wasm', { recursive: true });
  mkdirSync('.cache', { recursive: true });
  writeCalls();
  const stale = modules.filter(({ name }) => !upToDate(records[name], tool, outFileOf(name)));
  const title = stale.length === 0 ? 'unchanged' : `${stale.length} of ${modules.length} compiled`;
  const compileSome = async () => {
    const thread = new Worker(new URL('./compile-wasm.mjs', import.meta.url));
    try {
      for (let module = stale.pop(); module; module = stale.pop()) {
        thread.postMessage({ module, outFile: outFileOf(module.name) }, []);
        const [record] = await once(thread, 'message');
        records[module.name] = { tool, ...record };
        writeFileSync(recordFile, JSON.stringify(records, null, 2));
      }
    } finally {
      await thread.terminate();
    }
  };
  const threads = Math.min(availableParallelism(), stale.length);
  await Promise.all(Array.from({ length: threads }, compileSome));
  return title;
}
