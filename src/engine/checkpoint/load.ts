import { closeSync } from 'node:fs';
import { DataError } from '../../errors.ts';
import { type CheckpointFile, fill, type Header, open } from './file.ts';
import type { Workers } from './folder.ts';
import {
  bytesPerNumber,
  fillFrom,
  inFile,
  inMemory,
  itemsPerUnit,
  type Layout,
  numbersPerItem,
  type StateArray,
  typeOf,
  unitsOf,
} from './state.ts';

/** The checkpoint of one epoch, as far as a process needs it. */
export interface CheckpointSet {
  /** What all parts have in common; its workers, arrays and seconds are those of one of them. */
  readonly header: Header;
  /** Files that together hold the workers that the process plays. */
  readonly parts: readonly CheckpointFile[];
}

/** Some workers, and the part to take them from. */
interface Piece<Part> {
  readonly part: Part;
  readonly workers: Workers;
}

/** Covers the workers from as few parts as possible; undefined if there is a gap. */
export function coverOf<Part>(
  parts: readonly Part[],
  workersOf: (part: Part) => Workers,
  [first, end]: Workers,
): Piece<Part>[] | undefined {
  const pieces: Piece<Part>[] = [];
  for (let next = first; next < end; ) {
    let best: Piece<Part> | undefined;
    for (const part of parts) {
      const [from, to] = workersOf(part);
      if (from > next || to <= Math.max(next, best?.workers[1] ?? 0)) continue;
      best = { part, workers: [next, to] };
    }
    if (!best) return undefined;
    const to = Math.min(end, best.workers[1]);
    pieces.push({ part: best.part, workers: [next, to] });
    next = to;
  }
  return pieces;
}

/** Puts the numbers of a checkpoint into the arrays of a process, whoever wrote its parts. */
export function loadArrays(
  { parts }: CheckpointSet,
  arrays: readonly StateArray[],
  layout: Layout,
): void {
  const { first, end } = layout;
  const pieces = coverOf(parts, ({ header }) => header.workers, [first, end]);
  if (!pieces) {
    const paths = parts.map(({ path }) => path).join(', ');
    throw new DataError(`${paths}: workers ${first} to ${end - 1} are not all in there`);
  }
  for (const { part, workers } of pieces) loadPiece(part, workers, arrays, layout);
}

function loadPiece(
  part: CheckpointFile,
  workers: Workers,
  arrays: readonly StateArray[],
  layout: Layout,
): void {
  checkArrays(part, workers, arrays, layout);
  const { path, header } = part;
  const file = open(path);
  try {
    let start = part.offset;
    for (const { name, axis, type, length } of header.arrays) {
      const array = arrays.find((other) => other.name === name && other.axis === axis);
      if (array) {
        const [from] = inFile(array, layout, header.workers[0], workers);
        let at = start + from * numbersPerItem(array.values) * bytesPerNumber[type];
        fillFrom(array.values, ...inMemory(array, layout, workers), (room) => {
          fill(file, room, at);
          at += room.length;
        });
      }
      start += length * bytesPerNumber[type];
    }
  } finally {
    closeSync(file);
  }
}

/** Arrays of which these workers have nothing do not matter: who has no rows need not know them. */
function checkArrays(
  { path, header }: CheckpointFile,
  workers: Workers,
  arrays: readonly StateArray[],
  layout: Layout,
): void {
  const counts = ({ axis }: Pick<StateArray, 'axis'>) => unitsOf(axis, layout, workers) > 0;
  const wanted = arrays
    .filter(counts)
    .map((array) => {
      const { name, axis, values } = array;
      const each = itemsPerUnit(array, layout) * numbersPerItem(values);
      return `${name} ${axis} ${typeOf(values)} ${each}`;
    })
    .join(', ');
  const stored = header.arrays
    .filter(counts)
    .map(({ name, axis, type, length }) => {
      const each = length / unitsOf(axis, layout, header.workers);
      return `${name} ${axis} ${type} ${each}`;
    })
    .join(', ');
  if (wanted !== stored) {
    throw new DataError(`${path}: holds other arrays than this run has: ${stored}; not ${wanted}`);
  }
}
