/**
 * Trains for a few epochs on generated data that takes so much training memory, and prints as JSON
 * what an epoch takes:
 *
 *   node bench/large-epoch.ts METHOD GIB
 *
 * A process of its own, since memory is given back late.
 */
import { train } from '../src/train/train.ts';
import { repeatedRows } from './large-data.ts';
import { epochs, type LargeEpoch, methods, shape } from './large-methods.ts';

const [name, gibibytes] = process.argv.slice(2);
const { bytes, options } = methods[name];
const entries = shape.rows * shape.perRow;
const copies = Math.max(1, Math.round((Number(gibibytes) * 2 ** 30) / (bytes * entries)));
const marks: number[] = [];
const processor: number[] = [];
const { report } = await train(repeatedRows(shape, copies), {
  ...options,
  grid: 4,
  threads: 2,
  epochs,
  tolerance: 1e-15,
  onEpoch({ seconds }) {
    const { user, system } = process.cpuUsage();
    marks.push(seconds);
    processor.push((user + system) / 1e6);
  },
});
const result: LargeEpoch = {
  nonzeros: copies * entries,
  resident: process.resourceUsage().maxRSS * 1024,
  passes: report.passes,
  primal: report.primal,
  marks,
  processor,
};
process.stdout.write(JSON.stringify(result));
