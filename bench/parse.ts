import { readDataset } from '../src/train/read-dataset.ts';
import type { PartReport } from './measure.ts';
import { interleave } from './rounds.ts';
import { largeText, megabytes } from './samples.ts';
import { figure, table } from './table.ts';

const limits = { rounds: 9, seconds: 10 };

/** How fast LIBSVM text becomes arrays, from a file that the system has in memory. */
export async function benchParse(): Promise<PartReport> {
  const sample = await largeText();
  const read = (threads: number) => async () => {
    const start = performance.now();
    await readDataset(sample.path, { threads });
    return (performance.now() - start) / 1000;
  };
  const seconds = await interleave(limits, { one: read(1), two: read(2) });
  const size = megabytes(sample);
  const [one, two] = [size / Math.min(...seconds.one), size / Math.min(...seconds.two)];
  const text = (speed: number) => `${figure(speed)} MB/s`;
  console.log(
    table(
      ['parsing', 'file', '1 thread', '2 threads', 'ratio'],
      [[sample.title, `${figure(size)} MB`, text(one), text(two), `${figure(two / one)}×`]],
    ),
  );
  return {
    measures: [
      { name: 'parsing, 1 thread', value: one, unit: ' MB/s' },
      {
        name: 'parsing, 2 threads',
        value: two,
        unit: ' MB/s',
        bar: { kind: 'at least', limit: 600 },
      },
    ],
    details: { megabytes: size, seconds },
    skipped: [],
  };
}
