/**
 * Adds to package-lock.json the optional packages for other platforms that npm left out, and asks
 * the registry for the hashes that are missing. Without their entries `npm ci` refuses the lock
 * file, here and on those platforms alike; without a hash it installs whatever a registry sends.
 * Run it after changing a dependency:
 *
 *   npm install … && node scripts/complete-lock.mjs
 *
 * A package that the registry does not offer has no hash: then choose a version of the package that
 * needs it whose packages are all there.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { npmJson } from './npm.mjs';

const lockFile = 'package-lock.json';

/** In a package's name the platform is spelled as npm spells it in `os` and `cpu`. */
const systems =
  /(?<=[/-])(aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)(?=-)/;
const processors = /(?<=-)(arm64|arm|ia32|loong64|mips64el|ppc64|riscv64|s390x|wasm32|x64)(?=-|$)/;

/**
 * What npm must know to pass the package over on other platforms.
 *
 * @param {string} name such as @rolldown/binding-linux-x64-musl
 */
function platformOf(name) {
  const system = name.match(systems)?.[1];
  const processor = name.match(processors)?.[1];
  if (!processor || !(system || processor === 'wasm32')) {
    throw new Error(`${lockFile}: ${name} is missing and its name shows no platform`);
  }
  const library = /-musl/.test(name) ? 'musl' : /-gnu/.test(name) ? 'glibc' : undefined;
  return {
    cpu: [processor],
    ...(system === 'linux' && library ? { libc: [library] } : {}),
    ...(system ? { os: [system] } : {}),
  };
}

/**
 * @typedef {Record<string, unknown> & {
 *   version?: string, integrity?: string,
 *   optionalDependencies?: Record<string, string>, dev?: boolean
 * }} LockedPackage
 */

/** @type {{ packages: Record<string, LockedPackage> }} */
const lock = JSON.parse(readFileSync(lockFile, 'utf8'));
const entries = lock.packages;
let added = 0;
for (const [path, { optionalDependencies = {}, dev }] of Object.entries(entries)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (entries[`${path}/node_modules/${name}`] || entries[`node_modules/${name}`]) continue;
    if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
      throw new Error(`${name}@${version}: not one version`);
    entries[`node_modules/${name}`] = {
      version,
      ...platformOf(name),
      ...(dev ? { dev } : {}),
      optional: true,
    };
    added += 1;
  }
}
const unsealed = Object.entries(entries).filter(([path, entry]) => path && !entry.integrity);
/** @type {string[]} */
const unknown = [];
for (const [path, entry] of unsealed) {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const integrity = npmJson(['view', `${name}@${entry.version}`, 'dist.integrity']);
  if (typeof integrity === 'string') entry.integrity = integrity;
  else unknown.push(`${name}@${entry.version}`);
}
lock.packages = Object.fromEntries(
  Object.entries(entries).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
);
const sealed = unsealed.length - unknown.length;
if (added + sealed > 0) writeFileSync(lockFile, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${lockFile}: ${added} packages for other platforms added, ${sealed} hashes added`);
if (unknown.length > 0) {
  console.error(`The registry does not offer ${unknown.join(', ')}: choose other versions.`);
  process.exitCode = 1;
}
