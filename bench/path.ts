import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Dataset } from '../src/data/dataset.ts';
import { losses } from '../src/problem/losses/index.ts';
import type { Loss } from '../src/problem/losses/loss.ts';
import { penalties } from '../src/problem/penalties/index.ts';
import type { Solver } from '../src/solvers/index.ts';
import { readDataset } from '../src/train/read.ts';
import { type PathPoint, trainPath } from '../src/train/select/path.ts';
import type { Measure, PartOptions, PartReport } from './measure.ts';
import { objective } from './objective.ts';
import { interleave } from './rounds.ts';
import { cacheFolder, noData, realData, wantedOf } from './samples.ts';
import { figure, table } from './table.ts';

const races = [
  { data: 'imdb', loss: losses.logistic(), family: 'binomial' },
  { data: 'debsize', loss: losses.square(), family: 'gaussian' },
] as const;
const count = 100;
/** The smallest λ as a part of the largest. */
const ratio = 1e-4;
const tolerance = 1e-3;
/** Seconds of one of our paths; one that has taken a quarter of it is not repeated. */
const limit = 240;
const rounds = 3;
const script = fileURLToPath(new URL('rivals/glmnet.R', import.meta.url));
const folder = join(cacheFolder, 'glmnet');

interface Race {
  readonly data: string;
  readonly loss: string;
  /** Seconds for all λs. */
  readonly ours: number;
  readonly theirs: number;
  readonly models: number;
  readonly certified: number;
  /** The largest distance of glmnet's P above ours, relative to ours, over the path. */
  readonly excess: number;
  readonly nonzero: { readonly ours: number; readonly theirs: number };
}

function hasGlmnet(): boolean {
  const { status } = spawnSync('Rscript', ['-e', 'library(glmnet)'], { stdio: 'ignore' });
  return status === 0;
}

function write(name: string, values: ArrayBufferView): void {
  const { buffer, byteOffset, byteLength } = values;
  writeFileSync(join(folder, name), Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength));
}

/** The rows of all parts, as glmnet.R reads them. */
function writeRows({ parts, rows, columns, nonzeros }: Dataset, lambdas: readonly number[]): void {
  const offsets = new Int32Array(rows + 1);
  const indices = new Int32Array(nonzeros);
  const values = new Float64Array(nonzeros);
  const labels = new Float64Array(rows);
  let row = 0;
  let entry = 0;
  for (const part of parts) {
    indices.set(part.indices, entry);
    values.set(part.values, entry);
    labels.set(part.labels, row);
    part.labels.forEach((_, i) => {
      offsets[row + i + 1] = entry + part.rowOffsets[i + 1];
    });
    row += part.labels.length;
    entry += part.indices.length;
  }
  mkdirSync(folder, { recursive: true });
  write('shape', Int32Array.of(rows, columns, nonzeros, lambdas.length));
  write('offsets', offsets);
  write('indices', indices);
  write('values', values);
  write('labels', labels);
  write('lambdas', Float64Array.from(lambdas));
}

function runGlmnet(family: string): number {
  const { status, stdout, stderr } = spawnSync('Rscript', [script, folder, family], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`glmnet.R ended with ${status}:\n${stderr}`);
  return Number(stdout.trim());
}

/** How far glmnet's P is above ours at most, and how many weights its last model has. */
function compareModels(dataset: Dataset, loss: Loss, points: readonly PathPoint[]) {
  const bytes = readFileSync(join(folder, 'weights'));
  const all = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
  let excess = -Infinity;
  let nonzero = 0;
  points.forEach(({ lambda, model }, place) => {
    const weights = all.slice(place * dataset.columns, (place + 1) * dataset.columns);
    // glmnet ends a path early where it does not converge.
    if (weights.length < dataset.columns) return;
    const problem = { loss, penalty: penalties.l1(), lambda };
    const { primal } = model.certificate;
    excess = Math.max(excess, objective(dataset, problem, weights) / primal - 1);
    nonzero = weights.reduce((sum, weight) => sum + Number(weight !== 0), 0);
  });
  return { excess, nonzero };
}

async function race(
  dataset: Dataset,
  { data, loss, family }: (typeof races)[number],
  solver: Solver,
): Promise<Race> {
  const options = { loss, penalty: penalties.l1(), solver, count, ratio, tolerance, time: limit };
  const timed = async () => {
    const start = performance.now();
    const points = await trainPath(dataset, options);
    return { points, seconds: (performance.now() - start) / 1000 };
  };
  const first = await timed();
  const { points } = first;
  writeRows(
    dataset,
    points.map(({ lambda }) => lambda),
  );
  const again = first.seconds < limit / 4;
  const found = await interleave(
    { rounds },
    {
      ours: async () => (again ? await timed() : first).seconds,
      theirs: async () => runGlmnet(family),
    },
  );
  const compared = compareModels(dataset, loss, points);
  const certified = ({ model }: PathPoint) => model.certificate.relativeGap <= tolerance;
  return {
    data,
    loss: loss.name,
    ours: Math.min(...found.ours),
    theirs: Math.min(...found.theirs),
    models: points.length,
    certified: points.filter(certified).length,
    excess: compared.excess,
    nonzero: { ours: points[points.length - 1].nonzero, theirs: compared.nonzero },
  };
}

function rowOf({ data, loss, ours, theirs, certified, excess, nonzero }: Race): string[] {
  const times = [`${figure(ours)} s`, `${figure(theirs)} s`, `${figure(ours / theirs)}×`];
  const models = [`${certified} of ${count}`, excess.toExponential(1)];
  return [data, loss, ...times, ...models, `${nonzero.ours}`, `${nonzero.theirs}`];
}

function measuresOf({ data, ours, theirs, certified, models }: Race): Measure[] {
  const name = `path of ${models} λs, ${data}`;
  return [
    {
      name: `${name}: ours / glmnet`,
      value: ours / theirs,
      unit: '×',
      target: { kind: 'at most', limit: 1.3 },
    },
    {
      name: `${name}: certified`,
      value: certified,
      unit: '',
      decimals: 0,
      target: { kind: 'at least', limit: count },
    },
  ];
}

/** Paths of 100 λs against R's glmnet, data in memory on both sides, all of our threads. */
export async function benchPaths({ solver, files }: PartOptions): Promise<PartReport> {
  if (!hasGlmnet()) {
    const reason = 'paths against glmnet: R has no package glmnet (Debian: r-cran-glmnet)';
    return { measures: [], details: [], skipped: [reason] };
  }
  const results: Race[] = [];
  const skipped: string[] = [];
  const wanted = wantedOf(
    races.map(({ data }) => data),
    files,
  );
  for (const one of races) {
    if (!wanted.includes(one.data)) continue;
    const sample = realData(one.data);
    if (!sample) {
      skipped.push(noData(one.data));
      continue;
    }
    process.stderr.write(`  path, ${one.data} …\n`);
    results.push(await race(await readDataset(sample.path), one, solver));
  }
  const head = ['path of L1', 'loss', 'ours', 'glmnet', 'ratio', 'certified', "glmnet's P above"];
  if (results.length > 0)
    console.log(`\n${table([...head, 'non-zeros', 'glmnet'], results.map(rowOf))}`);
  return { measures: results.flatMap(measuresOf), details: results, skipped };
}
