import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DsoError } from '../errors.ts';

/** Where the build puts the page: beside the bundles. */
const usualFolder = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../dist/ui/' : './ui/', import.meta.url),
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

/** The files of the page. Only what is there at the start can be asked for, by its exact name. */
export class PageFiles {
  readonly #paths: ReadonlyMap<string, string>;

  constructor(folder: string = usualFolder) {
    this.#paths = listing(folder);
    if (this.#paths.has(first)) return;
    throw new DsoError(
      'failure',
      `${folder}: the page of the dashboard is not there (no ${first}); ` +
        'in a checkout "npm run build" makes it, a package without it is to be installed again',
    );
  }

  /** The file of a path below the token, '' being the page itself; undefined if there is none. */
  async read(path: string): Promise<PageFile | undefined> {
    const name = path === '' ? first : path;
    const file = this.#paths.get(name);
    if (file === undefined) return undefined;
    const bytes = await readFile(file).catch(() => undefined);
    if (bytes === undefined) return undefined;
    const type = types[extname(name)] ?? 'application/octet-stream';
    return { type, bytes: Uint8Array.from(bytes), ...(isHashed(name) && { caching: forever }) };
  }
}

function listing(folder: string): Map<string, string> {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    return new Map(
      files.map(({ parentPath, name }) => {
        const path = join(parentPath, name);
        return [relative(folder, path).split(sep).join('/'), path];
      }),
    );
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw cause;
  }
}

/** assets/index-BdQq_1aZ.js: another content has another name. */
function isHashed(name: string): boolean {
  return /^assets\/.*-[\w-]{8}\.\w+$/.test(name);
}
