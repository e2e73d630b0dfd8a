/** A checkpoint file taken apart and put together again, whatever it holds then. */
import { createHash } from 'node:crypto';
import { bytesPerNumber, type NumberType } from '../../src/engine/checkpoint/state.ts';
import type { Json } from './json-forgery.ts';

export interface Parts {
  readonly header: Json;
  readonly payload: Buffer;
}

/** An array of numbers in the payload, as the header has it when it is intact. */
export interface StoredArray {
  readonly name: string;
  readonly type: NumberType;
  readonly length: number;
  /** Where it begins in the payload. */
  readonly start: number;
}

const separator = '---\n';
const digestBytes = 32;

export function takeApart(bytes: Buffer): Parts {
  const start = bytes.subarray(0, 64).toString('latin1');
  const [preamble, length] = /^dso-checkpoint \d+\nheader (\d+)\n/.exec(start) as string[];
  const end = preamble.length + Number(length);
  const header = JSON.parse(bytes.subarray(preamble.length, end).toString()) as Json;
  return { header, payload: bytes.subarray(end + separator.length, -digestBytes) };
}

/** With the right checksum. */
export function putTogether({ header, payload }: Parts, version: number): Buffer {
  const text = `${JSON.stringify(header)}\n`;
  const head = `dso-checkpoint ${version}\nheader ${Buffer.byteLength(text)}\n${text}${separator}`;
  return sealed(Buffer.concat([Buffer.from(head), payload]));
}

export function sealed(body: Buffer): Buffer {
  return Buffer.concat([body, createHash('sha256').update(body).digest()]);
}

export function unsealed(bytes: Buffer): Buffer {
  return bytes.subarray(0, -digestBytes);
}

export function arraysOf({ header }: Parts): StoredArray[] {
  const { arrays } = header as unknown as { arrays: Omit<StoredArray, 'start'>[] };
  let start = 0;
  return arrays.map(({ name, type, length }) => {
    const array = { name, type, length, start };
    start += length * bytesPerNumber[type];
    return array;
  });
}

export function readNumber(payload: Buffer, { type, start }: StoredArray, index: number): number {
  const at = start + index * bytesPerNumber[type];
  if (type === 'float64') return payload.readDoubleLE(at);
  return type === 'int32' ? payload.readInt32LE(at) : payload.readUInt8(at);
}

export function writeNumber(
  payload: Buffer,
  { type, start }: StoredArray,
  index: number,
  value: number,
): void {
  const at = start + index * bytesPerNumber[type];
  if (type === 'float64') payload.writeDoubleLE(value, at);
  else if (type === 'int32') payload.writeInt32LE(value | 0, at);
  else payload.writeUInt8(value & 255, at);
}
