/** Started by an MPI launcher: rank 1 never joins. */
import { launchOf } from '../../../../src/mpi/launcher.ts';
import { Peers } from '../../../../src/mpi/peers.ts';

const launch = launchOf(process.env)!;
if (launch.rank === 1) setTimeout(() => {}, 60_000);
else await Peers.join(launch, { peerTimeout: 2, version: 'test' });
