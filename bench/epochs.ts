import type { Dataset } from '../src/data/dataset.ts';
import { losses } from '../src/problem/losses/index.ts';
import { solvers } from '../src/solvers/index.ts';
import type { TrainOptions } from '../src/train/options/options.ts';
import { readDataset } from '../src/train/read.ts';
import { train } from '../src/train/train.ts';
import type { Measure, PartReport } from './measure.ts';
import { interleave } from './rounds.ts';
import { debdesc, noDebdesc, realSimLike, type Sample } from './samples.ts';
import { figure, table } from './table.ts';
import { undisturbed } from './undisturbed.ts';

/** Short epochs are disturbed more easily and get more rounds for it. */
const limits = { rounds: 5, seconds: 12 };
const epochs = 15;
const limit = 1.7;

const methods: Readonly<Record<string, TrainOptions>> = {
  'ring rows, hinge': { loss: losses.hinge(), solver: solvers.ring({ mode: 'rows' }) },
  'ring columns, logistic': { loss: losses.logistic(), solver: solvers.ring({ mode: 'columns' }) },
  'dso, hinge': { loss: losses.hinge(), solver: solvers.dso() },
};

interface EpochResult {
  readonly method: string;
  readonly data: string;
  readonly grid: number;
  /** Milliseconds per epoch. */
  readonly one: number;
  readonly two: number;
  readonly sameBits: boolean;
}

async function compareThreads(
  method: string,
  { title }: Sample,
  dataset: Dataset,
): Promise<EpochResult> {
  const models: Buffer[] = [];
  let grid = 0;
  const run = (threads: number) => async () => {
    const marks: number[] = [];
    const { model, report } = await train(dataset, {
      grid: 2,
      ...methods[method],
      threads,
      epochs,
      tolerance: 1e-15,
      onEpoch: ({ seconds }) => marks.push(seconds),
    });
    models.push(Buffer.from(model.weights.buffer));
    grid = report.grid;
    return marks;
  };
  const found = await interleave(limits, { one: run(1), two: run(2) });
  return {
    method,
    data: title,
    grid,
    one: undisturbed(found.one),
    two: undisturbed(found.two),
    sameBits: models.every((model) => model.equals(models[0])),
  };
}

function rowOf({ method, data, grid, one, two, sameBits }: EpochResult): string[] {
  const milliseconds = (value: number) => `${figure(value)} ms`;
  return [
    method,
    data,
    `${grid} × ${grid}`,
    milliseconds(one),
    milliseconds(two),
    `${figure(one / two)}×`,
    sameBits ? 'same bits' : 'DIFFERENT',
  ];
}

function measureOf({ method, data, one, two }: EpochResult): Measure {
  const name = `epoch of ${method}, ${data}: 2 threads faster by`;
  return { name, value: one / two, unit: '×', target: { kind: 'at least', limit } };
}

/** Time per epoch with one and two threads on the same grid, which give the same model. */
export async function benchEpochs(): Promise<PartReport> {
  const text = debdesc();
  const samples = [await realSimLike(), ...(text ? [text] : [])];
  const results: EpochResult[] = [];
  for (const sample of samples) {
    const dataset = await readDataset(sample.path);
    for (const method of Object.keys(methods)) {
      process.stderr.write(`  ${method}, ${sample.title} …\n`);
      results.push(await compareThreads(method, sample, dataset));
    }
  }
  const head = ['epoch of', 'data', 'grid', '1 thread', '2 threads', 'faster by', 'models'];
  console.log(table(head, results.map(rowOf)));
  return { measures: results.map(measureOf), details: results, skipped: text ? [] : [noDebdesc] };
}
