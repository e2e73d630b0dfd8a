import { join } from 'node:path';
import { readModel } from '../src/model/file.ts';
import { liblinear, noLiblinear, runLiblinear } from './liblinear.ts';
import type { Measure, PartReport } from './measure.ts';
import { isInstalled, type ProcessResult, runDso } from './processes.ts';
import { cacheFolder, largeText } from './samples.ts';
import { figure, table } from './table.ts';

const watchMemory = true;
/** Megabytes that Node may take besides what LIBLINEAR takes. */
const mostAbove = 60;

/** Peak resident memory of a whole run, per non-zero of the data. */
export async function benchMemory(): Promise<PartReport> {
  const { path, title } = await largeText();
  const ourModel = join(cacheFolder, 'ours.model');
  const withLiblinear = isInstalled(liblinear);
  const runs: Record<string, ProcessResult> = {
    'dso train': await runDso(['train', path, '-o', ourModel, '--quiet'], { watchMemory }),
  };
  if (withLiblinear) {
    const model = join(cacheFolder, 'liblinear.model');
    runs[liblinear] = await runLiblinear(path, model, { watchMemory });
  }
  const { nonzeros } = await readModel(ourModel);
  const skipped = withLiblinear ? [] : [`memory of LIBLINEAR: ${noLiblinear}`];
  const rows: string[][] = [];
  const measures: Measure[] = [];
  for (const [program, { peakBytes }] of Object.entries(runs)) {
    if (peakBytes === undefined) {
      skipped.push(`memory of ${program}: the system does not report the peak`);
      continue;
    }
    const value = peakBytes / nonzeros;
    rows.push([title, program, `${figure(peakBytes / 1e6)} MB`, `${figure(value)} bytes`]);
    measures.push({ name: `peak memory per non-zero, ${program}`, value, unit: ' bytes' });
  }
  const [ours, theirs] = ['dso train', liblinear].map((program) => runs[program]?.peakBytes);
  if (ours !== undefined && theirs !== undefined) {
    measures.push({
      name: 'peak memory, dso train − LIBLINEAR',
      value: (ours - theirs) / 1e6,
      unit: ' MB',
      target: { kind: 'at most', limit: mostAbove },
    });
  }
  console.log(table(['memory', 'program', 'peak', 'per non-zero'], rows));
  return { measures, details: { nonzeros, runs }, skipped };
}
