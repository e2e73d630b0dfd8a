import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { isTooOld, oldestNode } from '../../bin/runtime.js';
import { isAllowed } from '../../scripts/licences.mjs';
import { npmJson } from '../../scripts/npm.mjs';

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
    const versions = [
      ...readText('CHANGELOG.md').matchAll(/^## (?:\[|Unreleased \()(\d+\.\d+\.\d+)/gm),
    ];
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

  test('has a hash of every package (else run scripts/complete-lock.mjs)', () => {
    const sealed = ({ integrity = '' }: LockedPackage) =>
      /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity);
    expect(lockedPackages(lock, (entry) => !sealed(entry))).toEqual([]);
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

test('ships the licences of the packages that are bundled', () => {
  const packed = npmJson(['pack', '--dry-run'], fileURLToPath(root)) as {
    readonly files: readonly { readonly path: string }[];
  }[];
  const files = packed[0].files.map(({ path }) => path);
  expect(files).toEqual(expect.arrayContaining(['LICENSE', 'dist/NOTICES.txt', 'dist/cli.js']));
  const notices = readText('dist/NOTICES.txt');
  for (const name of ['svelte', 'uplot']) {
    const { version } = readManifest(`node_modules/${name}/package.json`);
    expect(notices).toContain(`\n${name} ${version} (MIT)\n`);
  }
  expect(notices).toContain('Copyright (c) 2022 Leon Sorokin');
});

test('licences are allowed by name', () => {
  expect(['MIT', 'MIT OR GPL-3.0', '(MIT AND OFL-1.1)'].filter(isAllowed)).toHaveLength(3);
  expect(
    ['GPL-3.0', 'MIT AND GPL-3.0', 'none', '(MIT OR ISC) AND GPL-3.0'].filter(isAllowed),
  ).toEqual([]);
});
