import type { Dataset } from '../../src/data/dataset.ts';
import type { Model } from '../../src/model/model.ts';

/** A model for tests that need one; every field can be replaced. */
export function sampleModel(changes: Partial<Model> = {}): Model {
  const weights = changes.weights ?? new Float64Array([0.5, -1.25, 0, 2]);
  return {
    task: 'classification',
    loss: { name: 'hinge', parameter: 0 },
    penalty: { name: 'l2', l1: 0, l2: 1 },
    lambda: 1e-4,
    classes: [-1, 1],
    columns: weights.length,
    rows: 10,
    nonzeros: 25,
    solver: 'ring',
    grid: 2,
    seed: 1,
    certificate: {
      primal: 0.31133,
      dual: 0.3111,
      gap: 0.00023,
      relativeGap: 7.4e-4,
      epochs: 9,
      stopped: 'converged',
    },
    weights,
    intercept: 0,
    ...changes,
  };
}

/** The same as a model for regression. */
export function sampleRegression(changes: Partial<Model> = {}): Model {
  const { classes: _, ...model } = sampleModel();
  const weights = changes.weights ?? model.weights;
  return {
    ...model,
    task: 'regression',
    loss: { name: 'square', parameter: 0 },
    columns: weights.length,
    ...changes,
  };
}

export interface SampleRow {
  readonly label: number;
  /** [column from 0, value], columns ascending. */
  readonly entries: readonly (readonly [number, number])[];
}

/** Rows as a dataset of parts with at most `rowsPerPart` rows each. */
export function sampleDataset(rows: readonly SampleRow[], rowsPerPart = rows.length): Dataset {
  const parts = [];
  for (let start = 0; start < rows.length; start += rowsPerPart) {
    const chunk = rows.slice(start, start + rowsPerPart);
    const entries = chunk.flatMap((row) => row.entries);
    const rowOffsets = new Int32Array(chunk.length + 1);
    for (const [index, row] of chunk.entries()) {
      rowOffsets[index + 1] = rowOffsets[index] + row.entries.length;
    }
    parts.push({
      rowOffsets,
      labels: Float64Array.from(chunk, (row) => row.label),
      indices: Int32Array.from(entries, ([column]) => column),
      values: Float32Array.from(entries, ([, value]) => value),
    });
  }
  const columns = rows.flatMap((row) => row.entries.map(([column]) => column + 1));
  return {
    name: 'sample.svm',
    parts,
    rows: rows.length,
    columns: Math.max(0, ...columns),
    nonzeros: columns.length,
    notices: [],
  };
}

/** One column that holds the score itself (float32-exact scores only), for a weight of 1. */
export function scoredDataset(scores: readonly number[], labels: readonly number[]): Dataset {
  return sampleDataset(
    scores.map((score, row) => ({ label: labels[row], entries: [[0, score]] as const })),
  );
}
