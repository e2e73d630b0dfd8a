import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';

/**
 * Who may import whom. A room is a folder of src, or a file directly in src, and the table goes
 * from the bottom to the top: a room names only rooms above its own line, so no circle can form.
 *
 * `values` are rooms, or single files of them, whose code it may use. `types` are further ones of
 * which it may only know the types (`import type`); those leave no trace at run time and may point
 * up.
 */
interface Room {
  readonly values: readonly string[];
  readonly types?: readonly string[];
}

/** What a training run is made of. */
const training = ['solvers', 'model', 'engine', 'data', 'problem', 'math'];

const rooms: Readonly<Record<string, Room>> = {
  // Open to every room, so not repeated below: errors, and reading and writing files.
  errors: { values: [] },
  files: { values: [] },

  // Scalars, sums, random numbers, numbers as text: the same bits everywhere.
  math: { values: [] },

  // What is minimised: losses of one score, penalties of one weight.
  problem: { values: ['math'] },

  // Rows from any source, as columns with a meaning.
  data: { values: ['math'] },

  // p workers on threads and processes, their memory, blocks and saved state: knows no learning.
  engine: { values: ['math'], types: ['data'] },

  // Methods that close the gap, the kernels they run on and the objective that measures them.
  solvers: {
    values: ['engine', 'problem', 'data', 'math', '../wasm/calls.js'],
    types: ['train/events', 'train/options/options'],
  },

  // The trained model: file, scores, metrics, other programs' formats.
  model: { values: ['data', 'problem', 'math'] },

  // From data and options to models: one, many, against each other, from a stream.
  train: { values: [...training, '../package.json'] },

  // What is shown and recorded of runs: text, tables, charts, records.
  reporting: {
    values: ['train/compare/comparison', 'model', 'problem', 'math'],
    types: ['train', 'data'],
  },

  // Roots: what a program imports, and what a thread starts with.
  'node-version': { values: [] },
  index: {
    values: ['node-version', 'reporting', 'train', ...training],
  },
  predict: { values: ['model/predict', 'data/fields'], types: ['model'] },
  worker: { values: ['train', ...training] },
  'comm-thread': { values: ['engine'] },

  // Programs: command line, scoring server, dashboard server.
  apps: { values: ['index', 'reporting', 'train', ...training, '../package.json'] },
};

/** What the page in ui/ shares with the program: files without Node, also in what they import. */
const sharedWithPage = [
  'apps/dashboard/api',
  'math/format-number',
  'reporting/charts/axis',
  'reporting/charts/quantities',
  'reporting/charts/series-style',
  'reporting/format',
  'reporting/gap-trend',
  'reporting/records/labels',
  'reporting/records/record',
  'reporting/records/series',
];

/** Training must give the same bits on every machine, which the platform's functions do not. */
const reproducibleFolders = ['math', 'problem', 'solvers', 'train/stream'];
const platformFunctions = /\bMath\.(?:log|exp|pow|tanh|cosh|sinh|expm1|log1p)\b/;

interface SourceFile {
  /** Path below src, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

interface Import {
  readonly from: string;
  /** A path below src, or the name of a package as written. */
  readonly to: string;
  readonly local: boolean;
  readonly typeOnly: boolean;
}

/** Comments become spaces: they may speak of imports and functions without using them. */
function withoutComments(text: string): string {
  const blank = (match: string) => match.replace(/[^\n]/g, ' ');
  return text.replace(/\/\*[\s\S]*?\*\//g, blank).replace(/(?<![:'"`])\/\/.*$/gm, blank);
}

/** Static imports and re-exports begin a line; dynamic imports and resolved files stand anywhere. */
function importsOf({ path, text }: SourceFile): Import[] {
  const code = withoutComments(text);
  const statements =
    /^(?:import|export)\s+(?<type>type\s+(?!from\b))?(?:[\w\s{},*$]*?\bfrom\s+)?(['"])(?<to>[^'"]+)\2/gm;
  const calls = /\b(?:import|require\.resolve)\(\s*(['"`])(?<to>[^'"`]+)\1/g;
  return [...code.matchAll(statements), ...code.matchAll(calls)].map(({ groups }) => {
    const written = groups!.to;
    const local = written.startsWith('.');
    const to = local ? posix.join(posix.dirname(path), written) : written;
    return { from: path, to, local, typeOnly: groups!.type !== undefined };
  });
}

function roomOf(path: string): string {
  return path.split('/')[0].replace(/\.ts$/, '');
}

function allowedText(name: string, { values, types = [] }: Room): string {
  const list = (names: readonly string[]) => (names.length > 0 ? names.join(', ') : 'nothing');
  return `${name} may use ${list(['errors', 'files', ...values])}; only as types: ${list(types)}`;
}

/** What is wrong with an import, or undefined. */
function violation({ from, to, local, typeOnly }: Import): string | undefined {
  if (!local) return undefined;
  const description = `src/${from} imports ${typeOnly ? 'types of ' : ''}src/${to}`;
  const [own, other] = [roomOf(from), roomOf(to)];
  const room = rooms[own];
  if (!room) return `${description}: no room "${own}" in the table of this test`;
  const names = [other, to.replace(/\.ts$/, ''), posix.dirname(to)];
  const allowed = [own, 'errors', 'files', ...room.values, ...(typeOnly ? (room.types ?? []) : [])];
  if (names.some((name) => allowed.includes(name))) return undefined;
  return `${description}: ${allowedText(own, room)}`;
}

/** The first circle of value imports among files, as a path that ends where it began. */
function circle(imports: readonly Import[]): string[] | undefined {
  const targets = new Map<string, string[]>();
  for (const { from, to, local, typeOnly } of imports) {
    if (local && !typeOnly) targets.set(from, [...(targets.get(from) ?? []), to]);
  }
  const finished = new Set<string>();
  const visit = (file: string, trail: readonly string[]): string[] | undefined => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file];
    if (finished.has(file)) return undefined;
    for (const target of targets.get(file) ?? []) {
      const found = visit(target, [...trail, file]);
      if (found) return found;
    }
    finished.add(file);
    return undefined;
  };
  for (const file of targets.keys()) {
    const found = visit(file, []);
    if (found) return found;
  }
  return undefined;
}

/** Lines of code that match, as `src/file:line: text`. */
function linesWith(pattern: RegExp, files: readonly SourceFile[], folder = 'src'): string[] {
  return files.flatMap(({ path, text }) =>
    withoutComments(text)
      .split('\n')
      .flatMap((line, index) =>
        pattern.test(line) ? [`${folder}/${path}:${index + 1}: ${line.trim()}`] : [],
      ),
  );
}

const root = new URL('../../', import.meta.url);
const sources: readonly SourceFile[] = readdirSync(new URL('src/', root), { recursive: true })
  .map((path) => String(path).replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, text: readFileSync(new URL(`src/${path}`, root), 'utf8') }));
const allImports = sources.flatMap(importsOf);
const pageSources: readonly SourceFile[] = readdirSync(new URL('ui/src/', root), {
  recursive: true,
})
  .map((path) => String(path).replaceAll('\\', '/'))
  .filter((path) => /\.(?:ts|svelte)$/.test(path))
  .map((path) => ({ path, text: readFileSync(new URL(`ui/src/${path}`, root), 'utf8') }));

/** All files whose code a file needs at run time, itself included. */
function neededBy(file: string, known = new Set<string>()): Set<string> {
  if (known.has(file)) return known;
  known.add(file);
  for (const { from, to, local, typeOnly } of allImports) {
    if (from === file && local && !typeOnly) neededBy(to, known);
  }
  return known;
}

describe('the table of rooms', () => {
  test('names in each line only rooms that stand further up, so it has no circle', () => {
    const order = Object.keys(rooms);
    for (const [index, name] of order.entries()) {
      const below = order.slice(0, index);
      const inside = rooms[name].values.filter((value) => !value.startsWith('..'));
      expect(inside.filter((value) => !below.includes(roomOf(value)))).toEqual([]);
    }
  });

  test('refuses what it should', () => {
    const path = 'problem/losses/hinge.ts';
    const text = [
      `import { train } from '../../train/train.ts';`,
      `import type { EpochEvent } from '../../train/events.ts';`,
      `import {\n  a,\n  b,\n} from '../../solvers/ring/rows.ts';`,
      `export * from '../../apps/cli/main.ts';`,
      `const later = await import('../../solvers/kernels/wasm.ts');`,
      `import '../../nowhere/file.ts';`,
      `import '../../../bench/run.ts';`,
    ].join('\n');
    const refused = importsOf({ path, text }).map(violation);
    expect(refused).toHaveLength(7);
    expect(refused).not.toContain(undefined);
    expect(refused[0]).toBe(
      'src/problem/losses/hinge.ts imports src/train/train.ts: ' +
        'problem may use errors, files, math; only as types: nothing',
    );
  });

  test('lets pass what it should', () => {
    const path = 'engine/grid.ts';
    const text = [
      `import { DataError } from '../errors.ts';`,
      `import type { Dataset } from '../data/dataset.ts';`,
      `export type { DatasetPart } from '../data/dataset.ts';`,
      `import { readFile } from 'node:fs/promises';`,
      `import { openCells } from './cells.ts';`,
      `// import { train } from '../train/train.ts';`,
      `/**\nimport { train } from '../train/train.ts';\n*/`,
    ].join('\n');
    const imports = importsOf({ path, text });
    expect(imports).toHaveLength(5);
    expect(imports.map(violation)).toEqual(Array(5).fill(undefined));
  });

  test('distinguishes a type from a value', () => {
    const text = `import { rowWeights } from '../data/dataset.ts';`;
    const [found] = importsOf({ path: 'engine/grid.ts', text }).map(violation);
    expect(found).toContain('only as types: data');
  });

  test('finds a circle', () => {
    const files = [
      { path: 'math/a.ts', text: `import { b } from './b.ts';` },
      { path: 'math/b.ts', text: `import { c } from './c.ts';` },
      { path: 'math/c.ts', text: `import { b } from './b.ts';\nimport type { A } from './a.ts';` },
    ];
    expect(circle(files.flatMap(importsOf))).toEqual(['math/b.ts', 'math/c.ts', 'math/b.ts']);
    expect(circle(files.slice(0, 2).flatMap(importsOf))).toBeUndefined();
  });
});

describe('ui', () => {
  const imports = pageSources.flatMap(importsOf).filter(({ local }) => local);
  const outside = imports.filter(({ to }) => to.startsWith('../'));

  test('imports from src only what is shared with the page', () => {
    expect(outside.length).toBeGreaterThan(20);
    const names = [...new Set(outside.map(({ to }) => to))].toSorted();
    expect(names).toEqual(sharedWithPage.map((name) => `../../src/${name}.ts`));
  });

  test('needs no module of Node', () => {
    const needed = sharedWithPage.flatMap((name) => [...neededBy(`${name}.ts`)]);
    const found = allImports.filter(
      ({ from, to, typeOnly }) => needed.includes(from) && to.startsWith('node:') && !typeOnly,
    );
    expect(found).toEqual([]);
  });
});

describe('src', () => {
  test('follows the table', () => {
    expect(allImports.length).toBeGreaterThan(0);
    expect(allImports.map(violation).filter((text) => text !== undefined)).toEqual([]);
  });

  test('is in rooms of the table', () => {
    const unknown = sources.filter(({ path }) => rooms[roomOf(path)] === undefined);
    expect(unknown.map(({ path }) => path)).toEqual([]);
  });

  test('has no circle of imports', () => {
    expect(circle(allImports)).toBeUndefined();
  });

  test('imports every runtime dependency, optional peer and bundled package, and no other package', () => {
    const bundled = ['commander', 'picocolors'];
    const { dependencies, peerDependencies } = JSON.parse(
      readFileSync(new URL('package.json', root), 'utf8'),
    ) as Record<'dependencies' | 'peerDependencies', Record<string, string>>;
    const packages = allImports
      .filter(({ local, to }) => !local && !to.startsWith('node:'))
      .map(({ to }) => to.match(/^(?:@[^/]+\/)?[^/]+/)![0]);
    expect([...new Set(packages)].toSorted()).toEqual(
      [...Object.keys({ ...dependencies, ...peerDependencies }), ...bundled].toSorted(),
    );
  });

  test('draws random numbers from seeded generators only', () => {
    expect(linesWith(/\bMath\.random\b/, sources)).toEqual([]);
  });

  test('is tested on seeded examples only', () => {
    const folder = new URL('test/', root);
    const files = readdirSync(folder, { recursive: true })
      .map((path) => String(path).replaceAll('\\', '/'))
      .filter((path) => path.endsWith('.ts') && path !== 'support/property.ts')
      .map((path) => ({ path, text: readFileSync(new URL(path, folder), 'utf8') }));
    expect(files.length).toBeGreaterThan(100);
    const unseeded = /\bfrom 'fast-check'|\bMath\.random\(/;
    expect(linesWith(unseeded, files, 'test')).toEqual([]);
  });

  test('computes logarithms and exponentials of training itself', () => {
    const files = sources.filter(({ path }) =>
      reproducibleFolders.some((folder) => path.startsWith(`${folder}/`)),
    );
    expect(files.length).toBeGreaterThan(0);
    expect(linesWith(platformFunctions, files)).toEqual([]);
    const example = { path: 'math/a.ts', text: 'const a = 1;\nconst b = Math.exp(a);' };
    expect(linesWith(platformFunctions, [example])).toEqual([
      'src/math/a.ts:2: const b = Math.exp(a);',
    ]);
  });
});
