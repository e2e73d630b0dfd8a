/** A thread that compiles one module of WebAssembly after another, for build-wasm.mjs. */
import { parentPort } from 'node:worker_threads';
import { main } from 'assemblyscript/asc';
import { fingerprint } from './fingerprint.mjs';
import { readSource, write } from './sources.mjs';
import { WideAddresses } from './wide-addresses.mjs';

/** @typedef {import('./build-wasm.mjs').Module} Module */

/**
 * Where the compiler sees the losses. It orders functions by the path of their file, so a fixed name
 * here keeps the bytes of the modules the same wherever the losses are.
 */
const lossFolderSeen = 'src/losses/losses/';

/**
 * What one output was made from: the hash of every source file the compiler read.
 *
 * @typedef {{ sources: Record<string, string>, output: string }} Compiled
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

/**
 * @param {Module} module
 * @param {string} outFile
 * @returns {Promise<Compiled>}
 */
async function compile({ name, file, loss = '', flags, wide }, outFile) {
  /** @type {Record<string, string>} */
  const sources = {};
  /** @type {Uint8Array | undefined} */
  let binary;
  const { error, stdout, stderr } = await main([file, '--outFile', outFile, ...flags.split(' ')], {
    readFile(path) {
      const source = resolveSource(path.replaceAll('\\', '/'), loss);
      if ('text' in source) return source.text;
      const text = readSource(source.file);
      if (text !== undefined) sources[source.file] = fingerprint(text);
      return text ?? null;
    },
    writeFile(_name, contents) {
      binary = contents;
    },
    listFiles: () => null,
    transforms: wide ? [WideAddresses] : [],
  });
  if (error || !binary) {
    const messages = `${stdout}${stderr}`.trim();
    throw new Error(`wasm/${name}.wasm from ${file}:\n${messages || error?.message}`);
  }
  write(outFile, binary);
  return { sources, output: fingerprint(Buffer.from(binary)) };
}

parentPort?.on('message', (/** @type {{ module: Module, outFile: string }} */ wanted) => {
  // A failure ends the thread, of which build-wasm.mjs hears.
  void compile(wanted.module, wanted.outFile).then((made) => parentPort?.postMessage(made, []));
});
