import { defineConfig } from 'tsdown';

/**
 * Everything lands flat in one folder: at run time the bundles look for `./worker.js`,
 * `./carrier.js` and `../wasm/` relative to themselves, whichever chunk the code ended up in.
 */
export default defineConfig({
  entry: {
    index: 'src/index.ts',
    cli: 'src/cli/main.ts',
    worker: 'src/worker.ts',
    carrier: 'src/carrier.ts',
  },
  format: 'esm',
  platform: 'node',
  target: 'node22.12',
  fixedExtension: false,
  sourcemap: false,
  dts: true,
  outputOptions: { chunkFileNames: '[name]-[hash].js' },
});
