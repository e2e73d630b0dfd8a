import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { writeGenerated } from '../src/data/generate.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Folder for files of the benchmarks; it may be deleted. */
export const cacheFolder = join(root, '.cache', 'bench');
mkdirSync(cacheFolder, { recursive: true });

/** Real data, if present, is next to the repository. */
const dataFolder = process.env.DSO_DATA ?? join(root, '..', 'shared', 'data');

export interface Sample {
  readonly title: string;
  readonly path: string;
}

/** Text shaped like real-sim, written once. */
async function generated(title: string, scale: number): Promise<Sample> {
  const path = join(cacheFolder, `real-sim-${scale}.svm`);
  if (!existsSync(path)) {
    process.stderr.write(`  writing ${path} …\n`);
    const testPath = `${path}.test`;
    await writeGenerated({ like: 'real-sim', scale, seed: 1 }, { trainPath: path, testPath });
    rmSync(testPath);
  }
  return { title, path };
}

/** About 100 MB of text: 2.25 times real-sim's rows. */
export function largeText(): Promise<Sample> {
  return generated('100 MB text', 2.25);
}

/** About 300 MB of text, 20 million non-zeros. */
export function text300(): Promise<Sample> {
  return generated('300 MB text', 6.75);
}

export function realSimLike(): Promise<Sample> {
  return generated('real-sim-like', 1);
}

function packedFile(name: string): string {
  return join(dataFolder, `${name}.svm.gz`);
}

/** Real data, uncompressed into the cache; undefined if it is missing. */
export function realData(name: string): Sample | undefined {
  const packed = packedFile(name);
  if (!existsSync(packed)) return undefined;
  const path = join(cacheFolder, `${name}.svm`);
  if (!existsSync(path)) {
    writeFileSync(`${path}.new`, gunzipSync(readFileSync(packed)));
    renameSync(`${path}.new`, path);
  }
  return { title: name, path };
}

/** Why real data is not there. */
export function noData(name: string): string {
  return `${name}: no ${packedFile(name)} (set DSO_DATA)`;
}

/** Those of `all` that are wanted; no names: all. */
export function wantedOf(all: readonly string[], names: readonly string[]): string[] {
  return all.filter((name) => names.length === 0 || names.includes(name));
}

export const debdesc = () => realData('debdesc');
export const noDebdesc = noData('debdesc');

/** Text that is generated for timing; other names are those of real data. */
const timedFiles: Readonly<Record<string, () => Promise<Sample>>> = {
  'real-sim-100': largeText,
  'real-sim-300': text300,
};

/** Those of `all` that are wanted and there, by name; and why others are not. */
export async function timedSamples(all: readonly string[], wanted: readonly string[]) {
  const samples: [name: string, sample: Sample][] = [];
  const skipped: string[] = [];
  for (const name of wantedOf(all, wanted)) {
    const sample = Object.hasOwn(timedFiles, name) ? await timedFiles[name]() : realData(name);
    if (sample) samples.push([name, sample]);
    else skipped.push(noData(name));
  }
  return { samples, skipped };
}

export function megabytes({ path }: Sample): number {
  return statSync(path).size / 1e6;
}
