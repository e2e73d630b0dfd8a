/**
 * Started by an MPI launcher: the last rank is stopped as if its machine had died, and the others
 * tell what they notice of it and end the job. Rank 0 says when all have met. The first argument says what they are busy with: a
 * `gather` that cannot end, a run that they `carry` for, or `nothing` but their own affairs. The
 * second is a folder: what rank r notices is in its file r, since a launcher may drop what was printed
 * last.
 */
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { openChannel, requested } from '../../../../../src/engine/processes/comm-channel.ts';
import { launchOf } from '../../../../../src/engine/processes/launch.ts';
import { MpiGroup } from '../../../../../src/engine/processes/mpi-group.ts';

const [occupation, folder] = process.argv.slice(2);
/** Seconds: no healthy rank is silent for that long, though many ranks run on few cores. */
const silence = 10;

const options = { peerTimeout: silence, joinTimeout: 300, version: 'test' };
const peers = await MpiGroup.join(launchOf(process.env)!, options);
const { rank, size } = peers;
await peers.gather(new Uint8Array(rank));
if (rank === 0) console.error('all have met');
if (rank === size - 1) process.kill(process.pid, 'SIGSTOP');

const occupations: Record<string, () => Promise<unknown>> = {
  gather: () => peers.gather(new Uint8Array(1)),
  carry: () => {
    const channel = openChannel(
      { rank, size },
      size,
      new Int32Array(new SharedArrayBuffer(64 * size)),
    );
    Atomics.add(channel.allgathers, requested, 1);
    return peers.transferBlocks(channel, new MessageChannel().port1);
  },
  nothing: async () => {
    // The main thread says nothing for longer than the others wait: they hear the other thread.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000 * (silence + 1));
  },
};

const lost = new Promise<string>((resolve) => {
  peers.onLost((message, who) => resolve(`${who}: ${message}`));
});
const ended = await occupations[occupation]().then(
  () => 'fulfilled',
  (error: Error) => error.message,
);
// The thread that listens does not keep the process alive, and may notice the loss only now. When
// one rank ends the job the launcher ends all: rank 0 does when both have reported.
setInterval(() => {
  if (rank === 0 && ['0', '1'].every((one) => existsSync(join(folder, one)))) peers.abort(7);
}, 20);
const said = join(folder, String(rank));
writeFileSync(`${said}.part`, `lost ${await lost}; ${occupation}: ${ended}`);
renameSync(`${said}.part`, said);
