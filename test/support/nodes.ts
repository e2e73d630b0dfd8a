import { execFileSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installedNode, isTooOld } from '../../bin/runtime.js';

/** Another Node than the one that runs the tests. */
export interface OtherNode {
  readonly path: string;
  /** Such as 22.12.0. */
  readonly version: string;
}

const folder = new URL('../../tools/test-nodes/', import.meta.url);

function nodeAt(path: string): OtherNode | undefined {
  try {
    const version = execFileSync(path, ['--version'], { encoding: 'utf8', stdio: 'pipe' });
    return { path, version: version.trim().slice(1) };
  } catch {
    return undefined;
  }
}

function installed(prefix: string): OtherNode | undefined {
  const file = installedNode(folder, prefix);
  return file && nodeAt(fileURLToPath(file));
}

/** The oldest Node that `engines` promises, or the closest newer one that npm has for the platform. */
export function oldestSupportedNode(): OtherNode | undefined {
  return installed('node22-');
}

/** A Node that cannot run dso: the one of tools/test-nodes, or the system's. */
export function tooOldNode(): OtherNode | undefined {
  const onPath = (process.env.PATH ?? '').split(delimiter).map((path) => join(path, 'node'));
  for (const node of [installed('node20-'), ...onPath.map((path) => nodeAt(path))]) {
    if (node && isTooOld(node.version)) return node;
  }
  return undefined;
}
