import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';

/**
 * Who may import whom. A layer is a folder of src, or a file directly in src, and the table goes
 * from the bottom to the top: a layer names only layers above its own line, so no circle can form.
 *
 * `values` are layers, or single files of them, whose code it may use. `types` are further ones of
 * which it may only know the types (`import type`); those leave no trace at run time and may point
 * up.
 */
interface Layer {
  readonly values: readonly string[];
  readonly types?: readonly string[];
}

/** Everything a training run is made of. */
const training = [
  'solvers',
  'objective',
  'checkpoint',
  'parallel',
  'kernels',
  'data',
  'penalties',
  'losses',
  'math',
];

/** What a program may do with the library. */
const library = ['index', 'train', 'metrics', 'model'];

const layers: Readonly<Record<string, Layer>> = {
  // Any layer may throw our errors, so `errors` is not repeated below.
  errors: { values: [] },

  // Scalars, random numbers, sums: know nothing of learning.
  math: { values: [] },

  // A loss knows one score and one label, a penalty one weight, a dataset only rows.
  losses: { values: ['math'] },
  penalties: { values: ['math'] },
  data: { values: ['math'] },

  // Hot loops over typed arrays, and grid, ring and threads, which know no machine learning.
  kernels: { values: ['losses', 'math'] },
  parallel: { values: ['math'], types: ['data'] },

  // Processes of one job, through the system's MPI library.
  mpi: { values: ['parallel'] },

  // The state of a run as a file; what is in it, solvers know.
  checkpoint: { values: [] },

  // P(w), D(α) and the gap between them; then the methods that close the gap.
  objective: { values: ['losses', 'penalties', 'kernels', 'parallel', 'math'] },
  solvers: {
    values: [
      'objective',
      'checkpoint',
      'kernels',
      'parallel',
      'losses',
      'penalties',
      'data',
      'math',
    ],
    types: ['train/events', 'train/options'],
  },

  // The public library.
  model: {
    values: ['data/atomic'],
    types: ['losses', 'train/events', 'data/recipe', 'data/labels'],
  },
  metrics: { values: ['model', 'losses', 'data', 'math'] },
  train: { values: ['metrics', 'model', ...training, '../package.json'] },

  // Many models on one layout of the data, and the choice among them.
  select: {
    values: ['train', 'metrics', 'data/weights', 'losses/link', 'math'],
    types: ['data', 'losses', 'penalties', 'model'],
  },

  // One pass over rows that never end.
  online: {
    values: ['model', 'losses', 'penalties', 'data', 'math', 'train/memory'],
  },

  // Models for other programs, and from them.
  export: { values: ['metrics/probabilities', 'model', 'losses/link'] },

  // Predictions in a browser: only what needs no Node, file by file.
  predict: {
    values: [
      'metrics/predict',
      'metrics/probabilities',
      'model/model',
      'losses/link',
      'data/row-order',
      'math/murmur',
    ],
    types: ['data'],
  },

  // Predictions over HTTP.
  serve: {
    values: [
      'predict',
      'metrics/predict',
      'metrics/probabilities',
      'model',
      'losses/link',
      '../package.json',
    ],
  },

  // Solvers side by side on one problem, and the report of it.
  compare: {
    values: [
      'train',
      'metrics',
      'model',
      'solvers/index',
      'losses/index',
      'penalties/index',
      'data',
      '../package.json',
    ],
    types: ['solvers', 'penalties', 'losses'],
  },

  // What is kept of runs, and the page that shows it.
  runs: {
    values: ['compare/numbers', 'checkpoint/folder', 'checkpoint/process'],
    types: ['train/options', 'train/events'],
  },
  dashboard: { values: ['runs', 'compare'], types: ['parallel/look'] },

  // Roots: what a program imports, and what a thread starts with.
  index: {
    values: [
      'compare',
      'export',
      'select',
      'train',
      'metrics',
      'model',
      'solvers',
      'data',
      'penalties',
      'losses',
    ],
    types: ['checkpoint', 'objective', 'parallel'],
  },
  worker: { values: ['train', 'metrics', 'model', ...training] },
  carrier: { values: ['mpi'], types: ['parallel'] },

  // The command line is a user of the library like any other, which sees of losses, penalties and
  // solvers what the library publishes, writes files as the library does, and prints the version
  // of package.json.
  cli: {
    values: [
      ...library,
      'select',
      'compare',
      'export',
      'online',
      'serve',
      'runs',
      'dashboard',
      'mpi',
      'losses/index',
      'penalties/index',
      'solvers/index',
      'solvers/names',
      'data/atomic',
      'data/decompress',
      'data/fingerprint',
      'data/generate',
      'data/quality/quality',
      'data/scale',
      'data/table/query',
      'data/shapes',
      '../package.json',
    ],
    types: ['checkpoint', 'solvers', 'data', 'penalties', 'losses'],
  },
};

/** Training must give the same bits on every machine, which the platform's functions do not. */
const reproducibleLayers = ['math', 'losses', 'kernels', 'solvers', 'objective', 'online'];
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

function layerOf(path: string): string {
  return path.split('/')[0].replace(/\.ts$/, '');
}

function allowedText(name: string, { values, types = [] }: Layer): string {
  const list = (names: readonly string[]) => (names.length > 0 ? names.join(', ') : 'nothing');
  return `${name} may use ${list(['errors', ...values])}; only as types: ${list(types)}`;
}

/** What is wrong with an import, or undefined. */
function complaint({ from, to, local, typeOnly }: Import): string | undefined {
  if (!local) return undefined;
  const place = `src/${from} imports ${typeOnly ? 'types of ' : ''}src/${to}`;
  const [own, other] = [layerOf(from), layerOf(to)];
  const layer = layers[own];
  if (!layer) return `${place}: no layer "${own}" in the table of this test`;
  const names = [other, to.replace(/\.ts$/, '')];
  const allowed = [own, 'errors', ...layer.values, ...(typeOnly ? (layer.types ?? []) : [])];
  if (names.some((name) => allowed.includes(name))) return undefined;
  return `${place}: ${allowedText(own, layer)}`;
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

describe('the table of layers', () => {
  test('names in each line only layers that stand further up, so it has no circle', () => {
    const order = Object.keys(layers);
    for (const [index, name] of order.entries()) {
      const below = order.slice(0, index);
      const inside = layers[name].values.filter((value) => !value.startsWith('..'));
      expect(inside.filter((value) => !below.includes(layerOf(value)))).toEqual([]);
    }
  });

  test('refuses what it should', () => {
    const path = 'losses/hinge.ts';
    const text = [
      `import { train } from '../train/train.ts';`,
      `import type { EpochEvent } from '../train/events.ts';`,
      `import {\n  a,\n  b,\n} from '../solvers/ring.ts';`,
      `export * from '../cli/main.ts';`,
      `const later = await import('../kernels/wasm.ts');`,
      `import '../nowhere/file.ts';`,
      `import '../../bench/run.ts';`,
    ].join('\n');
    const refused = importsOf({ path, text }).map(complaint);
    expect(refused).toHaveLength(7);
    expect(refused).not.toContain(undefined);
    expect(refused[0]).toBe(
      'src/problem/losses/hinge.ts imports src/train/train.ts: ' +
        'losses may use errors, math; only as types: nothing',
    );
  });

  test('lets pass what it should', () => {
    const path = 'model/model.ts';
    const text = [
      `import { DataError } from '../errors.ts';`,
      `import type { StopReason } from '../train/events.ts';`,
      `export type { Task } from '../losses/loss.ts';`,
      `import { readFile } from 'node:fs/promises';`,
      `import { header } from './header.ts';`,
      `// import { train } from '../train/train.ts';`,
      `/**\nimport { train } from '../train/train.ts';\n*/`,
    ].join('\n');
    const imports = importsOf({ path, text });
    expect(imports).toHaveLength(5);
    expect(imports.map(complaint)).toEqual(Array(5).fill(undefined));
  });

  test('tells a type from a value', () => {
    const wanted = `import { StopReason } from '../train/events.ts';`;
    const [found] = importsOf({ path: 'model/model.ts', text: wanted }).map(complaint);
    expect(found).toContain('only as types: losses, train/events');
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

describe('src', () => {
  test('follows the table', () => {
    expect(allImports.length).toBeGreaterThan(0);
    expect(allImports.map(complaint).filter((text) => text !== undefined)).toEqual([]);
  });

  test('lies in layers of the table', () => {
    const unknown = sources.filter(({ path }) => layers[layerOf(path)] === undefined);
    expect(unknown.map(({ path }) => path)).toEqual([]);
  });

  test('has no circle of imports', () => {
    expect(circle(allImports)).toBeUndefined();
  });

  test('imports every runtime dependency and optional peer, and no other package', () => {
    const { dependencies, peerDependencies } = JSON.parse(
      readFileSync(new URL('package.json', root), 'utf8'),
    ) as Record<'dependencies' | 'peerDependencies', Record<string, string>>;
    const packages = allImports
      .filter(({ local, to }) => !local && !to.startsWith('node:'))
      .map(({ to }) => to.match(/^(?:@[^/]+\/)?[^/]+/)![0]);
    expect([...new Set(packages)].toSorted()).toEqual(
      Object.keys({ ...dependencies, ...peerDependencies }).toSorted(),
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
    const files = sources.filter(({ path }) => reproducibleLayers.includes(layerOf(path)));
    expect(files.length).toBeGreaterThan(0);
    expect(linesWith(platformFunctions, files)).toEqual([]);
    const example = { path: 'math/a.ts', text: 'const a = 1;\nconst b = Math.exp(a);' };
    expect(linesWith(platformFunctions, [example])).toEqual([
      'src/math/a.ts:2: const b = Math.exp(a);',
    ]);
  });
});
