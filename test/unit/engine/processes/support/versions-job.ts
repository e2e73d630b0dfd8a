/** Started by an MPI launcher: rank 1 claims to be of another version. */
import { launchOf } from '../../../../../src/mpi/launcher.ts';
import { Peers } from '../../../../../src/mpi/peers.ts';

const launch = launchOf(process.env)!;
const version = launch.rank === 1 ? '0.0.9' : '0.1.0';
try {
  await Peers.join(launch, { peerTimeout: 300, version });
} catch (error) {
  console.log((error as Error).message);
}
