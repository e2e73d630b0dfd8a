/**
 * A checkout brings a Node of its own (tools/runtime), for systems whose Node is too old to run
 * dso. An installed package does not. This file runs on old versions of Node.
 */

/**
 * Node's files, asked for rather than imported where Node can: an import reads every export,
 * and some of these load what nobody needs here.
 */
export const fs = process.getBuiltinModule?.('fs') ?? (await import('node:fs'));

/** The oldest Node that runs dso, as package.json states it under `engines`. */
export const oldestNode = [22, 12];

/** @param {string} version such as 20.20.2 */
export function isTooOld(version) {
  const [major, minor] = version.split('.').map(Number);
  return major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]);
}

/** @param {URL} file */
function readJson(file) {
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}

/**
 * The executable that npm installed for this platform into a folder with one package per platform.
 *
 * @param {URL} folder such as tools/runtime/
 * @param {string} [prefix] of the package's name, in a folder with several versions
 * @returns {URL | undefined} undefined where nothing is installed
 */
export function installedNode(folder, prefix = '') {
  const manifest = new URL('package.json', folder);
  if (!fs.existsSync(manifest)) return undefined;
  for (const name of Object.keys(readJson(manifest).optionalDependencies)) {
    const file = new URL(`node_modules/${name}/package.json`, folder);
    if (name.startsWith(prefix) && fs.existsSync(file))
      return new URL(readJson(file).bin.node, file);
  }
  return undefined;
}

/** Whether a number from outside is that of a file that is open here. */
function isOpen(/** @type {number} */ fd) {
  try {
    fs.fstatSync(fd);
    return true;
  } catch {
    return false;
  }
}

/**
 * What a process that takes this one's place inherits: standard input and outputs, and the socket to
 * MPICH's launcher, whose number is in PMI_FD. Node closes all others.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {(number | 'ignore')[]}
 */
export function inheritedFiles({ PMI_FD: launcher = '' }) {
  const fd = /^\d{1,6}$/.test(launcher) ? Number(launcher) : 0;
  if (fd < 3 || !isOpen(fd)) return [0, 1, 2];
  return [0, 1, 2, ...Array(fd - 3).fill('ignore'), fd];
}
