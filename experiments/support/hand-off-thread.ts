/** One of two threads that hand blocks to each other and do nothing else. */
import { parentPort, workerData } from 'node:worker_threads';
import { Ring } from '../../src/engine/ring.ts';
import { Team, type TeamShared } from '../../src/engine/team.ts';

const { shared, index, rotations } = workerData as {
  shared: TeamShared;
  index: number;
  rotations: number;
};
const team = new Team(shared, index);
const ring = new Ring(team);
const fields = ring.fields(() => []);
const visit = () => {};

/** The engine replaces the functions by their optimized versions during these. */
const warmUp = 2000;
for (let rotation = 0; rotation < warmUp; rotation++) ring.rotate(fields, visit);
team.barrier();
const start = performance.now();
for (let rotation = 0; rotation < rotations; rotation++) ring.rotate(fields, visit);
parentPort?.postMessage((performance.now() - start) / 1000, []);
