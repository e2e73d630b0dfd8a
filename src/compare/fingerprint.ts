import type { Dataset } from '../data/dataset.ts';
import { hashData } from '../data/fingerprint.ts';
import type { DataSummary } from './comparison.ts';

/** What the data is, with a hash of everything training sees of it. */
export function summarizeData(dataset: Dataset): DataSummary {
  const { name, rows, columns, nonzeros } = dataset;
  return { name, rows, columns, nonzeros, hash: hashData(dataset) };
}
