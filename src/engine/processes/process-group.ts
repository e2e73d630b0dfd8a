import { availableParallelism } from 'node:os';
import type { MessagePort } from 'node:worker_threads';
import type { Traffic } from '../../parallel/traffic.ts';

/** The processes of a job as training sees them; src/mpi/peers.ts makes one of them by MPI. */
export interface Company {
  readonly rank: number;
  readonly size: number;
  /** Names of the hosts, by rank. */
  readonly hosts: readonly string[];
  /** Every process's bytes, by rank. */
  gather(bytes: Uint8Array): Promise<Uint8Array[]>;
  /** outgoing[r] goes to rank r; returns what each rank sent here. */
  exchange(outgoing: readonly Uint8Array[]): Promise<Uint8Array[]>;
  /** Every process's bytes, by rank, to rank 0 alone; the others get none. */
  collect(bytes: Uint8Array): Promise<Uint8Array[]>;
  /** The bytes of rank 0, to everybody. */
  broadcast(bytes: Uint8Array | undefined): Promise<Uint8Array>;
  /** Carries blocks for threads that train, until endCarrying() is called in every process. */
  carry(traffic: Traffic, port: MessagePort): Promise<void>;
  endCarrying(): void;
}

/** Cores for each of the processes that share this one's host. */
export function fairCores(company: Pick<Company, 'rank' | 'hosts'> | undefined): number {
  const all = availableParallelism();
  if (!company) return all;
  const { hosts, rank } = company;
  return Math.max(1, Math.floor(all / hosts.filter((host) => host === hosts[rank]).length));
}

function bytesOf(array: Int32Array | Float64Array | Uint32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

function aligned(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
}

function float64Of(bytes: Uint8Array): Float64Array {
  const { buffer, byteOffset, byteLength } = aligned(bytes);
  return new Float64Array(buffer, byteOffset, byteLength / 8);
}

function int32Of(bytes: Uint8Array): Int32Array {
  const { buffer, byteOffset, byteLength } = aligned(bytes);
  return new Int32Array(buffer, byteOffset, byteLength / 4);
}

/** What every process has to say, by rank. */
export async function gatherValues<Value>(
  company: Company | undefined,
  value: Value,
): Promise<Value[]> {
  if (!company) return [value];
  const texts = await company.gather(Buffer.from(JSON.stringify(value)));
  return texts.map((text) => JSON.parse(Buffer.from(text).toString()) as Value);
}

/** Every process's numbers, one behind the other. */
export async function gatherNumbers(company: Company, numbers: Int32Array): Promise<Int32Array> {
  return joinedInt32((await company.gather(bytesOf(numbers))).map(int32Of));
}

/** Every process's numbers, by rank. */
export async function gatherFloats(
  company: Company,
  numbers: Float64Array,
): Promise<Float64Array[]> {
  return (await company.gather(bytesOf(numbers))).map(float64Of);
}

function joinedInt32(pieces: readonly Int32Array[]): Int32Array {
  const joined = new Int32Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

/**
 * The sums of all processes' numbers, place by place. Each process adds up one stretch of places,
 * so that none ever holds more than twice the numbers.
 */
export async function sumNumbers(company: Company, numbers: Int32Array): Promise<Int32Array> {
  const { size } = company;
  const bound = (rank: number) => Math.floor((rank * numbers.length) / size);
  const stretches = Array.from({ length: size }, (_, rank) =>
    bytesOf(numbers.subarray(bound(rank), bound(rank + 1))),
  );
  const received = (await company.exchange(stretches)).map(int32Of);
  const sums = new Int32Array(received[company.rank].length);
  for (const piece of received) for (let k = 0; k < sums.length; k++) sums[k] += piece[k];
  return gatherNumbers(company, sums);
}

/** Every process's numbers at rank 0, by rank. */
export async function collectNumbers(
  company: Company,
  numbers: Float64Array,
): Promise<Float64Array[]> {
  return (await company.collect(bytesOf(numbers))).map(float64Of);
}

/** Rank 0's numbers, everywhere. */
export async function broadcastNumbers(
  company: Company,
  numbers: Float64Array | undefined,
): Promise<Float64Array> {
  return float64Of(await company.broadcast(numbers && bytesOf(numbers)));
}
