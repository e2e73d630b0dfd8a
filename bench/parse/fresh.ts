/** Reads a file once, as the first thing that this process does, and prints the seconds: FILE THREADS */
import type { readDataset } from '../../src/train/read.ts';

const library: { readonly readDataset: typeof readDataset } = await import(
  new URL('../../dist/index.js', import.meta.url).href
);
const [, , path, threads] = process.argv;
const start = performance.now();
await library.readDataset(path, { threads: Number(threads), callingThread: true });
console.log((performance.now() - start) / 1000);
