import { expect, test } from 'vitest';
import { symbolNames, symbolPath } from '../../../../src/reporting/charts/series-style.ts';
import type { ChartModel } from '../../../../ui/src/charts/chart-model.ts';
import { drawMarks, type MarkPen } from '../../../../ui/src/charts/marks.ts';

/** Writes down what is drawn: a canvas is not at hand here. */
function notes() {
  const texts: string[] = [];
  const circles: string[] = [];
  const lines: number[] = [];
  const heights: number[] = [];
  const pen = {
    ...Object.fromEntries(
      ['save', 'restore', 'clip', 'rect', 'setLineDash', 'beginPath', 'closePath', 'fill']
        .concat('stroke', 'moveTo')
        .map((name) => [name, () => {}]),
    ),
    lineTo: (_: number, y: number) => lines.push(Math.round(y - 0.5)),
    arc: (x: number, y: number) => circles.push(`${Math.round(x)},${Math.round(y)}`),
    fillText: (text: string, x: number, y: number) => {
      texts.push(`${text} at ${Math.round(x)}`);
      heights.push(Math.round(y));
    },
    measureText: (text: string) => ({ width: 5 * text.length }),
  } as unknown as MarkPen;
  return { pen, texts, heights, circles, lines };
}

const box = { left: 0, top: 0, width: 400, height: 200 };
const style = { text: 'black', paper: 'white', font: '11px sans', pixels: 1, format: String };
const xs = Array.from({ length: 401 }, (_, x) => x);
const model: ChartModel = {
  lines: [{ id: 'a', color: 'red', dash: [], width: 1, alpha: 1, symbol: 'circle', stagger: 0.5 }],
  xs,
  columns: [xs.map(() => 50)],
  x: [0, 400],
  y: [0, 100],
  xlog: false,
  ylog: false,
  axis: 'seconds',
  rules: [],
  dots: [],
};

function drawn(change: Partial<ChartModel>) {
  const found = notes();
  drawMarks(found.pen, { ...model, ...change }, box, style);
  return found;
}

test('symbols are spread over a curve and at its end', () => {
  expect(drawn({}).circles).toEqual(['55,100', '165,100', '275,100', '400,100']);
  const short = xs.map((x) => (x > 90 ? null : 50));
  expect(drawn({ columns: [short] }).circles).toEqual(['55,100', '90,100']);
});

test('a single point can be seen, also of a curve without symbols', () => {
  const bare = { id: 'a', color: 'red', dash: [], width: 2, alpha: 1 };
  const lone = xs.map((x) => (x === 90 ? 50 : null));
  expect(drawn({ lines: [bare], columns: [lone] }).circles).toEqual(['90,100']);
  expect(drawn({ lines: [bare], columns: [xs.map(() => 50)] }).circles).toEqual([]);
  expect(drawn({ lines: [bare], columns: [xs.map(() => null)] }).circles).toEqual([]);
});

test('nothing is marked outside of the box', () => {
  expect(drawn({ columns: [xs.map(() => 150)] }).circles).toEqual([]);
  expect(drawn({ rules: [150], dots: [{ x: 5, value: 150, color: 'red' }] }).texts).toEqual([]);
});

test('the name of a tolerance is where no curve is', () => {
  const at = (columns: (number | null)[][]) => drawn({ columns, rules: [20] });
  const right = 400 - 5 * 'tolerance 20'.length - 4;
  expect(at([xs.map(() => 50)])).toMatchObject({ texts: [`tolerance 20 at ${right}`] });
  expect(at([xs.map(() => 50)]).lines).toEqual([160]);
  // Two points with a line between them through that spot, above and below the tolerance.
  const steep = xs.map((x) => (x === 300 ? 80 : x === 400 ? 0 : null));
  expect(at([steep]).texts).toEqual(['tolerance 20 at 4']);
});

test('where a curve was at its best there is a ring, and a word for the one in focus', () => {
  const dots = [
    { x: 100, value: 50, color: 'red', word: 'least' },
    { x: 300, value: 75, color: 'blue' },
  ];
  const { circles, texts } = drawn({ lines: [], columns: [], dots });
  expect(circles).toEqual(['100,100', '300,50']);
  expect(texts).toEqual(['least 50 at 108']);
});

test('what is said about the best point is where the fewest curves are', () => {
  const dots = [{ x: 100, value: 50, color: 'red', word: 'least' }];
  const lines = [{ id: 'a', color: 'red', dash: [], width: 1, alpha: 1 }];
  const words = (columns: (number | null)[][]) => {
    const { texts, heights } = drawn({ lines: columns.map(() => lines[0]), columns, dots });
    return [...texts, ...heights];
  };
  expect(words([])).toEqual(['least 50 at 108', 116]);
  // A curve just below the point leaves the room above it.
  expect(words([xs.map(() => 44)])).toEqual(['least 50 at 108', 92]);
  // One above and below to the right: to the left, from the right edge of the words.
  const right = xs.map((x) => (x < 104 ? null : x % 2 ? 44 : 56));
  expect(words([right])).toEqual([`least 50 at ${100 - 8 - 5 * 'least 50'.length}`, 116]);
});

test('symbols have paths of their own', () => {
  const paths = symbolNames.map((name) => symbolPath(name, 36));
  expect(new Set(paths).size).toBe(symbolNames.length);
  for (const path of paths) expect(path).toMatch(/^M[-\d.,ALhvVHZ]+$/);
});
