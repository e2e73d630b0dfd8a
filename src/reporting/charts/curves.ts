import type { Curves } from '../../model/metrics/curves.ts';
import { formatPercent, lineText } from '../format.ts';
import type { Point } from './quantities.ts';
import { stacked } from './stacked.ts';
import { lineChart, type Series } from './svg.ts';

const plain = { color: '#0072B2', symbol: 'circle' } as const;
const accent = { color: '#D55E00', symbol: 'diamond' } as const;
const other = { color: '#777777', symbol: 'square' } as const;

/** ROC, precision over recall and, where there are probabilities, calibration, in one picture. */
export function curveCharts(curves: Curves, title: string): string {
  const { roc, precisionRecall, at, rate, calibration } = curves;
  const positive = lineText(curves.positive);
  const chance = (points: readonly Point[], name: string): Series => ({
    name,
    points,
    style: other,
    dashed: true,
    marks: false,
  });
  const curve = (points: readonly Point[]): Series => ({
    name: 'model',
    points: thinned(points),
    style: plain,
    marks: false,
  });
  const own = (point: Point): Series => ({ name: 'its threshold', points: [point], style: accent });
  const diagonal: readonly Point[] = [
    [0, 0],
    [1, 1],
  ];
  const charts = [
    lineChart({
      title,
      subtitle: `ROC curve; positive class ${positive}`,
      x: { label: 'false positives among all others' },
      y: { label: `recall of ${positive}` },
      series: [curve(roc), chance(diagonal, 'chance'), own([at.falsePositives, at.recall])],
    }),
    lineChart({
      title: 'Precision and recall',
      subtitle: `${formatPercent(rate)} of the rows are ${positive}`,
      x: { label: `recall of ${positive}` },
      y: { label: `precision of ${positive}` },
      series: [
        curve(precisionRecall),
        chance(
          [
            [0, rate],
            [1, rate],
          ],
          'chance',
        ),
        own([at.recall, at.precision]),
      ],
    }),
  ];
  if (!calibration) return stacked(charts, title);
  const calibrated = lineChart({
    title: 'Calibration',
    subtitle: 'rows in ten equal parts of the probability',
    x: { label: `mean probability of ${positive}` },
    y: { label: `share of ${positive}` },
    series: [
      {
        name: 'model',
        points: calibration.map(({ predicted, observed }) => [predicted, observed] as const),
        style: plain,
      },
      chance(diagonal, 'calibrated'),
    ],
  });
  return stacked([...charts, calibrated], title);
}

/** Closer points than this share of an axis cannot be told apart. */
const visible = 1 / 500;

function thinned(points: readonly Point[]): Point[] {
  const kept: Point[] = [];
  for (const [index, point] of points.entries()) {
    const last = kept.at(-1);
    const isFar = !last || Math.abs(point[0] - last[0]) + Math.abs(point[1] - last[1]) >= visible;
    if (isFar || index === points.length - 1) kept.push(point);
  }
  return kept;
}
