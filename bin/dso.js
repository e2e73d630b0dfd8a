#!/usr/bin/env node
import { existsSync } from 'node:fs';

const [major, minor] = process.versions.node.split('.').map(Number);
const program = new URL('../dist/cli.js', import.meta.url);

if (major < 22 || (major === 22 && minor < 12)) {
  console.error(`dso: Node ${process.versions.node} is too old; Node 22.12 or newer is needed.`);
  process.exit(1);
} else if (!existsSync(program)) {
  console.error('dso: dist/cli.js is missing; run `npm run build` first.');
  process.exit(1);
} else {
  await import(program.href);
}
