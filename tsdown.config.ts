import { defineConfig } from 'tsdown';
import { listPackages } from './scripts/notices.mjs';

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
  plugins: [listPackages()],
  outputOptions: { chunkFileNames: '[name]-[hash].js' },
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
