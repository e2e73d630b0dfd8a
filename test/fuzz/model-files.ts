import { createHash } from 'node:crypto';
import type { Random } from '../../src/math/random.ts';
import { encodeModel } from '../../src/model/file.ts';
import { sampleClasses } from '../support/models.ts';
import { modelKinds } from '../support/random-models.ts';
import { pick } from './draw.ts';
import { bytesOfText, byteText, few, mutateBytes } from './mutate.ts';

interface Parts {
  header: Record<string, unknown>;
  payload: Uint8Array;
  names: Uint8Array;
}

const separator = '---\n';

/** Files of every kind of model. */
export function modelSeeds(): Uint8Array[] {
  const names = Array.from({ length: 12 }, (_, column) => `feature ${column}`);
  const named = Object.values(modelKinds)
    .slice(0, 4)
    .map((model) => ({ ...model, featureNames: names.slice(0, model.columns) }));
  return [...Object.values(modelKinds), ...named, sampleClasses()].map(encodeModel);
}

function partsOf(bytes: Uint8Array): Parts {
  const text = byteText(bytes);
  const length = Number(/header (\d+)/.exec(text)![1]);
  const start = text.indexOf('\n', text.indexOf('\n') + 1) + 1;
  const header = JSON.parse(Buffer.from(bytes.subarray(start, start + length)).toString());
  const payload = start + length + separator.length;
  const names = payload + header.weights.bytes;
  return { header, payload: bytes.slice(payload, names), names: bytes.slice(names) };
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Bytes and checksums of a section as they are, unless they were forged. */
function fix(section: unknown, bytes: Uint8Array, forged: boolean): void {
  if (typeof section !== 'object' || section === null) return;
  Object.assign(section, { sha256: sha256(bytes) }, forged ? {} : { bytes: bytes.length });
}

function joined(text: string, { payload, names }: Parts): Uint8Array {
  const json = Buffer.from(text);
  const preamble = `dso-model 2\nheader ${json.length} sha256 ${sha256(json)}\n`;
  return Buffer.concat([Buffer.from(preamble), json, Buffer.from(separator), payload, names]);
}

const numbers = [
  0,
  -1,
  1,
  2,
  3,
  1.5,
  -1e-300,
  1e308,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  2 ** 53 + 2,
];
const texts = [
  '',
  '-0',
  'Infinity',
  '-Infinity',
  'NaN',
  '1',
  'a',
  '\u001b[31m',
  '\u202e',
  'x'.repeat(300),
];
const others = [null, true, false, [], {}, [[]], { a: 1 }, [1], ['a', 'a'], [1, 2], ['-0', 0]];
const kinds = [
  'regression',
  'classification',
  'sparse',
  'dense',
  'imported',
  'stream',
  'platt',
  'poisson',
];
const values: readonly unknown[] = [...numbers, ...numbers, ...texts, ...others, ...kinds];

type Node = Record<string, unknown>;

/** Replaces, removes, repeats or adds a value somewhere below a node. */
function changeTree(random: Random, root: Node): void {
  let node = root;
  for (;;) {
    const keys = Object.keys(node);
    if (keys.length === 0) return;
    const key = pick(random, keys);
    const inner = node[key];
    if (typeof inner === 'object' && inner !== null && random.below(4) > 0) {
      node = inner as Node;
      continue;
    }
    const way = random.below(8);
    if (way === 0 && !Array.isArray(node)) delete node[key];
    else if (way === 0) (node as unknown as unknown[]).pop();
    else if (way === 1 && Array.isArray(node)) node.push(structuredClone(inner));
    else if (way === 2)
      node[pick(random, ['columns', 'multiLabel', 'classes', '__proto__', 'hashBits'])] = pick(
        random,
        values,
      );
    else node[key] = structuredClone(pick(random, values));
    return;
  }
}

const words = [
  0n,
  0x7ff0n << 48n,
  0xfff0n << 48n,
  0x7ff8n << 48n,
  0x8000n << 48n,
  1n,
  0x7fefn << 48n,
  0xffff_ffffn,
];

/** A word of eight or four bytes becomes another number. */
export function changeWord(random: Random, bytes: Uint8Array): Uint8Array {
  if (bytes.length < 8) return bytes;
  const changed = bytes.slice();
  const view = new DataView(changed.buffer);
  if (random.below(2) === 0) {
    view.setBigUint64(8 * random.below(bytes.length >> 3), pick(random, words), true);
  } else view.setInt32(4 * random.below(bytes.length >> 2), pick(random, numbers), true);
  return changed;
}

/** A forged model file; most have the right checksums, and lengths. */
export function forgedModel(random: Random, seeds: readonly Uint8Array[]): Uint8Array {
  const seed = pick(random, seeds);
  const other = pick(random, seeds);
  const way = random.below(64);
  if (way === 0) return seed;
  if (way < 4) return mutateBytes(random, seed, other);
  const parts = partsOf(seed);
  const { header } = parts;
  let areSizesForged = false;
  for (let count = few(random); count > 0; count -= 1) {
    const what = random.below(8);
    if (what < 5) changeTree(random, header);
    else if (what === 5) parts.payload = changeWord(random, parts.payload);
    else if (what === 6) parts.payload = mutateBytes(random, parts.payload, partsOf(other).payload);
    else if (random.below(4) === 0) areSizesForged = true;
    else parts.names = mutateBytes(random, parts.names, bytesOfText('"a"\n"b\\u001b"\n[1]\n'));
  }
  fix(header.weights, parts.payload, areSizesForged);
  fix(header.featureNames, parts.names, areSizesForged);
  let text = `${JSON.stringify(header, null, 2)}\n`;
  // What no value of JSON.parse can be: keys twice, numbers beyond all, other text.
  if (random.below(8) === 0) text = text.replace(/\d+/, '1e999');
  if (random.below(8) === 0) text = text.replace('"columns"', '"columns": 7,\n"columns"');
  if (random.below(16) === 0) text = byteText(mutateBytes(random, bytesOfText(text), other));
  return joined(text, parts);
}
