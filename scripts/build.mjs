/**
 * Builds what the published package holds: wasm/, the bundles in dist/ with the library's type
 * declarations next to them, the dashboard's page in dist/ui/, and the notices of bundled packages. Does nothing when no source changed since the last time.
 */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildWasm, callsFile, modules } from './build-wasm.mjs';
import { fingerprintOf, readStamp, writeStamp } from './fingerprint.mjs';
import { writeNotices } from './notices.mjs';
import { runTool } from './tools.mjs';

const stampFile = '.cache/build-stamp';
const inputs = [
  'src',
  'assembly',
  'scripts',
  'types',
  'ui',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsdown.config.ts',
];
const outputs = [
  'dist/index.js',
  'dist/index.d.ts',
  'dist/cli.js',
  'dist/worker.js',
  'dist/comm-thread.js',
  'dist/ui/index.html',
  'dist/NOTICES.txt',
  callsFile,
  ...modules.map((name) => `wasm/${name}.wasm`),
];

/** @param {number} start as given by performance.now */
function secondsSince(start) {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}

/** @param {string} title @param {() => Promise<string>} work returns what was done */
async function step(title, work) {
  const start = performance.now();
  const result = await work();
  console.error(`  ${title}: ${result} (${secondsSince(start)})`);
}

/** Bundles and declarations are made aside, so that a failed build leaves the last good one. */
async function buildDist() {
  const aside = `.cache/dist-${process.pid}`;
  const listFile = `${aside}-packages`;
  try {
    await writeNotices(listFile, `${aside}/NOTICES.txt`, async () => {
      const { code, output } = await runTool('tsdown', ['--out-dir', aside, '--logLevel', 'warn']);
      if (code !== 0) throw new Error(`tsdown:\n${output.trim()}`);
      await buildPage(`${aside}/ui`);
    });
    rmSync('dist', { recursive: true, force: true });
    renameSync(aside, 'dist');
  } finally {
    rmSync(aside, { recursive: true, force: true });
    rmSync(listFile, { force: true });
  }
}

/** @param {string} folder */
async function buildPage(folder) {
  const options = ['--config', 'ui/vite.config.ts', '--outDir', resolve(folder)];
  const { code, output } = await runTool('vite', ['build', ...options, '--logLevel', 'warn']);
  if (code !== 0) throw new Error(`vite:\n${output.trim()}`);
}

/** Brings wasm/ and dist/ up to date. */
export async function build() {
  const sources = fingerprintOf(inputs);
  if (readStamp(stampFile) === sources && outputs.every((file) => existsSync(file))) return;
  console.error('Building …');
  await step('WebAssembly kernels', async () => {
    const compiled = await buildWasm();
    return compiled === 0 ? 'unchanged' : `${compiled} of ${modules.length} compiled`;
  });
  await step('library, command line tool, dashboard and types', async () => {
    await buildDist();
    return 'bundled';
  });
  writeStamp(stampFile, sources);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    await build();
  } catch (error) {
    console.error(`Build failed: ${String(error)}`);
    process.exitCode = 1;
  }
}
