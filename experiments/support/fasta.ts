import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DataError } from '../../src/errors.ts';
import type { Sequences } from './sequences.ts';

/** Node has no decoder for bzip2; every system has a program for it. */
async function bunzip(path: string): Promise<Buffer> {
  const child = spawn('bzip2', ['-dc', path], { stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  let message = '';
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => {
    message += chunk.toString();
  });
  try {
    const [code] = await once(child, 'close');
    if (code === 0) return Buffer.concat(chunks);
  } catch (error) {
    throw new DataError(
      `${path}: reading it takes the program bzip2, which is not installed ` +
        '(Debian: apt install bzip2; macOS has it); or decompress the file yourself',
      { cause: error },
    );
  }
  throw new DataError(`${path}: ${message.trim()}`);
}

function readPlain(path: string): Buffer {
  const bytes = readFileSync(path);
  return path.endsWith('.gz') ? gunzipSync(bytes) : bytes;
}

/** Reads FASTA text whose header lines say `label=1` or `label=-1`; .gz and .bz2 too. */
export async function readFasta(path: string): Promise<Sequences> {
  const bytes = path.endsWith('.bz2') ? await bunzip(path) : readPlain(path);
  return parseFasta(bytes, basename(path));
}

const newline = 10;
const carriageReturn = 13;
const headerMark = '>'.charCodeAt(0);

/** A sequence may span lines; all must be equally long. */
export function parseFasta(bytes: Uint8Array, name: string): Sequences {
  const labels: number[] = [];
  const letters = new Uint8Array(bytes.length);
  let filled = 0;
  let length = -1;
  const finish = (line: number) => {
    if (labels.length === 0) return;
    if (length < 0) length = filled;
    const found = filled - (labels.length - 1) * length;
    if (found === length && length > 0) return;
    throw new DataError(
      `${name}: the sequence that ends before line ${line} has ${found} letters; ` +
        `expected ${length > 0 ? `${length}, as in the first` : 'at least one'}`,
    );
  };
  let line = 0;
  for (let from = 0; from < bytes.length; ) {
    let to = bytes.indexOf(newline, from);
    if (to < 0) to = bytes.length;
    line += 1;
    const last = bytes[to - 1] === carriageReturn ? to - 1 : to;
    if (bytes[from] === headerMark) {
      finish(line);
      labels.push(labelOf(bytes.subarray(from, last), name, line));
    } else if (last > from) {
      if (labels.length === 0) throw new DataError(`${name}: line ${line} has no header before it`);
      letters.set(bytes.subarray(from, last), filled);
      filled += last - from;
    }
    from = to + 1;
  }
  finish(line + 1);
  if (labels.length === 0) throw new DataError(`${name}: no sequence; expected FASTA text`);
  return {
    name,
    length,
    labels: Float64Array.from(labels),
    letters: letters.slice(0, filled),
  };
}

function labelOf(header: Uint8Array, name: string, line: number): number {
  const text = Buffer.from(header).toString('latin1');
  const found = /\blabel=([+-]?1)\b/.exec(text);
  if (found) return Number(found[1]);
  throw new DataError(`${name}: line ${line} is '${text}'; expected label=1 or label=-1 in it`);
}
