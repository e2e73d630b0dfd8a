import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PartReport } from './measure.ts';
import { runProcess } from './processes.ts';
import { figure, table } from './table.ts';

const program = fileURLToPath(new URL('../bin/dso.js', import.meta.url));
/** Of each command; others disturb a short one easily. */
const rounds = 20;

const tenRows = Array.from({ length: 10 }, (_, row) => {
  const label = row % 2 === 0 ? 1 : -1;
  return `${label} 1:0.${row} 3:0.${9 - row} ${4 + row}:1\n`;
}).join('');

/** What a command takes that has next to nothing to do, against Node with nothing to do. */
export async function benchStart(): Promise<PartReport> {
  const folder = mkdtempSync(join(tmpdir(), 'dso-start-'));
  const data = join(folder, 'ten.svm');
  const model = join(folder, 'ten.model');
  writeFileSync(data, tenRows);
  const train = [program, 'train', data, '-o', model, '--runs', join(folder, 'runs')];
  const commands = { node: ['-e', '0'], '--version': [program, '--version'], train };
  const seconds: Record<string, number> = {};
  try {
    // In turn, so that a busy moment meets all of them; the first round fills the cache of code.
    for (let round = 0; round <= rounds; round++) {
      for (const [name, argv] of Object.entries(commands)) {
        const run = await runProcess(process.execPath, argv);
        if (round > 0) seconds[name] = Math.min(seconds[name] ?? Infinity, run.seconds);
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  console.log(
    table(
      ['command', 'milliseconds'],
      Object.entries(seconds).map(([name, least]) => [name, figure(1000 * least)]),
    ),
  );
  const measureOf = (title: string, name: string, limit: number) => ({
    name: `start: ${title} / node -e 0`,
    value: seconds[name] / seconds.node,
    unit: '×',
    target: { kind: 'at most' as const, limit },
  });
  return {
    measures: [
      measureOf('dso --version', '--version', 1.5),
      measureOf('dso train on ten rows', 'train', 3),
    ],
    details: seconds,
    skipped: [],
  };
}
