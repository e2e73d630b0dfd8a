/**
 * Started by an MPI launcher: the ranks send each other bytes of many lengths. Each rank checks
 * what it gets; rank 0 prints what was wrong anywhere.
 */

import { launchOf } from '../../../../../src/engine/processes/launch.ts';
import { MpiGroup } from '../../../../../src/engine/processes/mpi-group.ts';

const peers = await MpiGroup.join(launchOf(process.env)!, { peerTimeout: 300, version: 'test' });
const { rank, size } = peers;
const wrong: string[] = [];

/** Bytes that tell who sent them to whom. */
function letter(from: number, to: number, length: number): Buffer {
  return Buffer.alloc(length, `${from}>${to};`);
}

function check(what: string, found: Uint8Array | undefined, expected: Buffer): void {
  if (!found || !Buffer.from(found).equals(expected)) {
    wrong.push(`rank ${rank}: ${what}: ${found?.length} bytes, expected ${expected.length}`);
  }
}

const ranks = Array.from({ length: size }, (_, other) => other);
for (const unit of [0, 1, 777, 1_500_001]) {
  const lengthOf = (from: number, to: number) => (unit * ((from + 2 * to) % 3)) >> 0;
  const sent = ranks.map((to) => letter(rank, to, lengthOf(rank, to)));
  const got = await peers.exchange(sent);
  ranks.forEach((from) => {
    check(`exchange, ${from}`, got[from], letter(from, rank, lengthOf(from, rank)));
  });

  const shared = new Uint8Array(new SharedArrayBuffer(unit * rank));
  shared.set(letter(rank, rank, unit * rank));
  const gathered = await peers.gather(shared);
  ranks.forEach((from) => {
    check(`gather, ${from}`, gathered[from], letter(from, from, unit * from));
  });

  const collected = await peers.collect(letter(rank, 0, unit + rank));
  if (rank === 0) {
    ranks.forEach((from) => {
      check(`collect, ${from}`, collected[from], letter(from, 0, unit + from));
    });
  } else if (collected.length > 0) wrong.push(`rank ${rank}: collect gives more than nothing`);

  const said = rank === 0 ? letter(0, 9, unit) : undefined;
  check('broadcast', await peers.broadcast(said), letter(0, 9, unit));
}

const all = await peers.collect(Buffer.from(wrong.join('\n')));
if (rank === 0) {
  console.log(JSON.stringify({ size, wrong: all.map((bytes) => Buffer.from(bytes).toString()) }));
}
await peers.finalize();
