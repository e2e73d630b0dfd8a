import type { Dataset } from '../src/data/dataset.ts';
import { losses } from '../src/problem/losses/index.ts';
import { penalties } from '../src/problem/penalties/index.ts';
import { solvers } from '../src/solvers/index.ts';
import type { TrainOptions } from '../src/train/options/options.ts';
import { readDataset } from '../src/train/read.ts';
import { train } from '../src/train/train.ts';
import type { Measure, PartOptions, PartReport } from './measure.ts';
import { interleave, median } from './rounds.ts';
import { timedSamples } from './samples.ts';
import { figure, table } from './table.ts';

const limits = { rounds: 5, seconds: 6 };
/** The grids that one thread may choose from. */
const grids = [1, 2, 4];
/** Number of non-zeros from which two threads are expected to gain; with fewer they must not cost time. */
const manyNonzeros = 1e7;
const lambda = 1e-5;

const [logistic, hinge, l1] = [losses.logistic(), losses.hinge(), penalties.l1()];
const methods: Readonly<Record<string, TrainOptions>> = {
  'ring rows, hinge': { loss: hinge, solver: solvers.ring({ mode: 'rows' }) },
  'ring columns, logistic': { loss: logistic, solver: solvers.ring({ mode: 'columns' }) },
  'newton, logistic': { loss: logistic, solver: solvers.newton() },
  'working-set, logistic L1': { loss: logistic, penalty: l1, solver: solvers.workingSet() },
};

const files = ['debdesc', 'imdb', 'real-sim-100', 'real-sim-300'];

interface ThreadsResult {
  readonly method: string;
  readonly data: string;
  readonly nonzeros: number;
  /** What the default chose. */
  readonly grid: number;
  /** Median seconds of training to the certificate: by the default on two threads. */
  readonly two: number;
  /** The same on one thread, by grid. */
  readonly one: Readonly<Record<number, number>>;
}

async function compare(method: string, data: string, dataset: Dataset): Promise<ThreadsResult> {
  let chosen = 0;
  const run = (threads: number, grid?: number) => async () => {
    const options = { ...methods[method], lambda, threads, ...(grid && { grid }) };
    const { report } = await train(dataset, options);
    if (!grid) chosen = report.grid;
    return report.seconds.train;
  };
  const found: Record<string, number[]> = await interleave(limits, {
    two: run(2),
    ...Object.fromEntries(grids.map((grid) => [`grid ${grid}`, run(1, grid)])),
  });
  return {
    method,
    data,
    nonzeros: dataset.nonzeros,
    grid: chosen,
    two: median(found.two),
    one: Object.fromEntries(grids.map((grid) => [grid, median(found[`grid ${grid}`])])),
  };
}

const gainOf = ({ one, two }: ThreadsResult) => Math.min(...Object.values(one)) / two;

function rowOf(result: ThreadsResult): string[] {
  const milliseconds = (seconds: number) => `${figure(1000 * seconds)} ms`;
  return [
    result.method,
    result.data,
    ...grids.map((grid) => milliseconds(result.one[grid])),
    milliseconds(result.two),
    `${result.grid}`,
    `${figure(gainOf(result))}×`,
  ];
}

function measureOf(result: ThreadsResult): Measure {
  const limit = result.nonzeros >= manyNonzeros ? 1.3 : 0.95;
  return {
    name: `two threads against the best run on one, ${result.method}, ${result.data}`,
    value: gainOf(result),
    unit: '×',
    target: { kind: 'at least', limit },
  };
}

/** Time to the certificate: the default on two threads against every grid on one. */
export async function benchThreads({ files: names }: PartOptions): Promise<PartReport> {
  const results: ThreadsResult[] = [];
  const { samples, skipped } = await timedSamples(files, names);
  for (const [data, sample] of samples) {
    const dataset = await readDataset(sample.path);
    for (const method of Object.keys(methods)) {
      process.stderr.write(`  ${method}, ${data} …\n`);
      results.push(await compare(method, data, dataset));
    }
  }
  const head = ['training', 'data', ...grids.map((grid) => `1 thread, grid ${grid}`)];
  console.log(table([...head, '2 threads', 'default grid', 'gain'], results.map(rowOf)));
  return { measures: results.map(measureOf), details: results, skipped };
}
