import { expect, test } from 'vitest';
import type { ChartModel } from '../../../../ui/src/charts/chart-model.ts';
import { drawCurves, type Pen } from '../../../../ui/src/charts/curves.ts';

/** Writes down what is drawn: a canvas is not at hand here. */
function notes(): { pen: Pen; strokes: string[] } {
  const strokes: string[] = [];
  let path = '';
  const at = (x: number, y: number) => `${Math.round(x)},${Math.round(y)}`;
  const pen = {
    save: () => {},
    restore: () => {},
    clip: () => {},
    rect: () => {},
    setLineDash: () => {},
    beginPath: () => {
      path = '';
    },
    moveTo: (x: number, y: number) => {
      path += `M${at(x, y)}`;
    },
    lineTo: (x: number, y: number) => {
      path += `L${at(x, y)}`;
    },
    stroke: () => strokes.push(`${String(pen.strokeStyle)} ${path}`),
    strokeStyle: '',
  } as unknown as Pen;
  return { pen, strokes };
}

const line = { id: 'a', color: 'red', dash: [], width: 1, alpha: 1 };
const model: ChartModel = {
  lines: [line],
  xs: [0, 5, 10],
  columns: [[0, null, 2]],
  x: [0, 10],
  y: [0, 2],
  xlog: false,
  ylog: false,
  axis: 'seconds',
  rules: [],
  dots: [],
};
const box = { left: 100, top: 10, width: 200, height: 50 };

function strokesOf(change: Partial<ChartModel>): string[] {
  const { pen, strokes } = notes();
  drawCurves(pen, { ...model, ...change }, box, 1);
  return strokes;
}

test('a curve goes from left to right and over what it has no value for', () => {
  expect(strokesOf({})).toEqual(['red M100,60L300,10']);
});

test('logarithmic axes space values by their ratios', () => {
  const change = {
    xs: [1, 10, 100],
    columns: [[0.01, 0.1, 1]],
    x: [1, 100],
    y: [0.01, 1],
  } as const;
  const logarithmic = { ...change, columns: [[0.01, 0.1, 1]], xlog: true, ylog: true };
  expect(strokesOf(logarithmic)).toEqual(['red M100,60L200,35L300,10']);
});

test('curves of one style are one stroke', () => {
  const blue = { ...line, color: 'blue' };
  const columns = [
    [0, 0, 0],
    [1, 1, 1],
    [2, 2, 2],
  ];
  expect(strokesOf({ lines: [line, blue, line], columns })).toEqual([
    'red M100,60L200,60L300,60M100,10L200,10L300,10',
    'blue M100,35L200,35L300,35',
  ]);
});

test('what is far outside is cut off where the line leaves, so that it can be dashed', () => {
  const columns = [[-10_000, 1, 1]];
  // From 250,060 down at the left to 35 at the middle: the line comes up at the right of that part.
  expect(strokesOf({ columns })).toEqual(['red M200,160L200,35L300,35']);
  expect(strokesOf({ columns: [[-10_000, -9000, -10_000]] })).toEqual(['red ']);
  // From far above to far below.
  const [stroke] = strokesOf({ xs: [0, 10], columns: [[1000, -1000]] });
  expect(stroke).toMatch(/^red M\d+,-90L\d+,160$/);
});
