import { describe, expect, test } from 'vitest';
import { type LineChart, lineChart, svgToPng } from '../../../src/compare/figure.ts';
import { styleOf } from '../../../src/compare/style.ts';
import { solverNames } from '../../../src/solvers/names.ts';
import { markupFault, pngSize } from './support/well-formed.ts';

const chart: LineChart = {
  title: 'A <title> & "more"',
  subtitle: 'λ = 10⁻⁵',
  x: { label: 'seconds', log: true },
  y: { label: 'gap', log: true },
  series: [
    {
      name: 'dso',
      points: [
        [0.1, 1],
        [1, 0.1],
        [10, 0.001],
      ],
    },
    {
      name: 'a < b',
      points: [
        [0.2, 0.5],
        [2, 0.02],
      ],
      marks: false,
      dashed: true,
    },
  ],
  rules: [{ y: 0.01, label: 'tolerance' }],
};

/** The path of each series' line in the plot; those of the legend have no title beside them. */
function linesOf(svg: string): string[] {
  return [...svg.matchAll(/<title>[^<]*<\/title><path d="([^"]*)"/g)].map((match) => match[1]);
}

describe('lineChart', () => {
  test('is well-formed and says what it shows', () => {
    const svg = lineChart(chart);
    expect(markupFault(svg)).toBeUndefined();
    expect(svg).toContain('A &lt;title&gt; &amp; &quot;more&quot;');
    for (const text of ['a &lt; b', 'λ = 10⁻⁵', 'seconds', 'tolerance']) {
      expect(svg).toContain(`>${text}</text>`);
    }
  });

  test('equal factors are equal distances on log axes', () => {
    const [line] = linesOf(lineChart(chart));
    const places = line
      .split(/[ML]/)
      .slice(1)
      .map((pair) => pair.split(',').map(Number));
    const [a, b, c] = places;
    expect(b[0] - a[0]).toBeCloseTo(c[0] - b[0], 0);
    expect(c[1] - b[1]).toBeCloseTo(2 * (b[1] - a[1]), 0);
    expect(b[1]).toBeGreaterThan(a[1]);
  });

  test('leaves out what an axis cannot show', () => {
    const points = [
      [1, 1],
      [2, 0],
      [3, Infinity],
      [4, Number.NaN],
      [5, 0.1],
    ] as const;
    const svg = lineChart({ ...chart, series: [{ name: 'dso', points }] });
    expect(linesOf(svg)[0].match(/[ML]/g)).toHaveLength(2);
    expect(svg).not.toMatch(/NaN|Infinity/);
  });

  test('no points, or one: still a chart', () => {
    for (const points of [[], [[1, 1]]] as const) {
      for (const log of [true, false]) {
        const axes = { x: { label: 'x', log }, y: { label: 'y', log } };
        const svg = lineChart({ ...chart, ...axes, series: [{ name: 'dso', points }] });
        expect(markupFault(svg)).toBeUndefined();
        expect(svg).not.toMatch(/NaN|Infinity/);
      }
    }
  });

  test('a long run takes no more room than a screen can show', () => {
    const points = Array.from({ length: 200_000 }, (_, i) => [i + 1, 1 / (i + 1)] as const);
    const svg = lineChart({ ...chart, series: [{ name: 'dso', points }] });
    expect(svg.length).toBeLessThan(40_000);
    expect(linesOf(svg)[0].match(/[ML]/g)!.length).toBeGreaterThan(200);
  });

  test('inline: size and background are left to the page', () => {
    const svg = lineChart(chart, { inline: true });
    expect(svg).toMatch(/^<svg [^>]*class="chart"/);
    expect(svg).not.toMatch(/<svg [^>]*\swidth=/);
    expect(svg).not.toContain('<rect');
  });

  test('a focus spreads what matters over the axis and cuts off the rest', () => {
    const points = [
      [1, 1000],
      [2, 3],
      [3, 2],
      [4, 1],
    ] as const;
    const series = [{ name: 'dso', points }];
    const y = { label: 'y', focus: [1, 3] as const };
    const svg = lineChart({ ...chart, x: { label: 'x' }, y, series, rules: [] });
    expect(markupFault(svg)).toBeUndefined();
    expect(svg).toMatch(/<svg x="[\d.]+" y="[\d.]+" [^>]*overflow="hidden">/);
    const heights = linesOf(svg)[0]
      .split(/[ML]/)
      .slice(1)
      .map((pair) => Number(pair.split(',')[1]));
    expect(heights[3] - heights[1]).toBeGreaterThan(200);
    expect(heights[0]).toBeLessThan(0);
  });

  test('names that need a second row stay inside', () => {
    const series = Array.from({ length: 14 }, (_, k) => ({ name: `solver ${k}`, points: [] }));
    const svg = lineChart({ ...chart, series }, { width: 400 });
    const lefts = [...svg.matchAll(/<g transform="translate\((\d+) \d+\)"><g class/g)];
    expect(lefts).toHaveLength(14);
    for (const [, left] of lefts) expect(Number(left)).toBeLessThan(300);
  });
});

test('solvers can be told apart, also without colour', () => {
  const styles = solverNames.map((name, index) => styleOf(name, index));
  const colourless = styles.map(({ dash, symbol }) => `${dash} ${symbol}`);
  expect(new Set(styles.map((style) => JSON.stringify(style))).size).toBe(solverNames.length);
  expect(new Set(colourless).size).toBe(solverNames.length);
  expect(styleOf('dso', 0)).toEqual(styleOf('dso', 5));
  const others = Array.from({ length: 24 }, (_, index) => styleOf(`own ${index}`, index));
  expect(new Set(others.map((style) => JSON.stringify(style))).size).toBe(24);
});

describe('svgToPng', () => {
  test('twice the size of the SVG', async () => {
    const png = await svgToPng(lineChart(chart, { width: 300, height: 200 }));
    expect(pngSize(png)).toEqual([600, 400]);
  });

  test('has a font of its own, for Greek letters and superscripts too', async () => {
    const withText = (text: string) =>
      svgToPng(
        `<svg xmlns="http://www.w3.org/2000/svg" width="80" height="30" font-family="Arimo"><text y="20">${text}</text></svg>`,
      );
    const pictures = await Promise.all(['', 'λ', '⁻⁵', '−', '\u{10ffff}'].map(withText));
    const [empty, ...letters] = pictures.map((png) => png.toString('base64'));
    expect(new Set(letters).size).toBe(letters.length);
    expect(letters.slice(0, -1)).not.toContain(empty);
  });
});
