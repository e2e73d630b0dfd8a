/**
 * Compiles the reader of text to WebAssembly, and the hot loops of training once per loss: assembly/kernels.ts imports the loss from
 * `./loss`, a file that exists only in the compiler's eyes and forwards to src/problem/losses/<loss>.ts.
 * So no call and no branch on the loss remains in a loop, and the mathematics is written once.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { main } from 'assemblyscript/asc';
import { lossNames } from '../src/problem/losses/index.ts';
import { exportNames, signatures } from '../src/solvers/kernels/signatures.ts';
import { fingerprint, fingerprintOf } from './fingerprint.mjs';

const entry = 'assembly/kernels.ts';
/** The reader of text, a module by itself that knows no loss. */
const textModule = 'text';
/**
 * Where the compiler sees the losses. It orders functions by the path of their file, so a fixed name
 * here keeps the bytes of the modules the same wherever the losses are.
 */
const lossFolderSeen = 'src/losses/losses/';
const recordFile = '.cache/wasm.json';
/** Names of all modules. */
export const modules = [...lossNames, textModule];
/** The calls of the kernels, a module that src/solvers/kernels/wasm.ts imports. */
export const callsFile = 'wasm/calls.js';

/** Shared memory, since workers pass blocks of weights without a copy; 65,536 pages are 4 GiB. */
const flags =
  '-O3 --runtime stub --noAssert --enable threads --enable simd ' +
  '--importMemory --sharedMemory --initialMemory 1 --maximumMemory 65536';
/** Every thread reads text in a memory of its own. */
const textFlags = '-O3 --runtime stub --noAssert --enable simd --importMemory --initialMemory 1';

/**
 * What one output was made from: the hash of every source file the compiler read.
 *
 * @typedef {{ tool: string, sources: Record<string, string>, output: string }} BuildRecord
 */

/**
 * The file behind a path the compiler requests, or the text of a file that is made up.
 *
 * @param {string} name
 * @param {string} lossName
 * @returns {{ file: string } | { text: string }}
 */
function resolveSource(name, lossName) {
  if (name === 'assembly/loss.ts') {
    return { text: `export * from '../${lossFolderSeen}${lossName}.ts';` };
  }
  // Imports in src carry the extension, to which the compiler adds its own.
  const file = name.replace(/\.ts\.ts$/, '.ts').replace(lossFolderSeen, 'src/problem/losses/');
  // Reading a double's bits needs typed arrays in JavaScript and is one instruction here.
  return { file: file === 'src/math/bits.ts' ? 'assembly/bits.ts' : file };
}

/** @param {string} file */
function readSource(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** @param {BuildRecord | undefined} record @param {string} tool @param {string} outFile */
function upToDate(record, tool, outFile) {
  if (record?.tool !== tool || !existsSync(outFile)) return false;
  if (fingerprint(readFileSync(outFile)) !== record.output) return false;
  return Object.entries(record.sources).every(([file, hash]) => {
    const text = readSource(file);
    return text !== undefined && fingerprint(text) === hash;
  });
}

/**
 * @param {string} name of a loss, or of the module for text
 * @param {string} tool
 * @param {string} outFile
 * @returns {Promise<BuildRecord>}
 */
async function compile(name, tool, outFile) {
  const isText = name === textModule;
  const file = isText ? 'assembly/text.ts' : entry;
  const options = (isText ? textFlags : flags).split(' ');
  /** @type {Record<string, string>} */
  const sources = {};
  /** @type {Uint8Array | undefined} */
  let binary;
  const { error, stdout, stderr } = await main([file, '--outFile', outFile, ...options], {
    readFile(path) {
      const source = resolveSource(path.replaceAll('\\', '/'), name);
      if ('text' in source) return source.text;
      const text = readSource(source.file);
      if (text !== undefined) sources[source.file] = fingerprint(text);
      return text ?? null;
    },
    writeFile(_name, contents) {
      binary = contents;
    },
    listFiles: () => null,
  });
  if (error || !binary) {
    const messages = `${stdout}${stderr}`.trim();
    const title = isText ? file : `${file} with src/problem/losses/${name}.ts`;
    throw new Error(`${title}:\n${messages || error?.message}`);
  }
  write(outFile, binary);
  return { tool, sources, output: fingerprint(Buffer.from(binary)) };
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
 * Written aside first, so that a program running meanwhile never sees half a file.
 *
 * @param {string} file
 * @param {string | Uint8Array} content
 */
function write(file, content) {
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
}

/**
 * Writes the calls and compiles what changed since last time.
 *
 * @returns {Promise<number>} how many modules were compiled
 */
export async function buildWasm() {
  const tool = fingerprintOf([
    'scripts/build-wasm.mjs',
    'node_modules/assemblyscript/package.json',
  ]);
  /** @type {Record<string, BuildRecord>} */
  const records = existsSync(recordFile) ? JSON.parse(readFileSync(recordFile, 'utf8')) : {};
  mkdirSync('wasm', { recursive: true });
  mkdirSync('.cache', { recursive: true });
  writeCalls();
  let compiled = 0;
  for (const name of modules) {
    const outFile = `wasm/${name}.wasm`;
    if (upToDate(records[name], tool, outFile)) continue;
    records[name] = await compile(name, tool, outFile);
    compiled += 1;
    writeFileSync(recordFile, JSON.stringify(records, null, 2));
  }
  return compiled;
}
