/** Started by an MPI launcher: rank 1 claims to be of another version. */

import { launchOf } from '../../../../../src/engine/processes/launch.ts';
import { MpiGroup } from '../../../../../src/engine/processes/mpi-group.ts';

const launch = launchOf(process.env)!;
const version = launch.rank === 1 ? '0.0.9' : '0.1.0';
try {
  await MpiGroup.join(launch, { peerTimeout: 300, version });
} catch (error) {
  console.log((error as Error).message);
}
