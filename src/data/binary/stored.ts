import { closeSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { scramble } from '../../math/random.ts';
import type { Dataset, DatasetPart } from '../dataset.ts';
import { NameLines, namesOf } from '../read/feature-names.ts';
import { withName } from '../read/line-error.ts';
import { type DataSource, filesOfSource, standardInput, titleOfSource } from '../read/sources.ts';
import { decodeCounts, decodeNames } from './columns.ts';
import {
  CorruptFile,
  isBinary,
  magic,
  type SectionKind,
  type SectionLocation,
  weightedRows,
} from './layout.ts';
import { checkColumns, checkSum, openBinary, totalCount } from './read.ts';
import { decodeRowHeads, decodeRows, headBytes } from './rows.ts';
import { BinaryFile, type BinaryIndex, reusedMemory } from './sections.ts';

/** A file of binary data and what its index says. */
interface StoredFile extends BinaryIndex {
  readonly path: string;
}

/** The sizes of data, known without reading it. */
type StoredShape = Pick<Dataset, 'rows' | 'columns' | 'nonzeros'>;

const nothing = { indices: new Int32Array(0), values: new Float32Array(0) };

/** Whether all files are uncompressed binary data, which can be read again and again in pieces. */
export function isStored(source: DataSource): boolean {
  return filesOfSource(source).every((path) => path !== standardInput && beginsAsBinary(path));
}

function beginsAsBinary(path: string): boolean {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    // The reader of the data reports what is wrong.
    return false;
  }
  try {
    const head = new Uint8Array(magic.length);
    return readSync(file, head, 0, head.length, null) === head.length && isBinary(head);
  } catch {
    return false;
  } finally {
    closeSync(file);
  }
}

export function shapeOfStored(source: DataSource): StoredShape {
  return shapeOf(filesOfSource(source).map(openStored));
}

function shapeOf(files: readonly StoredFile[]): StoredShape {
  const sum = (of: (file: StoredFile) => number) =>
    files.reduce((total, file) => total + of(file), 0);
  return {
    rows: sum(({ totals }) => totals.rows),
    columns: files.reduce((most, { totals }) => Math.max(most, totals.columns), 0),
    nonzeros: sum(({ totals }) => totals.nonzeros),
  };
}

/** A data set whose entries stay in the files: only labels and lengths of rows are read. */
export function openDataset(source: DataSource): Dataset {
  const files = filesOfSource(source).map(openStored);
  const shape = shapeOf(files);
  const featureNames = namesIn(files);
  return {
    name: titleOfSource(source),
    parts: files.flatMap(headsOf),
    ...shape,
    notices: [],
    ...(featureNames && { featureNames }),
    stored: {
      folder: dirname(files[0].path),
      scan: () => scanRows(files),
      countColumns: (columns) => countColumns(files, columns),
    },
  };
}

export function namesOfStored(source: DataSource): readonly string[] | undefined {
  return namesIn(filesOfSource(source).map(openStored));
}

function namesIn(files: readonly StoredFile[]): readonly string[] | undefined {
  const lines = new NameLines();
  for (const stored of files) {
    const { path } = stored;
    openBinary(path, (file) => {
      for (const section of sectionsOf(stored, 'NAME'))
        lines.add(path, decodeNames(section, file.body(section)));
    });
  }
  const found = lines.take();
  return found.length > 0 ? namesOf(found, files[0].path) : undefined;
}

function openStored(path: string): StoredFile {
  return openBinary(path, (file) => ({ path, ...file.readIndex() }));
}

function sectionsOf({ sections }: StoredFile, kind: SectionKind): SectionLocation[] {
  return sections.filter(({ header }) => header.kind === kind);
}

/** Labels, offsets and weights of all rows of a file, on one piece of memory each. */
function headsOf(stored: StoredFile): DatasetPart[] {
  const { path, totals } = stored;
  const labels = new Float64Array(new SharedArrayBuffer(8 * totals.rows));
  const sections = sectionsOf(stored, 'ROWS');
  const offsets = new Int32Array(new SharedArrayBuffer(4 * (totals.rows + sections.length)));
  const weighted = sections.some(({ header }) => (header.flags & weightedRows) !== 0);
  const weights = new Float64Array(new SharedArrayBuffer(weighted ? 8 * totals.rows : 0));
  return openBinary(path, (file) =>
    sections.map((section, number) => {
      const { first, count } = section.header;
      const heads = decodeRowHeads(section, file.body(section, headBytes(section.header)));
      const part = {
        labels: labels.subarray(first, first + count),
        rowOffsets: offsets.subarray(first + number, first + number + count + 1),
        ...nothing,
      };
      part.labels.set(heads.labels);
      part.rowOffsets.set(heads.rowOffsets);
      if (!heads.weights) return part;
      weights.set(heads.weights, first);
      return { ...part, weights: weights.subarray(first, first + count) };
    }),
  );
}

function* scanRows(files: readonly StoredFile[]): Generator<DatasetPart> {
  const reserve = reusedMemory();
  for (const stored of files) {
    const { path, totals } = stored;
    const file = new BinaryFile(path);
    try {
      let found = 0;
      for (const section of sectionsOf(stored, 'ROWS')) {
        const body = file.body(section, section.header.length, reserve);
        const { part, largest } = decodeRows(section, body, false, reserve);
        checkColumns(largest, totals.columns, section.offset);
        found = (found + hashOfEntries(part.indices)) | 0;
        yield part;
      }
      checkCounts(stored, file, found);
    } catch (error) {
      throw withName(path, error, CorruptFile);
    } finally {
      file.close();
    }
  }
}

/** The sum of a hash of the column of every entry, which its counts give as well, in no memory. */
function hashOfEntries(indices: Int32Array): number {
  let sum = 0;
  for (let entry = 0; entry < indices.length; entry += 1)
    sum = (sum + scramble(indices[entry])) | 0;
  return sum;
}

/** The layout on disk relies on the counts: they must be those of the entries. */
function checkCounts(stored: StoredFile, file: BinaryFile, found: number): void {
  let expected = 0;
  for (const section of sectionsOf(stored, 'COLS')) {
    for (const { first, counts } of decodeCounts(section, file.body(section))) {
      for (let k = 0; k < counts.length; k += 1) {
        expected = (expected + Math.imul(counts[k], scramble(first + k))) | 0;
      }
    }
  }
  if (found === expected) return;
  throw new CorruptFile(0, 'the counts of the columns are not those of the entries');
}

function countColumns(files: readonly StoredFile[], columns: number): Int32Array {
  const counts = new Int32Array(new SharedArrayBuffer(4 * columns));
  for (const stored of files) {
    openBinary(stored.path, (file) => {
      let total = 0;
      for (const section of sectionsOf(stored, 'COLS')) {
        const runs = decodeCounts(section, file.body(section));
        total += totalCount(runs);
        for (const { first, counts: run } of runs) {
          checkColumns(first + run.length - 1, stored.totals.columns, section.offset);
          for (let k = 0; k < run.length; k += 1) counts[first + k] += run[k];
        }
      }
      checkSum(total, stored.totals.nonzeros);
    });
  }
  return counts;
}
