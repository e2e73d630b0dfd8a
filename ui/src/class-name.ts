import type { RunSummary } from '../../src/reporting/records/record.ts';

/** A class by its name, which a run tells at its end, or by its number: "3 of 20". */
export function classNameOf(run: RunSummary | undefined, vector: number, vectors: number): string {
  const names = run?.result?.classes;
  return names?.length === vectors ? String(names[vector]) : `${vector + 1} of ${vectors}`;
}
