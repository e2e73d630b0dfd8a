/**
 * Started by an MPI launcher with toy runs as its argument. Each rank prints a line per run: what
 * of its own differs from the run of one worker after the other, and what it has sent.
 */
import { once } from 'node:events';
import { MessageChannel, Worker } from 'node:worker_threads';
import { layOutBlocks } from '../../../../../src/engine/block-layout.ts';
import { transferCounter } from '../../../../../src/engine/processes/comm-channel.ts';
import { launchOf } from '../../../../../src/engine/processes/launch.ts';
import { MpiGroup } from '../../../../../src/engine/processes/mpi-group.ts';
import { shareTeam } from '../../../../../src/engine/team.ts';
import { type Block, blockLength, firstWeight, runAlone, type Toy } from './toy.ts';
import { blockOf, type ToyPayload } from './toy-thread.ts';

export interface ToyRun extends Toy {
  readonly threads: number;
  readonly cores: number;
}

export interface ToyResult extends ToyRun {
  readonly rank: number;
  readonly differences: string[];
  readonly sent: number;
  readonly received: number;
  readonly milliseconds: number;
}

/** Shared WebAssembly memory, as training uses. */
function arrays(length: number): Block {
  const pages = Math.ceil((20 * length) / 65_536);
  const { buffer } = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  return {
    weights: new Float64Array(buffer, 0, length),
    others: new Float64Array(buffer, 8 * length, length),
    marks: new Int32Array(buffer, 16 * length, length),
  };
}

function sameBytes(one: ArrayBufferView, other: ArrayBufferView): boolean {
  const bytes = (view: ArrayBufferView) =>
    Buffer.from(view.buffer, view.byteOffset, view.byteLength);
  return bytes(one).equals(bytes(other));
}

const peers = await MpiGroup.join(launchOf(process.env)!, { peerTimeout: 300, version: 'test' });

async function runHere(run: ToyRun, threads: readonly Worker[]): Promise<ToyResult> {
  const { rank } = peers;
  const { grid } = run;
  const bounds = new Int32Array(grid + 1);
  for (let block = 0; block < grid; block++) bounds[block + 1] = bounds[block] + blockLength(block);
  const shared = shareTeam({
    threads: run.threads,
    workers: grid,
    cores: run.cores,
    group: peers,
  });
  const { channel, first, end } = shared;
  const layout = layOutBlocks(bounds, first, end);
  const all = arrays(layout.bufferLength);
  for (let block = first; block < end; block++) {
    blockOf(layout, all, block).weights.forEach((_, k, weights) => {
      weights[k] = firstWeight(block, k);
    });
  }
  const rows = new Float64Array(new SharedArrayBuffer(8 * grid));
  const { port1, port2 } = new MessageChannel();
  const carried = peers.transferBlocks(channel, port2);
  const started = performance.now();
  const running = threads.slice(0, run.threads).map((thread, index) => {
    const payload = { toy: run, shared, index, layout, rows, all };
    if (index === 0) thread.postMessage({ ...payload, port: port1 } satisfies ToyPayload, [port1]);
    else thread.postMessage(payload satisfies ToyPayload, []);
    return once(thread, 'message');
  });
  await Promise.all(running);
  const milliseconds = performance.now() - started;
  peers.endTransfer();
  await carried;
  const expected = runAlone(run);
  const differences: string[] = [];
  for (let worker = first; worker < end; worker++) {
    if (rows[worker] !== expected.rows[worker]) differences.push(`row ${worker}`);
    const block = blockOf(layout, all, worker);
    for (const name of ['weights', 'marks', 'others'] as const) {
      if (!sameBytes(block[name], expected.blocks[worker][name])) {
        differences.push(`${name} of block ${worker}`);
      }
    }
  }
  const { sent, received } = transferCounter;
  const counted = (counter: number) => channel?.transferCounters[counter] ?? 0;
  return {
    ...run,
    rank,
    differences,
    sent: counted(sent),
    received: counted(received),
    milliseconds,
  };
}

const runs = JSON.parse(process.argv[2]) as ToyRun[];
const most = Math.max(...runs.map(({ threads }) => threads));
const threads = Array.from(
  { length: most },
  () => new Worker(new URL('./toy-thread.ts', import.meta.url)),
);
for (const run of runs) {
  const result = await runHere(run, threads);
  const all = await peers.collect(Buffer.from(JSON.stringify(result)));
  for (const bytes of all) console.log(Buffer.from(bytes).toString());
}
await peers.finalize();
for (const thread of threads) await thread.terminate();
