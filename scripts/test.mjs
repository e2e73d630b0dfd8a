/**
 * `npm test`: build, static checks, then every test. All steps run even if one fails, so that one
 * run shows everything; the last line is the count.
 *
 *   npm test                       everything
 *   npm test -- test/unit/data     only the test files whose path contains that text, no checks
 *   npm test -- readme -t convert  options of vitest are passed on
 *   npm test -- --watch [PATTERN]  runs tests again when a source file changes; no build, no checks
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { build } from './build.mjs';
import { check } from './check.mjs';
import { runTool } from './tools.mjs';

const slowestShown = 50;
const reportFile = '.cache/vitest.json';
const againFile = '.cache/vitest-again.json';

/**
 * @typedef {{ title: string, passed: boolean, output: string }} Outcome
 * @typedef {{
 *   fullName: string, status: string, duration?: number | null, failureMessages?: string[]
 * }} TestCase
 * @typedef {{
 *   name: string, status: string, message?: string, startTime: number, endTime: number,
 *   assertionResults: TestCase[]
 * }} TestFile
 * @typedef {{
 *   passed: number, failures: string[], skips: Map<string, string[]>, crashes: string[]
 * }} Findings
 */

/** Whoever reads only the end of a long log learns from it what failed, and why. */
const messageLines = 12;
const namesShown = 3;

/**
 * Runs and times one step that counts as one check.
 *
 * @param {() => Promise<Outcome>} work
 * @param {Findings} findings
 */
async function timed(work, findings) {
  const start = performance.now();
  const { title, passed, output } = await work();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${passed ? 'ok    ' : 'FAILED'}  ${title} (${seconds} s)`);
  if (passed) {
    findings.passed += 1;
    return;
  }
  console.log(output.trimEnd());
  findings.failures.push(title);
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
 * Runs vitest; returns its exit code.
 *
 * @param {string[]} filters
 * @param {string} report
 */
async function vitest(filters, report) {
  mkdirSync('.cache', { recursive: true });
  rmSync(report, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  return (await runTool('vitest', ['run', ...reporters, ...filters], { show: true })).code;
}

/**
 * The files whose tests did not end, as their process crashed. Without filters also those that it
 * had not begun.
 *
 * @param {string[]} filters
 */
function unfinishedFiles(filters) {
  const files = readReport();
  const begun = files.map(({ name }) => relative(process.cwd(), name));
  const ended = files.map(({ assertionResults }) =>
    assertionResults.every(({ status }) => status !== 'pending'),
  );
  const all = filters.length === 0 && files.length > 0 ? globSync('test/**/*.test.ts') : [];
  const missing = all.filter((file) => !begun.includes(file));
  return [...begun.filter((_, index) => !ended[index]), ...missing];
}

/**
 * Node itself may crash where threads run WebAssembly (nodejs/node#64500). What a process that
 * crashed had not ended is run once more, by itself; a second crash is a failure.
 *
 * @param {string[]} filters
 * @param {Findings} findings
 */
async function runTests(filters, findings) {
  let code = await vitest(filters, reportFile);
  const unfinished = code === 0 ? [] : unfinishedFiles(filters);
  const before = readReport().filter(({ name }) => !unfinished.includes(relative('.', name)));
  countTests(before, findings);
  if (unfinished.length > 0) {
    console.log(`\nA test process crashed. Running again: ${unfinished.join(', ')}`);
    code = await vitest(unfinished, againFile);
    const again = readReport(againFile);
    countTests(again, findings);
    if (code === 0) findings.crashes.push(...unfinished);
    writeFileSync(reportFile, JSON.stringify({ testResults: [...before, ...again] }));
  }
  if (code !== 0 && findings.failures.length === 0) {
    findings.failures.push(`vitest ended with code ${code}`);
  }
}

/**
 * Adds tests to the findings. A file that fails outside of a test (it does not load, say) counts as
 * one failure.
 *
 * @param {TestFile[]} files
 * @param {Findings} findings
 */
function countTests(files, findings) {
  const { failures, skips } = findings;
  for (const { name, status, message, assertionResults } of files) {
    const file = relative(process.cwd(), name);
    const skipped = [];
    const failed = [];
    for (const { fullName, status: result, failureMessages } of assertionResults) {
      if (result === 'passed') findings.passed += 1;
      else if (result === 'failed') failed.push(described(`${file}: ${fullName}`, failureMessages));
      else skipped.push(fullName);
    }
    if (status === 'failed' && failed.length === 0) failed.push(described(file, [message ?? '']));
    failures.push(...failed);
    if (skipped.length > 0) skips.set(file, skipped);
  }
}

/**
 * @param {string} title
 * @param {string[]} [messages]
 */
function described(title, messages = []) {
  const lines = stripVTControlCharacters(messages.join('\n')).split('\n');
  const own = lines.filter((line) => !line.includes('node_modules')).slice(0, messageLines);
  return [title, ...own.map((line) => `    ${line}`)].join('\n').trimEnd();
}

/** @param {Map<string, string[]>} skips */
function showSkips(skips) {
  if (skips.size === 0) return;
  console.log(`\nSKIPPED, so not proved by this run (every name is in ${reportFile}):`);
  for (const [file, names] of skips) {
    const rest = names.length > namesShown ? ', …' : '';
    console.log(`  ${file} (${names.length}): ${names.slice(0, namesShown).join(', ')}${rest}`);
  }
}

/**
 * Where the time went: the slowest tests, and the slowest files with all that they set up. Tests of
 * one file that run in parallel count the same seconds twice.
 */
function showSlowest() {
  const files = readReport();
  const tests = files.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, duration }) => ({
      seconds: (duration ?? 0) / 1000,
      title: `${shortName(name)}: ${fullName}`,
    })),
  );
  const wholeFiles = files.map(({ name, startTime, endTime, assertionResults }) => ({
    seconds: (endTime - startTime) / 1000,
    title: `${shortName(name)} (${assertionResults.length})`,
  }));
  showTimes(`Slowest ${slowestShown} tests`, tests);
  showTimes('Seconds per file (number of tests)', wholeFiles);
}

/** @param {string} title @param {{ seconds: number, title: string }[]} rows */
function showTimes(title, rows) {
  const total = rows.reduce((sum, { seconds }) => sum + seconds, 0);
  console.log(`\n${title}, of ${total.toFixed(0)} s in ${rows.length}:`);
  const slowest = rows.toSorted((a, b) => b.seconds - a.seconds).slice(0, slowestShown);
  for (const row of slowest) {
    if (row.seconds >= 0.05) console.log(`  ${row.seconds.toFixed(1).padStart(6)} s  ${row.title}`);
  }
}

/** @param {string} path */
function shortName(path) {
  return relative('test', path).replaceAll('\\', '/');
}

/** @param {string[]} crashes */
function showCrashes(crashes) {
  if (crashes.length === 0) return;
  console.log('\nCRASHED with their process, and passed when they were run again:');
  for (const file of crashes) console.log(`  ${file}`);
}

/** @param {string[]} failures */
function showFailures(failures) {
  if (failures.length === 0) return;
  console.log('\nFAILED:');
  for (const failure of failures) console.log(`  ${failure}`);
}

/** @param {string} [report] @returns {TestFile[]} */
function readReport(report = reportFile) {
  try {
    return JSON.parse(readFileSync(report, 'utf8')).testResults;
  } catch {
    return [];
  }
}

/** @param {string[]} argv */
async function main(argv) {
  if (argv.includes('--watch')) {
    const rest = argv.filter((word) => word !== '--watch');
    const { code } = await runTool('vitest', ['watch', ...rest], { show: true });
    process.exitCode = code;
    return;
  }
  /** @type {Findings} */
  const findings = { passed: 0, failures: [], skips: new Map(), crashes: [] };
  await timed(buildCheck, findings);
  if (argv.length === 0) {
    const checks = ['format-check', 'lint', 'types'];
    await Promise.all(checks.map((name) => timed(() => check(name), findings)));
  }

  const { failures, skips } = findings;
  const checked = findings.passed + failures.length;
  await runTests(argv, findings);
  if (findings.passed + failures.length === checked) failures.push('no test ran');

  showSlowest();
  showSkips(skips);
  showCrashes(findings.crashes);
  showFailures(failures);
  const skipped = [...skips.values()].reduce((sum, names) => sum + names.length, 0);
  const tail = skipped > 0 ? `, ${skipped} skipped` : '';
  console.log(`\n${findings.passed} passed, ${failures.length} failed${tail}`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}

await main(process.argv.slice(2));
