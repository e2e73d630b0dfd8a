import { join } from 'node:path';
import { readModel } from '../src/model/format.ts';
import { readDataset } from '../src/train/read-dataset.ts';
import { hingeObjective } from './hinge-objective.ts';
import { liblinear, noLiblinear, readLiblinearWeights, runLiblinear } from './liblinear.ts';
import type { Measure, PartReport } from './measure.ts';
import { isInstalled, runDso } from './processes.ts';
import { interleave, median } from './rounds.ts';
import { cacheFolder, debdesc, largeText, noDebdesc, realSimLike, type Sample } from './samples.ts';
import { figure, table } from './table.ts';

const rounds = 5;
const ourModel = join(cacheFolder, 'ours.model');
const theirModel = join(cacheFolder, 'liblinear.model');

/** Seconds are medians; P is the objective of each model, D our certified lower bound. */
interface Race {
  readonly data: string;
  readonly limit: number;
  readonly ours: { readonly seconds: number; readonly primal: number; readonly dual: number };
  readonly theirs?: { readonly seconds: number; readonly primal: number };
  readonly rounds: Readonly<Record<string, number[]>>;
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
  const primal = hingeObjective(dataset, weights);
  return {
    data: sample.title,
    limit,
    ours: { seconds: median(found.dso), primal, dual: certificate.dual },
    ...(withLiblinear && {
      theirs: {
        seconds: median(found.liblinear),
        primal: hingeObjective(dataset, readLiblinearWeights(theirModel)),
      },
    }),
    rounds: found,
  };
}

function rowsOf({ data, ours, theirs }: Race): string[][] {
  const row = (program: string, seconds: number, primal: number, ratio: string) => [
    data,
    program,
    `${figure(seconds)} s`,
    ratio,
    primal.toPrecision(8),
    `${((100 * (primal - ours.dual)) / primal).toFixed(3)} %`,
  ];
  const ratio = theirs ? `${figure(ours.seconds / theirs.seconds)}×` : '–';
  return [
    row('dso train', ours.seconds, ours.primal, ratio),
    ...(theirs ? [row(liblinear, theirs.seconds, theirs.primal, '1×')] : []),
  ];
}

function measuresOf({ data, limit, ours, theirs }: Race): Measure[] {
  if (!theirs) return [];
  return [
    {
      name: `dso train / ${liblinear}, ${data}: time`,
      value: ours.seconds / theirs.seconds,
      unit: '×',
      bar: { kind: 'at most', limit },
    },
    {
      name: `dso train / ${liblinear}, ${data}: objective`,
      value: ours.primal / theirs.primal,
      unit: '×',
      decimals: 5,
      bar: { kind: 'at most', limit: 1 },
    },
  ];
}

/** From a text file to a model file with default settings, against LIBLINEAR with C = 1. */
export async function benchEndToEnd(): Promise<PartReport> {
  const withLiblinear = isInstalled(liblinear);
  const text = debdesc();
  const skipped = [
    ...(withLiblinear ? [] : [`end to end against LIBLINEAR: ${noLiblinear}`]),
    ...(text ? [] : [`${noDebdesc}; the real-sim-like sample takes its place end to end`]),
  ];
  const races = [
    await race(await largeText(), 0.5, withLiblinear),
    await race(text ?? (await realSimLike()), 1, withLiblinear),
  ];
  const head = ['end to end', 'program', 'time', 'ratio', 'objective P', 'above the bound'];
  console.log(table(head, races.flatMap(rowsOf)));
  return { measures: races.flatMap(measuresOf), details: races, skipped };
}
