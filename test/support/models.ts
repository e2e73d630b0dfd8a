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
    intercepts: new Float64Array(1),
    ...changes,
  };
}

/** A model of three classes with a vector each, and everything that a model may have. */
export function sampleClasses(changes: Partial<Model> = {}): Model {
  const model = sampleModel();
  const { certificate } = model;
  return {
    ...model,
    loss: { name: 'logistic', parameter: 0 },
    penalty: { name: 'l2', l1: 0, l2: 1, low: 0, high: Infinity },
    classes: ['cat', 'dog', 'fish, "raw"'],
    columns: 2,
    certificate: { ...certificate, primal: 0.93399, dual: 0.9333, gap: 0.00069 },
    certificates: [certificate, { ...certificate, relativeGap: 0.5, epochs: 12 }, certificate],
    recipe: {
      fields: [
        { name: 'legs', kind: 'number' },
        { name: 'colour', kind: 'category' },
        { name: 'kind', kind: 'label' },
      ],
      missing: 'zero',
    },
    unitRows: true,
    calibration: [
      { method: 'platt', slope: -1.5, offset: 0.25 },
      { method: 'isotonic', scores: [-1, 0, 2], probabilities: [0, 0.25, 1] },
      { method: 'platt', slope: -2, offset: -0 },
    ],
    provenance: {
      version: '0.1.0',
      data: 'sha256:0123',
      options: { 'unit-rows': true, lambda: 1e-4, loss: 'logistic' },
    },
    weights: new Float64Array([0.5, -1.25, 0, 2, -3, 0.125]),
    intercepts: new Float64Array([0.5, 0, -1]),
    featureNames: ['legs', 'colour="dark\n red"'],
    ...changes,
  };
}

/** Three classes and nothing else: scores of one column, one weight for each class. */
export function plainClasses(weights: readonly number[], changes: Partial<Model> = {}): Model {
  return {
    ...sampleModel({ weights: Float64Array.from(weights) }),
    classes: weights.map((_, index) => `c${index}`),
    columns: 1,
    intercepts: new Float64Array(weights.length),
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
