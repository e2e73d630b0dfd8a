import type { DatasetPart } from '../dataset.ts';
import { BinaryFile } from './file.ts';
import { Damage } from './layout.ts';
import type { SectionPlace } from './sections.ts';

export interface SectionPayload {
  readonly path: string;
  readonly place: SectionPlace;
  /** Of the whole data set. */
  readonly columns: number;
  /** Whether float64 values are wanted as such. */
  readonly wide: boolean;
}

/** Errors travel as data, as those of text do. */
export type SectionOutcome =
  | { readonly part: DatasetPart; readonly wide?: Float64Array }
  | { readonly names: Uint8Array }
  /** Sum of the counts of columns. */
  | { readonly counted: number }
  | { readonly failure: string };

/** Reads and checks one section. */
export function readSection({ path, place, columns, wide }: SectionPayload): SectionOutcome {
  const file = new BinaryFile(path);
  try {
    return sectionOutcome(file, place, columns, wide);
  } catch (error) {
    return { failure: (error as Error).message };
  } finally {
    file.close();
  }
}

function sectionOutcome(
  file: BinaryFile,
  place: SectionPlace,
  columns: number,
  wide: boolean,
): SectionOutcome {
  switch (place.header.kind) {
    case 'NAME':
      return { names: file.readNames(place) };
    case 'COLS':
      return { counted: totalCount(file.readCounts(place)) };
    default: {
      const rows = file.readRows(place, wide);
      checkColumns(rows.largest, columns, place.offset);
      return rows.wide ? { part: rows.part, wide: rows.wide } : { part: rows.part };
    }
  }
}

export function checkColumns(largest: number, columns: number, offset: number): void {
  if (largest < columns) return;
  throw new Damage(offset, `column ${largest + 1} in a section; the file has ${columns} columns`);
}

export function totalCount(runs: readonly { readonly counts: Uint32Array }[]): number {
  let total = 0;
  for (const { counts } of runs) for (const count of counts) total += count;
  return total;
}
