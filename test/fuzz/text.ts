import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect, isDeepStrictEqual } from 'node:util';
import zlib from 'node:zlib';
import { BinaryWriter } from '../../src/data/binary/writer.ts';
import type { Dataset } from '../../src/data/dataset.ts';
import { nameLines } from '../../src/data/read/feature-names.ts';
import type { ReadOptions } from '../../src/data/read/pieces.ts';
import { readDataset } from '../../src/data/read/read.ts';
import { type LibsvmOptions, parseLibsvm } from '../../src/data/text/libsvm.ts';
import { readLibsvm } from '../../src/data/text/libsvm-reader.ts';
import { TextWriter } from '../../src/data/text/write.ts';
import type { OutputFile } from '../../src/files.ts';
import { type Random, stream } from '../../src/math/random.ts';
import { outcomeOf } from '../support/libsvm-twins.ts';
import {
  checkDataset,
  contentOf,
  difference,
  Fault,
  messageOf,
  type Read,
  readInMemory,
  readOrMessage,
} from './datasets.ts';
import { pick } from './draw.ts';
import { minimize } from './minimize.ts';
import { mutateBytes } from './mutate.ts';
import { type Attack, Counts, type Failure, type Target } from './target.ts';
import { type TextCase, TextCases } from './text-cases.ts';

/** Bytes of a block: enough for all inputs but those of many long lines. */
const oneBlock = 1 << 12;

/** What is done with an input besides reading it once. */
type Way = 'blocks' | 'ranges' | 'compressed' | 'libsvm' | 'dsob' | 'like';

/** How often, of 64. Files, decoders and large buffers take their time. */
const ways: readonly (readonly [Way, number])[] = [
  ['blocks', 44],
  ['libsvm', 6],
  ['like', 11],
  ['ranges', 1],
  ['compressed', 1],
  ['dsob', 1],
];

function wayOf(random: Random): Way {
  let drawn = random.below(64);
  for (const [way, share] of ways) {
    if (drawn < share) return way;
    drawn -= share;
  }
  return 'blocks';
}

/** Numbers that decide the rest of what is done, so that smaller inputs get the same. */
interface Draws {
  readonly chunks: readonly number[];
  readonly blockSize: number;
  /** A whole stream or a damaged one. */
  readonly compression: 'gz' | 'zst';
  readonly damage: ((bytes: Uint8Array) => Uint8Array) | undefined;
}

function drawsOf(random: Random, other: Uint8Array): Draws {
  const length = () => 1 + random.below(pick(random, [4, 40, 400]));
  const isDamaged = random.below(4) > 0;
  const seed = random.nextUint32();
  return {
    chunks: [length(), length(), length()],
    blockSize: 1 + random.below(pick(random, [2, 16, 128])),
    compression: random.below(2) === 0 ? 'gz' : 'zst',
    damage: isDamaged ? (bytes) => mutateBytes(stream(seed, 0), bytes, other) : undefined,
  };
}

const whole = (options: ReadOptions): ReadOptions => ({ ...options, blockSize: oneBlock });

function textOf(read: Read): string {
  return 'dataset' in read ? contentOf(read.dataset) : read.message;
}

/** Faults that are not in one line. */
const ofTheFile =
  /: (no data|no rows|no key called|two columns|its checksum|the feature "|row \d+: the values of one feature|the (gzip|zstd) data ends|damaged (gzip|zstd)|not (gzip|zstd) data|byte \d+: |Parquet |its columns have|(label|weight) \d+: keys|label ".*" is not a number; \.dsob|no column )/;

function checkMessage(message: string, { name, bytes }: TextCase): void {
  if (!message.includes(name)) throw new Fault('a message without the file', message);
  const line = new RegExp(`^${name}(?:\\.\\w+)?:(\\d+): `).exec(message)?.[1];
  if (line === undefined) {
    if (!ofTheFile.test(message) && !message.startsWith('--')) {
      throw new Fault('a message without the line', message);
    }
    return;
  }
  const lines = bytes.reduce((sum, byte) => sum + Number(byte === 10), 1);
  if (Number(line) < 1 || Number(line) > lines)
    throw new Fault('a line that is not there', message);
}

function checkSame(one: string, other: string, what: string): void {
  if (one !== other)
    throw new Fault(`another result ${what}`, `${what}: ${difference(one, other)}`);
}

/** LIBSVM text is read by two parsers. */
function checkTwins(bytes: Uint8Array, options: LibsvmOptions): void {
  const [ours, theirs] = [readLibsvm, parseLibsvm].map((parse) =>
    outcomeOf(() => parse(bytes, options)),
  );
  if (!isDeepStrictEqual(ours, theirs)) {
    const text = `${inspect(ours)}, plain: ${inspect(theirs)}`;
    throw new Fault('another result of the plain parser', text);
  }
}

function inMemory(): { readonly file: OutputFile; bytes(): Uint8Array } {
  const chunks: Uint8Array[] = [];
  const write = async (data: string | Uint8Array) => void chunks.push(Buffer.from(data));
  return { file: { write }, bytes: () => new Uint8Array(Buffer.concat(chunks)) };
}

/** Data that LIBSVM text can hold comes back with the same bits. */
async function writeAndRead(dataset: Dataset): Promise<void> {
  const { labelNames, parts, columns } = dataset;
  const isPlain = parts.every(({ weights, labels }) => !weights && labels.every(Number.isFinite));
  if (labelNames || !isPlain) return;
  const { file, bytes } = inMemory();
  const writer = new TextWriter(file, { zeroBased: true });
  for (const part of parts) await writer.add(part);
  await writer.finish(columns);
  const again = await readInMemory(bytes(), 'again.svm', whole({ zeroBased: true }));
  const numbered = contentOf({ ...dataset, ...numbersOnly });
  checkSame(numbered, contentOf({ ...again, ...numbersOnly }), 'after writing LIBSVM text');
}

const numbersOnly = { featureNames: [], recipe: {}, notices: [] };

async function packAndRead(dataset: Dataset): Promise<void> {
  const { labelNames, parts, columns, featureNames = [] } = dataset;
  if (labelNames || !parts.every(({ labels }) => labels.every(Number.isFinite))) return;
  const { file, bytes } = inMemory();
  const writer = new BinaryWriter(file, { pack: true });
  for (const part of parts) await writer.add(part);
  try {
    for (const lines of nameLines(featureNames)) await writer.addNames(lines);
  } catch (error) {
    // Names with line ends are refused.
    messageOf(error);
    return;
  }
  await writer.finish(columns);
  const again = await readInMemory(bytes(), 'again.dsob', {}, [999]);
  const same = { recipe: {}, notices: [], featureNames };
  const stored = { ...again, ...same, featureNames: again.featureNames ?? [] };
  checkSame(contentOf({ ...dataset, ...same }), contentOf(stored), 'after writing .dsob');
}

class TextAttack implements Attack {
  readonly counts = new Counts();
  readonly #cases = new TextCases();
  readonly #folder: string;
  readonly #depth = Error.stackTraceLimit;
  #files = 0;

  constructor(folder: string) {
    this.#folder = folder;
    // Most inputs end with an error, and a stack takes longer than the rest.
    Error.stackTraceLimit = 2;
  }

  async close(): Promise<void> {
    Error.stackTraceLimit = this.#depth;
  }

  async attempt(random: Random): Promise<Failure | undefined> {
    const input = this.#cases.next(random);
    const way = wayOf(random);
    const draws = drawsOf(random, input.bytes);
    const fault = await this.#faultOf(input, way, draws, true);
    return fault && this.#failure(fault, input, way, draws);
  }

  async #faultOf(
    input: TextCase,
    way: Way,
    draws: Draws,
    counted = false,
  ): Promise<Fault | undefined> {
    try {
      const outcome = await this.#try(input, way, draws);
      if (counted) this.counts.add(`${input.format} ${outcome}`);
      return undefined;
    } catch (error) {
      if (error instanceof Fault) return error;
      throw error;
    }
  }

  async #try(input: TextCase, way: Way, draws: Draws): Promise<'accepted' | 'refused'> {
    const { bytes, name, options } = input;
    const read = await readOrMessage(() => readInMemory(bytes, name, whole(options)));
    if (input.format === 'libsvm') checkTwins(bytes, options);
    if ('message' in read) checkMessage(read.message, input);
    else checkDataset(read.dataset, options.textLabels === true);
    if (way === 'blocks') await this.#inBlocks(input, draws, read);
    else if (way === 'ranges') await this.#inRanges(input, draws, read);
    else if (way === 'compressed') await this.#compressed(input, draws, read);
    else if ('dataset' in read) {
      const { dataset } = read;
      if (way === 'libsvm') await writeAndRead(dataset);
      else if (way === 'dsob') await packAndRead(dataset);
      else await this.#alike(input, dataset);
    }
    return 'dataset' in read ? 'accepted' : 'refused';
  }

  async #inBlocks({ bytes, name, options }: TextCase, draws: Draws, read: Read): Promise<void> {
    const { chunks, blockSize } = draws;
    const cut = await readOrMessage(() =>
      readInMemory(bytes, name, { ...options, blockSize }, chunks),
    );
    checkSame(textOf(read), textOf(cut), `in blocks of ${blockSize} bytes`);
  }

  /** From a file, in ranges of bytes. */
  async #inRanges({ bytes, name, options }: TextCase, draws: Draws, read: Read): Promise<void> {
    const { blockSize } = draws;
    const path = join(this.#folder, name);
    writeFileSync(path, bytes);
    const ranges = await readOrMessage(() => readDataset(path, { ...options, blockSize }));
    const found = textOf(ranges).replaceAll(path, name);
    checkSame(textOf(read), found, `from a file in ranges of ${blockSize} bytes`);
  }

  async #compressed(input: TextCase, draws: Draws, read: Read): Promise<void> {
    const { compression, damage, chunks } = draws;
    const compress = compression === 'gz' ? zlib.gzipSync : zlib.zstdCompressSync;
    const packed = new Uint8Array(compress(input.bytes));
    const name = `${input.name}.${compression}`;
    const options = whole(input.options);
    const unpacked = await readOrMessage(() =>
      readInMemory(damage ? damage(packed) : packed, name, options, chunks),
    );
    if ('message' in unpacked) checkMessage(unpacked.message, { ...input, name });
    else checkDataset(unpacked.dataset, options.textLabels === true);
    if (!damage)
      checkSame(textOf(read), textOf(unpacked).replaceAll(name, input.name), 'compressed');
  }

  /** The same data, as data to be scored: whatever it is, it means the same. */
  async #alike({ bytes, name, options }: TextCase, dataset: Dataset): Promise<void> {
    const { labelNames, featureNames, recipe } = dataset;
    const like = {
      ...(labelNames && { labelNames }),
      ...(featureNames && { featureNames }),
      ...(recipe && { recipe }),
    };
    const { hashBits: _, ...others } = options;
    const read = await readOrMessage(() =>
      readInMemory(bytes, name, whole({ ...others, like, labelled: false })),
    );
    if ('message' in read) throw new Fault('refused as data to be scored', read.message);
    checkDataset(read.dataset, true);
    const plain = { recipe: {}, notices: [] };
    const [one, other] = [dataset, read.dataset].map((data) => contentOf({ ...data, ...plain }));
    checkSame(one, other, 'as data to be scored');
  }

  async #failure(fault: Fault, input: TextCase, way: Way, draws: Draws): Promise<Failure> {
    const bytes = await minimize(input.bytes, async (smaller) => {
      const found = await this.#faultOf({ ...input, bytes: smaller }, way, draws);
      return found?.kind === fault.kind;
    });
    const last = await this.#faultOf({ ...input, bytes }, way, draws);
    const { message } = last ?? fault;
    const { name, flags } = input;
    const path = join(this.#folder, `${this.#files++}-${name}`);
    writeFileSync(path, bytes);
    return { what: `${way}: ${message}`, command: `dso describe ${path} ${flags}`.trimEnd() };
  }
}

export const text: Target = {
  summary: 'text of every format, damaged in its own terms',
  quick: 15_000,
  mostSeconds: 60,
  open: async (folder) => new TextAttack(folder),
};
