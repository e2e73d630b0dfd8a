import { defineConfig } from 'tsdown';
import { listPackages } from './scripts/notices.mjs';

/**
 * Every file takes a moment to find and to open. What threads, training and `dso train` need, with all
 * that it imports, is therefore in three files; other chunks follow from dynamic imports.
 */
const groups = [
  { name: 'thread', test: /src\/(train\/tasks|engine\/.*|solvers\/.*)(?<!\.d)\.ts$/, priority: 3 },
  {
    name: 'training',
    test: /src\/(train\/(train|read)|model\/(file|dual-point)|data\/quality\/quality)\.ts/,
    priority: 2,
  },
  { name: 'command', test: /src\/apps\/cli\/(program|commands\/train)\.ts/, priority: 1 },
];

/**
 * Modules of Node are asked for instead of imported: an import reads every export, and some of these
 * load further modules that nobody needs. Other characters than those of ASCII are escaped: a file
 * without them takes half of the memory, and less time.
 */
const quickStart = {
  name: 'quick-start',
  generateBundle(_: unknown, bundle: Record<string, { fileName: string; code?: string }>) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.fileName.endsWith('.js') && chunk.code) {
        chunk.code = chunk.code.replaceAll(imported, asked).replaceAll(/[^\0-\x7f]/g, escaped);
      }
    }
  },
};

const imported = /^import (?:\* as )?([\w$]+)?(?:, | )?(?:\{(.*)\} )?from "(node:[\w/]+)";$/gm;

/** Modules that take milliseconds to load in every thread, and that few of them call. */
const late = ['node:crypto', 'node:zlib'];

function asked(_: string, whole?: string, named?: string, id = ''): string {
  if (late.includes(id)) return askedLate(id, whole, named);
  const names = [whole, named && `{${named.replaceAll(' as ', ': ')}}`].filter(Boolean);
  return names.map((name) => `const ${name} = process.getBuiltinModule("${id}");`).join(' ');
}

/** All that is imported from these are functions, which ask for their module when they are called. */
function askedLate(id: string, whole?: string, named = ''): string {
  const module = `process.getBuiltinModule("${id}")`;
  const functions = named.split(', ').filter(Boolean);
  const lines = functions.map((name) => {
    const [theirs, ours = theirs] = name.split(' as ');
    return `const ${ours} = (...given) => ${module}.${theirs}(...given);`;
  });
  if (whole) lines.push(`const ${whole} = new Proxy({}, { get: (_, name) => ${module}[name] });`);
  return lines.join(' ');
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** commander can start programs, which no command of dso is. */
const noPrograms = {
  name: 'no-programs',
  resolveId: (id: string, importer?: string) =>
    id === 'node:child_process' && importer?.includes('commander') ? '\0no-programs' : null,
  load: (id: string) => (id === '\0no-programs' ? 'export default {};' : null),
};

/**
 * Everything lands flat in one folder: at run time the bundles look for `./worker.js`,
 * `./comm-thread.js` and `../wasm/` relative to themselves, whichever chunk the code ended up in.
 */
const library = defineConfig({
  entry: {
    index: 'src/index.ts',
    'node-version': 'src/node-version.ts',
    cli: 'src/apps/cli/main.ts',
    worker: 'src/worker.ts',
    'comm-thread': 'src/comm-thread.ts',
  },
  format: 'esm',
  platform: 'node',
  target: 'node22.12',
  fixedExtension: false,
  sourcemap: false,
  dts: true,
  plugins: [listPackages(), noPrograms, quickStart],
  outputOptions: { chunkFileNames: '[name]-[hash].js', codeSplitting: { groups }, comments: false },
});

/** By itself, so that it shares no chunk with code that needs Node; small, as pages want it. */
export const predict = defineConfig({
  entry: { predict: 'src/predict.ts' },
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  fixedExtension: false,
  sourcemap: false,
  dts: true,
  minify: true,
  plugins: [listPackages()],
  outputOptions: { comments: false },
});

export default [library, predict];
