/** Ways to change a checkpoint that a program other than ours, or chance, might find. */
import { formatVersion } from '../../src/engine/checkpoint/file.ts';
import type { Random } from '../../src/math/random.ts';
import {
  arraysOf,
  type Parts,
  putTogether,
  readNumber,
  type StoredArray,
  sealed,
  unsealed,
  writeNumber,
} from './checkpoint-file.ts';
import { chance, pick } from './draw.ts';
import { type Json, otherValue, pathsOf, valueAt, withValue } from './json-forgery.ts';

/** One change, and in words. */
export interface Step {
  readonly words: string;
  readonly apply: (bytes: Buffer, parts: Parts) => Buffer;
}

const onParts = (words: string, change: (parts: Parts) => Parts): Step => ({
  words,
  apply: (_, parts) => putTogether(change(parts), formatVersion),
});

/** `others`: the checkpoints of other epochs and of other runs. */
export function forgery(random: Random, parts: Parts, others: readonly Parts[]): Step[] {
  const count = chance(random, 0.6) ? 1 : 2 + random.below(3);
  const steps = Array.from({ length: count }, () => {
    const kind = random.uniform();
    if (kind < 0.45) return headerStep(random, parts);
    if (kind < 0.85) return payloadStep(random, parts);
    return partsStep(random, parts, others);
  });
  // Bytes come last: behind them there is no header to change any more.
  return chance(random, 0.06) ? [...steps.slice(1), bytesStep(random)] : steps;
}

/** What is behind the identity of the run, which has to be that of the data, for the most part. */
function headerStep(random: Random, { header }: Parts): Step {
  const all = pathsOf(header);
  const saved = all.filter(([key]) => key === 'saved');
  const rest = all.filter(([key]) => key !== 'saved' && key !== 'identity' && key !== 'program');
  const path = pick(random, chance(random, 0.65) ? saved : chance(random, 0.7) ? rest : all);
  const value = valueAt(header, path);
  const other = chance(random, 0.08) ? undefined : otherValue(random, value);
  const shown = (json: Json | undefined) => (JSON.stringify(json) ?? 'nothing').slice(0, 60);
  return onParts(`${path.join('.')}: ${shown(value)} → ${shown(other)}`, (parts) => ({
    ...parts,
    header: withValue(parts.header, path, other),
  }));
}

const doubles = [NaN, Infinity, -Infinity, 1e300, -1e300, 1e8, -1e8, 1, -1, 0, -0, 5e-324, 1e-300];
const integers = [-1, 2 ** 31 - 1, -(2 ** 31), 2 ** 20, 255, 128, 64, 1, 0];

function payloadStep(random: Random, parts: Parts): Step {
  const arrays = arraysOf(parts).filter(({ length }) => length > 0);
  const array = pick(random, arrays);
  const { name, length, type } = array;
  const isReal = type === 'float64';
  const value = pick(random, isReal ? doubles : integers);
  const factor = pick(random, [1.001, 0.999, 2, -1, 1e6]);
  const same = arrays.filter((other) => other.length === length && other.type === type);
  const [at, from, source] = [random.below(length), random.below(length), pick(random, same)];
  const next = (payload: Buffer) => (chosen: number) => readNumber(payload, source, chosen);
  const [words, numberAt] = pick<
    readonly [string, (payload: Buffer) => (index: number) => number | undefined]
  >(random, [
    [`${name}[${at}] = ${value}`, () => (k) => (k === at ? value : undefined)],
    [`${name} = ${value} everywhere`, () => () => value],
    [
      `${name}[${at}] = ${source.name}[${from}]`,
      (payload) => (k) => (k === at ? next(payload)(from) : undefined),
    ],
    [`${name} = ${source.name}`, (payload) => (k) => next(payload)(k)],
    [`${name} rotated by ${at}`, (payload) => (k) => readNumber(payload, array, (k + at) % length)],
    [
      `${name} × ${factor}`,
      (payload) => (k) => (isReal ? factor * readNumber(payload, array, k) : undefined),
    ],
  ]);
  return onParts(words, (given) => ({ ...given, payload: changed(given, array, numberAt) }));
}

function changed(
  { payload }: Parts,
  array: StoredArray,
  numberAt: (payload: Buffer) => (index: number) => number | undefined,
): Buffer {
  const copy = Buffer.from(payload);
  const value = numberAt(payload);
  try {
    for (let k = 0; k < array.length; k++) {
      const other = value(k);
      if (other !== undefined) writeNumber(copy, array, k, other);
    }
  } catch {
    // Another step has put a shorter payload there.
  }
  return copy;
}

function partsStep(random: Random, { payload }: Parts, others: readonly Parts[]): Step {
  const number = random.below(others.length);
  const other = others[number];
  const key = pick(random, ['saved', 'arrays', 'workers', 'grid', 'epoch', 'test', 'tolerance']);
  const keep = random.below(payload.length);
  return pick(random, [
    onParts(`the arrays of checkpoint ${number}`, (parts) => ({
      ...parts,
      payload: other.payload,
    })),
    onParts(`the header of checkpoint ${number}`, (parts) => ({
      ...parts,
      header: other.header,
    })),
    onParts(`${key} of checkpoint ${number}`, (parts) => ({
      ...parts,
      header: withValue(parts.header, [key], valueAt(other.header, [key])),
    })),
    onParts(`cut off after ${keep} bytes of the arrays`, (parts) => ({
      ...parts,
      payload: parts.payload.subarray(0, keep),
    })),
  ]);
}

/** Half of them with the right checksum. */
function bytesStep(random: Random): Step {
  const [share, bit, isSealed] = [random.uniform(), random.below(8), chance(random, 0.5)];
  const seal = isSealed ? sealed : (body: Buffer) => body;
  const at = (bytes: Buffer) => Math.floor(share * bytes.length);
  const flip = (bytes: Buffer) => {
    const copy = Buffer.from(isSealed ? unsealed(bytes) : bytes);
    copy[Math.min(at(bytes), copy.length - 1)] ^= 1 << bit;
    return seal(copy);
  };
  return pick<Step>(random, [
    { words: `bit ${bit} at ${share} of the file, sealed ${isSealed}`, apply: flip },
    { words: `the first ${share} of it`, apply: (bytes) => seal(bytes.subarray(0, at(bytes))) },
    { words: `without the first ${share}`, apply: (bytes) => seal(bytes.subarray(at(bytes))) },
    { words: 'zeros behind it', apply: (bytes) => seal(Buffer.concat([bytes, Buffer.alloc(9)])) },
  ]);
}
