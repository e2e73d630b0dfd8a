/**
 * Trains on more than 2³¹ non-zeros, from disk:
 *
 *   node bench/beyond-int32.ts [MEMORY]
 *
 * No part of `npm run bench`: it takes 31 GB of disk (13 for the data, which stays in the cache
 * folder for the next time, and 18 for the scratch file) and a good quarter of an hour.
 */
import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { readModel } from '../src/model/file.ts';
import { largeData } from './large-data.ts';
import { runDso } from './processes.ts';
import { cacheFolder } from './samples.ts';

const shape = { rows: 2_200_000, columns: 1_000_000, perRow: 1000, pack: true };
const entries = shape.rows * shape.perRow;
const needed = 31e9;
const memory = process.argv[2] ?? '2G';

const { bavail, bsize } = statfsSync(cacheFolder);
if (bavail * bsize < needed) {
  console.error(`${cacheFolder} has ${(bavail * bsize) / 1e9} GB; ${needed / 1e9} are needed`);
  process.exit(2);
}
const begin = performance.now();
const path = await largeData('beyond-int32.dsob', shape);
const written = performance.now();
const model = join(cacheFolder, 'beyond-int32.model');
const options = ['--solver', 'ring', '--mode', 'rows', '--epochs', '2', '--memory', memory];
const { seconds, peakBytes = 0 } = await runDso(
  ['train', path, ...options, '--scratch', cacheFolder, '-o', model, '--quiet'],
  { watchMemory: true, codes: [0, 4] },
);
const { nonzeros, certificate, grid } = await readModel(model);
if (nonzeros !== entries || !(entries > 2 ** 31)) throw new Error(`${nonzeros} non-zeros`);
console.log(
  `${nonzeros} non-zeros (2^31 is ${2 ** 31}), grid ${grid}: written in ${Math.round((written - begin) / 1000)} s, ` +
    `trained for ${certificate.epochs} epochs in ${Math.round(seconds)} s to a gap of ${certificate.relativeGap.toPrecision(2)}, ` +
    `${Math.round(peakBytes / 2 ** 20)} MiB resident of ${memory}`,
);
