import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { shareTeam } from '../../src/engine/team.ts';

const entry = new URL('./hand-off-thread.ts', import.meta.url);

/**
 * Seconds that one hand-off of a block costs between two threads: rotations of a ring whose visits
 * do nothing, divided by the two inner iterations of each.
 */
export async function measureHandOff(rotations: number): Promise<number> {
  const shared = shareTeam({ threads: 2, workers: 2, cores: availableParallelism() });
  const times = await Promise.all(
    [0, 1].map(
      (index) =>
        new Promise<number>((resolve, reject) => {
          const worker = new Worker(entry, { workerData: { shared, index, rotations } });
          worker.once('message', resolve);
          worker.once('error', reject);
        }),
    ),
  );
  return Math.max(...times) / (2 * rotations);
}
