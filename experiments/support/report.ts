import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { table } from '../../bench/table.ts';
import { lineChart, svgToPng } from '../../src/reporting/charts/svg.ts';
import { writeReport } from '../../src/reporting/pages/comparison-files.ts';
import type { Claim, Outcome, Setting } from './experiment.ts';

/** The machine on which the figures were measured, and its load. */
export function describeMachine() {
  const [{ model }] = cpus();
  return {
    date: new Date().toISOString(),
    node: process.versions.node,
    model,
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    load: loadavg()[0],
  };
}

export function claimsTable(claims: readonly Claim[]): string {
  return claims
    .map(({ claim, measured, verdict }) => `[${verdict}] ${claim}\n    ${measured}`)
    .join('\n');
}

/** results.json, every figure as SVG and PNG, and the reports of comparisons. */
export async function writeResults(
  request: Setting,
  name: string,
  machine: ReturnType<typeof describeMachine>,
  outcome: Outcome,
): Promise<string[]> {
  mkdirSync(request.folder, { recursive: true });
  const { scale, threads, time, seed } = request;
  const { results, claims, skipped } = outcome;
  const settings = { scale, threads, time, seed };
  const contents = { experiment: name, settings, machine, claims, skipped, results };
  const files = [join(request.folder, 'results.json')];
  writeFileSync(files[0], `${JSON.stringify(contents, null, 1)}\n`);
  for (const { name: figure, chart } of outcome.figures) {
    const path = join(request.folder, figure);
    const svg = lineChart(chart);
    writeFileSync(`${path}.svg`, svg);
    writeFileSync(`${path}.png`, await svgToPng(svg));
    files.push(`${path}.svg`, `${path}.png`);
  }
  for (const { name: report, comparison } of outcome.comparisons) {
    const folder = join(request.folder, report);
    await writeReport(folder, comparison);
    files.push(join(folder, 'report.html'));
  }
  return files;
}

/** A table with a heading and a blank line before it. */
export function section(
  title: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  return `\n${title}\n\n${table(head, rows)}`;
}
