import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { compressionOf, decompress } from '../../data/read/byte-blocks.ts';
import { DataError, UsageError } from '../../errors.ts';
import { importModel } from '../../export/import.ts';
import { writeModel } from '../../model/file.ts';
import type { Model } from '../../model/model.ts';
import { vectorCount } from '../../model/model.ts';
import { plural } from '../../reporting/format.ts';
import type { ImportFlags } from '../definitions/import.ts';
import { exitCodes } from '../exit-codes.ts';
import { checkOutput, standardStream } from '../outputs.ts';
import type { Terminal } from '../terminal.ts';

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
    terminal.say(`${terminal.colours.bold(target)}: ${describe(model)}`);
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

function describe(model: Model): string {
  const { classes } = model;
  const kind = classes === undefined ? 'regression' : `${classes.length} classes`;
  const vectors = vectorCount(model);
  const size = plural(model.columns, 'column');
  return `${kind}, ${model.loss.name} loss, ${size}${vectors > 1 ? ` × ${vectors} vectors` : ''}`;
}
