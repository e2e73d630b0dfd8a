import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isTooOld, oldestNode } from '../../bin/runtime.js';

const root = new URL('../../', import.meta.url);

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly optional?: boolean;
  readonly cpu?: string | readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Lock {
  readonly version: string;
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

function readText(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

function readManifest(path: string): Manifest {
  return JSON.parse(readText(path)) as Manifest;
}

function readLock(path: string): Lock {
  return JSON.parse(readText(path)) as Lock;
}

/** Names of the locked packages for which the condition holds; the root package is not one. */
function lockedPackages(lock: Lock, condition: (entry: LockedPackage) => boolean): string[] {
  return Object.entries(lock.packages)
    .filter(([path, entry]) => path !== '' && condition(entry))
    .map(([path]) => path);
}

describe('package.json', () => {
  const manifest = readManifest('package.json');

  test('runs nothing when it is installed', () => {
    const installScripts = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'];
    expect(Object.keys(manifest.scripts).filter((name) => installScripts.includes(name))).toEqual(
      [],
    );
  });

  test('pins exact versions', () => {
    const ranges = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(ranges.filter(([, range]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(range))).toEqual([]);
  });

  test('does not make users download a Node: only a checkout has one', () => {
    const published = { ...manifest.dependencies, ...manifest.optionalDependencies };
    const runtimes = ['runtime', 'test-nodes'].flatMap((folder) =>
      Object.keys(readManifest(`tools/${folder}/package.json`).optionalDependencies!),
    );
    expect(runtimes.length).toBeGreaterThan(0);
    expect(Object.keys(published).filter((name) => runtimes.includes(name))).toEqual([]);
  });

  test('needs the Node that bin/ and the library ask for', () => {
    expect(manifest.engines.node).toBe(`>=${oldestNode.join('.')}`);
    expect(readText('src/node-version.ts')).toContain(`= [${oldestNode.join(', ')}] as const;`);
    expect(['20.20.2', '22.11.0'].filter((version) => !isTooOld(version))).toEqual([]);
    expect(['22.12.0', '23.0.0', '24.21.0'].filter(isTooOld)).toEqual([]);
  });

  test('has the Svelte whose types are checked', () => {
    const { devDependencies } = readManifest('tools/page-types/package.json');
    expect(devDependencies.svelte).toBe(manifest.devDependencies.svelte);
  });

  test('has a version that the change log describes first', () => {
    const versions = [...readText('CHANGELOG.md').matchAll(/^## \[?(\d+\.\d+\.\d+)\]?/gm)];
    expect(versions[0]?.[1]).toBe(manifest.version);
  });
});

describe.each([
  ['package-lock.json', 'package.json'],
  ['tools/runtime/package-lock.json', 'tools/runtime/package.json'],
  ['tools/test-nodes/package-lock.json', 'tools/test-nodes/package.json'],
  ['tools/page-types/package-lock.json', 'tools/page-types/package.json'],
])('%s', (lockPath, manifestPath) => {
  const lock = readLock(lockPath);

  test('belongs to its package.json', () => {
    expect(lock.version).toBe(readManifest(manifestPath).version);
  });

  test('holds no package that would run a script on installation', () => {
    expect(lockedPackages(lock, (entry) => entry.hasInstallScript === true)).toEqual([]);
  });

  test('names no download host, so that any registry serves', () => {
    expect(lockedPackages(lock, (entry) => entry.resolved !== undefined)).toEqual([]);
  });

  test('seals every package but those for platforms that the registry did not offer', () => {
    const unsealed = (entry: LockedPackage) => entry.integrity === undefined;
    const forOtherCpu = (entry: LockedPackage) =>
      entry.optional === true && entry.cpu !== undefined;
    expect(lockedPackages(lock, (entry) => unsealed(entry) && !forOtherCpu(entry))).toEqual([]);
  });

  test('lists the packages of all platforms (else run scripts/complete-lock.mjs)', () => {
    const missing = Object.entries(lock.packages).flatMap(([path, entry]) =>
      Object.keys(entry.optionalDependencies ?? {}).filter(
        (name) =>
          !(`node_modules/${name}` in lock.packages) &&
          !(`${path}/node_modules/${name}` in lock.packages),
      ),
    );
    expect(missing).toEqual([]);
  });
});
