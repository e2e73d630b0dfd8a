import type { Dataset } from '../../src/data/dataset.ts';
import { datasetFromRows, type SparseRow } from '../../src/data/from-arrays.ts';
import { type Random, stream } from '../../src/math/random.ts';
import { type Calibration, type Model, vectorCount } from '../../src/model/model.ts';
import { sampleModel, sampleRegression } from './models.ts';

/** A model with random weights, of which the share `density` is not 0; what is given stays. */
export function randomModel(changes: Partial<Model> = {}, density = 1, seed = 1): Model {
  const random = stream(seed, 0);
  const { columns = 12 } = changes;
  const base = changes.task === 'regression' ? sampleRegression() : sampleModel();
  const shape = { ...base, ...changes };
  const vectors = vectorCount(shape);
  const draw = (length: number, share: number): Float64Array =>
    Float64Array.from({ length }, () => (random.uniform() < share ? random.normal() : 0));
  return {
    ...shape,
    columns,
    weights: changes.weights ?? draw(vectors * columns, density),
    intercepts: changes.intercepts ?? draw(vectors, 1),
  };
}

export interface RandomData {
  readonly rows: readonly SparseRow[];
  readonly dataset: Dataset;
  /** Row by row, a float for every column. */
  readonly dense: Float32Array;
}

/** Rows that are a third full; the first one is empty. */
export function randomRows(columns: number, count: number, seed = 2): RandomData {
  const random = stream(seed, 0);
  const dense = new Float32Array(columns * count);
  const rows = Array.from({ length: count }, (_, row) => {
    const indices: number[] = [];
    for (let column = 0; column < columns; column++) {
      if (row > 0 && random.uniform() < 1 / 3) indices.push(column);
    }
    const values = indices.map(() => Math.fround(random.normal()));
    for (const [entry, column] of indices.entries()) dense[row * columns + column] = values[entry];
    return { indices, values };
  });
  const dataset = datasetFromRows({ rows, labels: new Float64Array(count), columns });
  return { rows, dataset, dense };
}

export function randomPlatt(count: number, seed = 3): Calibration[] {
  const random = stream(seed, 0);
  return Array.from({ length: count }, () => ({
    method: 'platt' as const,
    slope: -0.5 - random.uniform(),
    offset: random.normal() / 2,
  }));
}

export function randomIsotonic(count: number, points = 7, seed = 4): Calibration[] {
  const random = stream(seed, 0);
  return Array.from({ length: count }, () => ({
    method: 'isotonic' as const,
    scores: ascending(points, random, (value) => 6 * value - 3),
    probabilities: ascending(points, random, (value) => value),
  }));
}

function ascending(count: number, random: Random, shape: (value: number) => number): number[] {
  return Array.from({ length: count }, () => shape(random.uniform())).sort((a, b) => a - b);
}

/** Models of every kind that formats have to tell apart, by name. */
export const modelKinds: Readonly<Record<string, Model>> = {
  'an SVM': randomModel(),
  'a sparse SVM with text labels': randomModel({ classes: ['ham', 'späm "x"'] }, 0.2),
  'logistic regression': randomModel({ loss: { name: 'logistic', parameter: 0 } }),
  'an SVM, Platt': randomModel({ calibration: randomPlatt(1) }),
  'an SVM, isotonic': randomModel({ calibration: randomIsotonic(1) }),
  'three classes': randomModel({ classes: [1, 2, 7] }),
  'three classes with fractions': randomModel({ classes: [-0.5, 1, 2.25] }),
  'four classes, logistic': randomModel({
    classes: ['a', 'b', 'c', 'd'],
    loss: { name: 'logistic', parameter: 0 },
  }),
  'three classes, Platt': randomModel({ classes: [1, 2, 7], calibration: randomPlatt(3) }),
  'three classes, isotonic': randomModel({ classes: [1, 2, 7], calibration: randomIsotonic(3) }),
  'two labels at once': randomModel({
    classes: ['news', 'sport'],
    multiLabel: true,
    loss: { name: 'logistic', parameter: 0 },
  }),
  'unit rows': randomModel({ unitRows: true, loss: { name: 'logistic', parameter: 0 } }),
  regression: randomModel({ task: 'regression' }),
  'poisson regression': randomModel({
    task: 'regression',
    loss: { name: 'poisson', parameter: 0 },
  }),
};
