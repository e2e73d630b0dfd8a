/**
 * `npm test`: build, static checks, then every test. All steps run even if one fails, so that one
 * run shows everything; the last line is the count.
 *
 *   npm test                    everything
 *   npm test -- test/unit/data  only the test files whose path contains that text, no checks
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { relative } from 'node:path';
import { build } from './build.mjs';
import { check } from './check.mjs';
import { runTool } from './tools.mjs';

const reportFile = '.cache/vitest.json';

/**
 * @typedef {{ passed: number, failed: number, skipped: number }} Count
 * @typedef {{ title: string, passed: boolean, output: string }} Outcome
 * @typedef {{ fullName: string, status: string }} TestCase
 * @typedef {{ name: string, status: string, assertionResults: TestCase[] }} TestFile
 */

/**
 * Runs and times one step that counts as one check.
 *
 * @param {() => Promise<Outcome>} work
 * @param {Count} count
 */
async function timed(work, count) {
  const start = performance.now();
  const { title, passed, output } = await work();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${passed ? 'ok    ' : 'FAILED'}  ${title} (${seconds} s)`);
  if (!passed) console.log(output.trimEnd());
  count[passed ? 'passed' : 'failed'] += 1;
}

/** @returns {Promise<Outcome>} */
async function buildCheck() {
  const title = 'build (assemblyscript, tsdown, vite)';
  try {
    await build();
    return { title, passed: true, output: '' };
  } catch (error) {
    return { title, passed: false, output: String(error) };
  }
}

/**
 * Runs vitest and adds its tests to the count. A file that fails outside of a test (it does not
 * load, say) counts as one failure, and so does a run that leaves no report.
 *
 * @param {string[]} filters
 * @param {Count} count
 * @returns {Promise<string[]>} the names of skipped tests
 */
async function runTests(filters, count) {
  mkdirSync('.cache', { recursive: true });
  rmSync(reportFile, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
  const { code } = await runTool('vitest', ['run', ...reporters, ...filters], { show: true });
  const files = readReport();
  /** @type {string[]} */
  const skipped = [];
  const failedBefore = count.failed;
  for (const { name, status, assertionResults } of files) {
    const file = relative(process.cwd(), name);
    for (const { fullName, status: result } of assertionResults) {
      if (result === 'passed') count.passed += 1;
      else if (result === 'failed') count.failed += 1;
      else skipped.push(`${file}: ${fullName}`);
    }
    const explained = assertionResults.some((test) => test.status === 'failed');
    if (status === 'failed' && !explained) count.failed += 1;
  }
  count.skipped += skipped.length;
  if (code !== 0 && count.failed === failedBefore) count.failed += 1;
  return skipped;
}

/** @returns {TestFile[]} */
function readReport() {
  try {
    return JSON.parse(readFileSync(reportFile, 'utf8')).testResults;
  } catch {
    return [];
  }
}

/** @param {string[]} filters */
async function main(filters) {
  /** @type {Count} */
  const count = { passed: 0, failed: 0, skipped: 0 };
  await timed(buildCheck, count);
  if (filters.length === 0) {
    for (const name of ['format-check', 'lint', 'types']) await timed(() => check(name), count);
  }

  const checked = count.passed + count.failed;
  const skipped = await runTests(filters, count);
  if (count.passed + count.failed === checked) {
    console.log('FAILED  no test ran');
    count.failed += 1;
  }

  if (skipped.length > 0) {
    console.log(`\nSKIPPED, so not proved by this run (${skipped.length}):`);
    for (const name of skipped) console.log(`  ${name}`);
  }
  const tail = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
  console.log(`\n${count.passed} passed, ${count.failed} failed${tail}`);
  process.exitCode = count.failed === 0 ? 0 : 1;
}

await main(process.argv.slice(2));
