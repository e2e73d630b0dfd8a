import type { ClassSets } from '../model/metrics/classes.ts';
import type { MultiLabelMetrics } from '../model/metrics/evaluate.ts';
import type { Label } from '../model/model.ts';
import { isPositive } from '../model/predict/predict.ts';
import type { ScoreBlock } from '../model/predict/score.ts';
import { ClassCounts, mean, quotient } from './class-counts.ts';

/** Rows with any number of classes each; `truth` are those that they have. */
export function measureMultiLabel(
  classes: readonly Label[],
  blocks: Iterable<ScoreBlock>,
  truth: ClassSets,
): MultiLabelMetrics {
  const rows = truth.offsets.length - 1;
  const counts = new ClassCounts(classes.length);
  const wrong = countDecisions(counts, blocks, truth);
  const each = counts.metricsOf(classes);
  const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0);
  return {
    task: 'multi-label',
    rows,
    microF1: quotient(2 * sum(counts.right), sum(counts.support) + sum(counts.predicted)),
    macroF1: mean(each.map(({ f1 }) => f1)),
    subsetAccuracy: (rows - wrong.rows) / rows,
    hammingLoss: wrong.decisions / (rows * classes.length),
    classes: each,
  };
}

/** Fills the counts; tells how many decisions are wrong, and how many rows have such. */
function countDecisions(
  counts: ClassCounts,
  blocks: Iterable<ScoreBlock>,
  { offsets, places }: ClassSets,
): { decisions: number; rows: number } {
  const vectors = counts.support.length;
  const has = new Uint8Array(vectors);
  const wrong = { decisions: 0, rows: 0 };
  for (const { firstRow, rows, scores } of blocks) {
    for (let row = 0; row < rows; row++) {
      const own = places.subarray(offsets[firstRow + row], offsets[firstRow + row + 1]);
      for (const place of own) has[place] = 1;
      const before = wrong.decisions;
      for (let place = 0; place < vectors; place++) {
        const called = isPositive(scores[row * vectors + place]) ? 1 : 0;
        counts.support[place] += has[place];
        counts.predicted[place] += called;
        counts.right[place] += has[place] * called;
        if (has[place] !== called) wrong.decisions++;
      }
      if (wrong.decisions > before) wrong.rows++;
      has.fill(0);
    }
  }
  return wrong;
}
