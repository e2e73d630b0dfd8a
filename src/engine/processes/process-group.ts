import { availableParallelism, hostname } from 'node:os';
import type { MessagePort } from 'node:worker_threads';
import type { CommChannel } from './comm-channel.ts';

/** The processes that train together. All of them call the same methods in the same order. */
export interface ProcessGroup {
  readonly rank: number;
  readonly size: number;
  readonly hosts: readonly string[];
  /** Whether this process reports for all of them and has the model: rank 0. */
  readonly leads: boolean;
  /** How to name a rank in a message. */
  nameOf(rank: number): string;
  /** Every process's bytes, by rank. */
  gather(bytes: Uint8Array): Promise<Uint8Array[]>;
  /** outgoing[r] goes to rank r; returns what each rank sent here. */
  exchange(outgoing: readonly Uint8Array[]): Promise<Uint8Array[]>;
  /** Every process's bytes, by rank, to rank 0; the others get none. */
  collect(bytes: Uint8Array): Promise<Uint8Array[]>;
  /** The bytes of rank 0, to all; the argument of the others is ignored. */
  broadcast(bytes: Uint8Array | undefined): Promise<Uint8Array>;
  /**
   * Transfers blocks and sums for threads that train; `port` is the other end of the ring's.
   * Resolves when endTransfer() has been called in every process and all has arrived.
   */
  transferBlocks(channel: CommChannel | undefined, port: MessagePort): Promise<void>;
  endTransfer(): void;
}

/** A single process. Several runs may train in parallel, since nothing is transferred. */
export const singleProcess: ProcessGroup = {
  rank: 0,
  size: 1,
  hosts: [hostname()],
  leads: true,
  nameOf: () => `process ${process.pid}`,
  gather: async (bytes) => [bytes],
  exchange: async (outgoing) => [...outgoing],
  collect: async (bytes) => [bytes],
  broadcast: async (bytes = new Uint8Array(0)) => bytes,
  transferBlocks: async () => {},
  endTransfer() {},
};

/** Cores for each of the processes that share this one's host. */
export function fairCores({ hosts, rank }: Pick<ProcessGroup, 'rank' | 'hosts'>): number {
  const sharing = hosts.filter((host) => host === hosts[rank]).length;
  return Math.max(1, Math.floor(availableParallelism() / sharing));
}

function bytesOf({ buffer, byteOffset, byteLength }: Int32Array | Float64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function numbersOf<Numbers>(
  type: new (buffer: ArrayBufferLike, offset: number, length: number) => Numbers,
  bytesPerNumber: number,
  bytes: Uint8Array,
): Numbers {
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
  return new type(buffer, byteOffset, byteLength / bytesPerNumber);
}

const float64Of = (bytes: Uint8Array) => numbersOf(Float64Array, 8, bytes);
const int32Of = (bytes: Uint8Array) => numbersOf(Int32Array, 4, bytes);

/** Every process's value, by rank. */
export async function gatherValues<Value>(group: ProcessGroup, value: Value): Promise<Value[]> {
  if (group.size === 1) return [value];
  const texts = await group.gather(Buffer.from(JSON.stringify(value)));
  return texts.map((text) => JSON.parse(Buffer.from(text).toString()) as Value);
}

/** Every process's numbers, one after the other. */
export async function gatherNumbers(group: ProcessGroup, numbers: Int32Array): Promise<Int32Array> {
  const pieces = (await group.gather(bytesOf(numbers))).map(int32Of);
  if (pieces.length === 1) return pieces[0];
  const joined = new Int32Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

export async function gatherFloats(
  group: ProcessGroup,
  numbers: Float64Array,
): Promise<Float64Array[]> {
  return (await group.gather(bytesOf(numbers))).map(float64Of);
}

/** The sums over all processes, item by item; each process adds up one range of the items. */
export async function sumNumbers(group: ProcessGroup, numbers: Int32Array): Promise<Int32Array> {
  const { size, rank } = group;
  if (size === 1) return numbers;
  const bound = (r: number) => Math.floor((r * numbers.length) / size);
  const ranges = Array.from({ length: size }, (_, r) =>
    bytesOf(numbers.subarray(bound(r), bound(r + 1))),
  );
  const received = (await group.exchange(ranges)).map(int32Of);
  const sums = new Int32Array(received[rank].length);
  for (const piece of received) for (let k = 0; k < sums.length; k++) sums[k] += piece[k];
  return gatherNumbers(group, sums);
}

export async function collectNumbers(
  group: ProcessGroup,
  numbers: Float64Array,
): Promise<Float64Array[]> {
  return (await group.collect(bytesOf(numbers))).map(float64Of);
}

export async function broadcastNumbers(
  group: ProcessGroup,
  numbers: Float64Array | undefined,
): Promise<Float64Array> {
  return float64Of(await group.broadcast(numbers && bytesOf(numbers)));
}
