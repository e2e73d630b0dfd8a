import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DsoError } from '../../errors.ts';

/** Where the build puts the page: beside the bundles. */
const defaultFolder = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../../dist/ui/' : './ui/', import.meta.url),
);

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

const first = 'index.html';
const forever = 'private, max-age=31536000, immutable';

export interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** How long it may be kept, where it may be. */
  readonly caching?: string;
}

/**
 * The files of the page, read at the start: they are small, and replacing the package must not leave
 * a running server with half a page. Each is requested by its exact name.
 */
export class PageFiles {
  readonly #files: ReadonlyMap<string, PageFile>;

  constructor(folder: string = defaultFolder) {
    this.#files = new Map(pathsIn(folder).map((path) => fileOf(folder, path)));
    if (this.#files.has(first)) return;
    throw new DsoError(
      'failure',
      `${folder}: the page of the dashboard is missing (no ${first}); ` +
        'run "npm run build" in a checkout, or install the package again',
    );
  }

  /** The file of a path below the token, '' being the page itself; undefined if there is none. */
  read(path: string): PageFile | undefined {
    return this.#files.get(path === '' ? first : path);
  }
}

function fileOf(folder: string, path: string): [name: string, file: PageFile] {
  const name = relative(folder, path).split(sep).join('/');
  const type = types[extname(name)] ?? 'application/octet-stream';
  const bytes = Uint8Array.from(readFileSync(path));
  return [name, { type, bytes, ...(isHashed(name) && { caching: forever }) }];
}

function pathsIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw cause;
  }
}

/** assets/index-BdQq_1aZ.js: another content has another name. */
function isHashed(name: string): boolean {
  return /^assets\/.*-[\w-]{8}\.\w+$/.test(name);
}
