import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { listPackages } from '../scripts/notices.mjs';

/**
 * The page of the dashboard, into dist/ui. Its server allows scripts and styles from files of its
 * own only, so nothing is inlined; addresses are relative, since they lie under a random token.
 */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  plugins: [svelte(), listPackages()],
  logLevel: 'warn',
  build: {
    outDir: fileURLToPath(new URL('../dist/ui', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: false,
    // How long a build takes depends on what else the machine does.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
});
