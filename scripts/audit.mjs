/**
 * Checks what is installed: the licences of the packages that users get, and, where a registry
 * answers, the known vulnerabilities of all of them.
 *
 *   npm run audit
 */
import { readdirSync, readFileSync } from 'node:fs';
import { isAllowed } from './licences.mjs';
import { npmJson } from './npm.mjs';

/** @param {boolean} passed @param {string} text */
function report(passed, text) {
  console.log(`${passed ? 'ok    ' : 'FAILED'}  ${text}`);
  if (!passed) process.exitCode = 1;
}

/** @type {{ packages: Record<string, { dev?: boolean, license?: string }> }} */
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const shipped = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && !dev);
const refused = shipped.filter(([, { license = 'none' }]) => !isAllowed(license));
for (const [path, { license }] of refused) console.log(`${path}: licence ${license ?? 'none'}`);
report(refused.length === 0, `licences of ${shipped.length} packages that users install`);

for (const folder of ['.', ...readdirSync('tools').map((name) => `tools/${name}`)]) {
  const title = `known vulnerabilities, ${folder === '.' ? 'package-lock.json' : folder}`;
  const found = /** @type {any} */ (npmJson(['audit'], folder));
  if (found?.vulnerabilities === undefined) {
    console.log(`skipped ${title}: no registry answers npm audit`);
    continue;
  }
  /** @type {{ name: string, severity: string }[]} */
  const vulnerable = Object.values(found.vulnerabilities);
  for (const { name, severity } of vulnerable) console.log(`${name}: ${severity}`);
  report(vulnerable.length === 0, title);
}
