/** A thread that runs its share of the workers of a toy run. */
import { type MessagePort, parentPort } from 'node:worker_threads';
import type { BlockLayout } from '../../../../../src/engine/block-layout.ts';
import { Ring } from '../../../../../src/engine/ring.ts';
import { Team, type TeamShared } from '../../../../../src/engine/team.ts';
import { type Block, isReading, settle, type Toy, talksAfter, visit } from './toy.ts';

export interface ToyPayload {
  readonly toy: Toy;
  readonly shared: TeamShared;
  readonly index: number;
  /** The first thread's line to the carrier. */
  readonly port?: MessagePort;
  readonly layout: BlockLayout;
  readonly rows: Float64Array;
  /** All blocks that are here, one behind the other. */
  readonly all: Block;
}

export function blockOf(
  { blockOffsets, blockLengths }: BlockLayout,
  all: Block,
  block: number,
): Block {
  const [from, to] = [blockOffsets[block], blockOffsets[block] + blockLengths[block]];
  return {
    weights: all.weights.subarray(from, to),
    marks: all.marks.subarray(from, to),
    others: all.others.subarray(from, to),
  };
}

function play({ toy, shared, index, port, layout, rows, all }: ToyPayload): void {
  const team = new Team(shared, index);
  const ring = new Ring(team, port);
  const blocks = Array.from({ length: toy.grid }, (_, block) => blockOf(layout, all, block));
  const even = ring.fields((block) => [blocks[block].weights, blocks[block].marks]);
  const odd = ring.fields((block) => [blocks[block].others]);
  const read = ring.readFields((block) => [blocks[block].weights]);
  for (let rotation = 0; rotation < toy.rotations; rotation++) {
    const fields = isReading(rotation) ? read : rotation % 2 === 0 ? even : odd;
    ring.rotate(fields, (worker, block) => visit(rotation, worker, block, rows, blocks[block]));
    if (!talksAfter(rotation)) continue;
    const [sum] = team.reduce(1, (worker, values) => values.fill(rows[worker]));
    const received = team.fromFirst(() => (team.leads ? sum + rotation : Number.NaN));
    for (let worker = team.first; worker < team.end; worker++) {
      settle(worker, rows, blocks[worker], sum, received);
    }
  }
  team.barrier();
}

parentPort?.on('message', (payload: ToyPayload) => {
  play(payload);
  parentPort?.postMessage('done', []);
});
