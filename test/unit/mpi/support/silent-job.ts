/**
 * Started by an MPI launcher: the last rank is stopped as if its machine had died, and the others
 * tell what they notice of it and end the job. The argument says what they are busy with: a
 * `gather` that cannot end, a run that they `carry` for, or `nothing` but their own affairs.
 */
import { MessageChannel } from 'node:worker_threads';
import { launchOf } from '../../../../src/mpi/launcher.ts';
import { Peers } from '../../../../src/mpi/peers.ts';
import { askForGathering, openTraffic } from '../../../../src/parallel/traffic.ts';

const peers = await Peers.join(launchOf(process.env)!, { peerTimeout: 6, version: 'test' });
const { rank, size } = peers;
await peers.gather(new Uint8Array(rank));
if (rank === size - 1) process.kill(process.pid, 'SIGSTOP');

const occupations: Record<string, () => Promise<unknown>> = {
  gather: () => peers.gather(new Uint8Array(1)),
  carry: () => {
    const traffic = openTraffic(rank, size, size, new Int32Array(new SharedArrayBuffer(64 * size)));
    askForGathering(traffic);
    return peers.carry(traffic, new MessageChannel().port1);
  },
  nothing: async () => {
    // The main thread says nothing for longer than the others wait: they hear the other thread.
    const until = performance.now() + 7000;
    while (performance.now() < until);
  },
};

const lost = new Promise<string>((resolve) => {
  peers.onLost((message, who) => resolve(`${rank} lost ${who}: ${message}`));
});
const ended = await occupations[process.argv[2]]().then(
  () => 'fulfilled',
  (error: Error) => error.message,
);
console.log(`${await lost}; ${process.argv[2]}: ${ended}`);
// The launcher ends all when one rank ends the job: the other has something to say, too.
setTimeout(() => peers.abort(7), rank === 0 ? 1500 : 10_000);
