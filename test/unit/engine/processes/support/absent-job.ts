/** Started by an MPI launcher: rank 1 never joins, and is there until the launcher ends it. */

import { launchOf } from '../../../../../src/engine/processes/launch.ts';
import { MpiGroup } from '../../../../../src/engine/processes/mpi-group.ts';

const launch = launchOf(process.env)!;
if (launch.rank === 1) setInterval(() => {}, 60_000);
else await MpiGroup.join(launch, { peerTimeout: 300, joinTimeout: 2, version: 'test' });
