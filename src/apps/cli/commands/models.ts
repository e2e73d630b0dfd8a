import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { compressionOf, decompress } from '../../../data/read/byte-blocks.ts';
import { DataError, UsageError } from '../../../errors.ts';
import { writeAtomically } from '../../../files.ts';
import { exportNotices, exportPieces, importModel } from '../../../model/export/index.ts';
import { readModel, writeModel } from '../../../model/file.ts';
import { summarizeWeights } from '../../../model/metrics/weight-summary.ts';
import { type Model, vectorCount } from '../../../model/model.ts';
import { plural } from '../../../reporting/format.ts';
import {
  type ClassPlace,
  describeAllFeatures,
  describeClasses,
  describeFeatures,
  describeModel,
  type FeatureOptions,
  findClass,
  sharesVector,
  summarizeVector,
  topFeatures,
} from '../../../reporting/text/model.ts';
import type { ExportFlags, ImportFlags, InspectFlags } from '../options.ts';
import { checkOutput, checkStandardInput, readLines, standardStream } from '../reading.ts';
import { exitCodes, type Terminal } from '../terminal.ts';

export async function exportCommand(
  path: string,
  flags: ExportFlags,
  terminal: Terminal,
): Promise<number> {
  const target = flags.output ?? standardStream;
  checkOutput('--output', target, [path]);
  const { stdout } = terminal.io;
  if (flags.to === 'onnx' && target === standardStream && stdout.isTTY) {
    throw new UsageError('--to onnx gives binary data, not for a terminal: write it with -o FILE');
  }
  const model = await readModel(path);
  const pieces = exportPieces(model, flags.to);
  if (target === standardStream) await printPieces(pieces, terminal);
  else {
    await writeAtomically(target, async (file) => {
      for (const piece of pieces) await file.write(piece);
    });
  }
  if (!flags.quiet) {
    for (const notice of exportNotices(model, flags.to)) terminal.say(`note: ${notice}`);
  }
  return exitCodes.done;
}

async function printPieces(
  pieces: Iterable<Uint8Array | string>,
  terminal: Terminal,
): Promise<void> {
  for (const piece of pieces) {
    if (terminal.outputClosed) return;
    if (typeof piece === 'string') await terminal.print(piece);
    else {
      await new Promise<void>((resolve, reject) => {
        terminal.io.stdout.write(piece, (error) => (error ? reject(error) : resolve()));
      });
    }
  }
}

export async function importCommand(
  path: string,
  flags: ImportFlags,
  terminal: Terminal,
): Promise<number> {
  const target = flags.output ?? defaultOutput(path);
  checkOutput('--output', target, [path]);
  const name = path === standardStream ? 'standard input' : path;
  const model = importModel(await readBytes(path, name), name);
  await writeModel(target, model);
  if (!flags.quiet && target !== standardStream) {
    terminal.say(`${terminal.colours.bold(target)}: ${describeImported(model)}`);
  }
  return exitCodes.done;
}

/** `models/a.liblinear` → `a.liblinear.model` in the current folder. */
function defaultOutput(path: string): string {
  if (path !== standardStream) return `${basename(path)}.model`;
  throw new UsageError('a model from standard input has no name: give it one with -o MODEL');
}

async function readBytes(path: string, name: string): Promise<Uint8Array> {
  try {
    const source = path === standardStream ? process.stdin : createReadStream(path);
    const packed = await collect(source);
    return await collect(decompress(once(packed), compressionOf(packed, name), name));
  } catch (cause) {
    if (cause instanceof DataError) throw cause;
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new DataError(`${name}: ${code === 'ENOENT' ? 'no such file' : message}`, { cause });
  }
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const collected: Uint8Array[] = [];
  for await (const chunk of chunks) collected.push(chunk);
  return Buffer.concat(collected);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function describeImported(model: Model): string {
  const { classes } = model;
  const kind = classes === undefined ? 'regression' : `${classes.length} classes`;
  const vectors = vectorCount(model);
  const size = plural(model.columns, 'column');
  return `${kind}, ${model.loss.name} loss, ${size}${vectors > 1 ? ` × ${vectors} vectors` : ''}`;
}

export async function inspectCommand(
  path: string,
  flags: InspectFlags,
  terminal: Terminal,
): Promise<number> {
  checkStandardInput([path, flags.names]);
  const model = await readModel(path);
  const place = flags.class === undefined ? undefined : findClass(model, flags.class);
  const options: FeatureOptions = {
    top: flags.top,
    names: flags.names === undefined ? (model.featureNames ?? []) : await readLines(flags.names),
    firstFeature: flags.zeroBased ? 0 : 1,
  };
  const text = flags.json
    ? JSON.stringify(inspection(model, place, options))
    : describeInspected(model, place, options, terminal);
  await terminal.print(`${text}\n`);
  return exitCodes.done;
}

/** Everything about the model but its single weights, of which the largest are told. */
function inspection(model: Model, place: ClassPlace | undefined, options: FeatureOptions): object {
  const { weights, featureNames: _names, intercepts: _intercepts, ...description } = model;
  const all = Array.from({ length: vectorCount(model) }, (_, vector) => vector);
  const vectors = all
    .filter((vector) => place === undefined || vector === place.vector)
    .map((vector) => ({
      ...summarizeVector(model, vector),
      positive: topFeatures(model, vector, 'positive', options),
      negative: topFeatures(model, vector, 'negative', options),
    }));
  return { ...description, weights: summarizeWeights(weights), vectors };
}

function describeInspected(
  model: Model,
  place: ClassPlace | undefined,
  options: FeatureOptions,
  terminal: Terminal,
): string {
  const parts =
    sharesVector(model) || place
      ? [describeModel(model), describeFeatures(model, place, options, terminal.outputColours)]
      : [describeModel(model), describeClasses(model), describeAllFeatures(model, options)];
  return parts.filter((part) => part !== '').join('\n\n');
}
