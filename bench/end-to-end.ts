import { join } from 'node:path';
import { readModel } from '../src/model/file.ts';
import { losses } from '../src/problem/losses/index.ts';
import { penalties } from '../src/problem/penalties/index.ts';
import { readDataset } from '../src/train/read.ts';
import { liblinear, noLiblinear, readLiblinearWeights, runLiblinear } from './liblinear.ts';
import type { Measure, PartReport } from './measure.ts';
import { objective } from './objective.ts';
import { isInstalled, runDso } from './processes.ts';
import { interleave, median } from './rounds.ts';
import { cacheFolder, debdesc, largeText, noDebdesc, realSimLike, type Sample } from './samples.ts';
import { figure, table } from './table.ts';

const rounds = 5;
const ourModel = join(cacheFolder, 'ours.model');
const theirModel = join(cacheFolder, 'liblinear.model');

interface Runner {
  readonly median: number;
  readonly fastest: number;
  /** Objective of the model. */
  readonly primal: number;
}

interface Race {
  readonly data: string;
  readonly limit: number;
  readonly ours: Runner;
  readonly theirs?: Runner;
  /** Our certified lower bound of the optimum. */
  readonly bound: number;
}

function runnerOf(seconds: readonly number[], primal: number): Runner {
  return { median: median(seconds), fastest: Math.min(...seconds), primal };
}

async function race(sample: Sample, limit: number, withLiblinear: boolean): Promise<Race> {
  process.stderr.write(`  ${sample.title} …\n`);
  const { path } = sample;
  const dso = async () => (await runDso(['train', path, '-o', ourModel, '--quiet'])).seconds;
  const other = async () => (await runLiblinear(path, theirModel)).seconds;
  const found: Record<string, number[]> = withLiblinear
    ? await interleave({ rounds }, { dso, liblinear: other })
    : await interleave({ rounds }, { dso });
  const dataset = await readDataset(path);
  const { weights, certificate } = await readModel(ourModel);
  const problem = { loss: losses.hinge(), penalty: penalties.l2(), lambda: 1 / dataset.rows };
  const primalOf = (own: Float64Array) => objective(dataset, problem, own);
  const theirs = withLiblinear && {
    theirs: runnerOf(found.liblinear, primalOf(readLiblinearWeights(theirModel))),
  };
  return {
    data: sample.title,
    limit,
    ours: runnerOf(found.dso, primalOf(weights)),
    ...theirs,
    bound: certificate.dual,
  };
}

function rowsOf({ data, ours, theirs, bound }: Race): string[][] {
  const row = (program: string, { median: middle, fastest, primal }: Runner) => [
    data,
    program,
    `${figure(middle)} s`,
    theirs ? `${figure(middle / theirs.median)}×` : '–',
    `${figure(fastest)} s`,
    primal.toPrecision(8),
    `${((100 * (primal - bound)) / primal).toFixed(3)} %`,
  ];
  return [row('dso train', ours), ...(theirs ? [row(liblinear, theirs)] : [])];
}

function measuresOf({ data, limit, ours, theirs }: Race): Measure[] {
  if (!theirs) return [];
  return [
    {
      name: `dso train / ${liblinear}, ${data}: time`,
      value: ours.median / theirs.median,
      unit: '×',
      target: { kind: 'at most', limit },
    },
    {
      name: `dso train / ${liblinear}, ${data}: objective`,
      value: ours.primal / theirs.primal,
      unit: '×',
      decimals: 5,
      target: { kind: 'at most', limit: 1 },
    },
  ];
}

/** From a text file to a model file with default settings, against LIBLINEAR with C = 1. */
export async function benchEndToEnd(): Promise<PartReport> {
  const withLiblinear = isInstalled(liblinear);
  const text = debdesc();
  const skipped = [
    ...(withLiblinear ? [] : [`end to end against LIBLINEAR: ${noLiblinear}`]),
    ...(text ? [] : [`${noDebdesc}; the real-sim-like sample replaces it end to end`]),
  ];
  const races = [
    await race(await largeText(), 0.5, withLiblinear),
    await race(text ?? (await realSimLike()), 1, withLiblinear),
  ];
  const head = ['end to end', 'program', 'median', 'ratio', 'fastest', 'objective P'];
  console.log(table([...head, 'above the bound'], races.flatMap(rowsOf)));
  return { measures: races.flatMap(measuresOf), details: races, skipped };
}
