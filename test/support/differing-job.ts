/**
 * Started by an MPI launcher: the last rank trains or validates with something else than the others.
 * Each rank says what it is told.
 */
import { launchOf } from '../../src/engine/processes/launch.ts';
import { MpiGroup } from '../../src/engine/processes/mpi-group.ts';
import { losses } from '../../src/problem/losses/index.ts';
import { solvers } from '../../src/solvers/index.ts';
import type { TrainOptions } from '../../src/train/options/options.ts';
import { readDataset, readShard } from '../../src/train/read.ts';
import { crossValidateInGroup } from '../../src/train/select/cross-validate.ts';
import { trainInGroup } from '../../src/train/train.ts';

const launch = launchOf(process.env)!;
const group = await MpiGroup.join(launch, { peerTimeout: 300, version: 'test' });
const { rank, size: ranks } = group;
const isOther = rank === ranks - 1;

async function sayRefusal(work: Promise<unknown>): Promise<void> {
  const told = await work.then(
    () => 'no refusal',
    ({ message }: Error) => message,
  );
  console.log(`${rank} ${told}`);
}

const pairs: Readonly<Record<string, readonly [TrainOptions, TrainOptions]>> = {
  smoothing: [{ loss: losses.smoothedHinge() }, { loss: losses.smoothedHinge({ smoothing: 0.5 }) }],
  lambda: [{ lambda: 0.1 }, {}],
  task: [{ loss: losses.hinge() }, { loss: losses.square() }],
  solver: [{ solver: solvers.ring() }, { solver: solvers.ring({ rotations: 2 }) }],
  holdout: [{ holdout: 0.2 }, { holdout: 0.3 }],
  seed: [{}, { seed: 2 }],
};

const { dataset } = await readShard('train.svm', { rank, ranks, threads: 1 });
for (const options of Object.values(pairs)) {
  const own = { epochs: 2, threads: 1, ...options[Number(isOther)] };
  await sayRefusal(trainInGroup(dataset, own, group));
}
// The same option in another form, and another number of threads: nothing differs.
await trainInGroup(dataset, { epochs: 2, threads: 1 + rank, ...(isOther && { seed: 1 }) }, group);

// Files of the same sizes, but not the same numbers.
const whole = await readDataset(isOther ? 'other.svm' : 'train.svm', { threads: 1 });
const own = { lambdas: [0.1], epochs: 2, threads: 1 };
await sayRefusal(crossValidateInGroup({ ...whole, name: 'data' }, own, group));
await group.finalize();
