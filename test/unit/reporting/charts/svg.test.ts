import { describe, expect, test } from 'vitest';
import { styleOf } from '../../../../src/reporting/charts/series-style.ts';
import {
  type LegendEntry,
  type LineChart,
  lineChart,
  svgToPng,
} from '../../../../src/reporting/charts/svg.ts';
import { solverNames } from '../../../../src/solvers/index.ts';
import { markupFault, pngSize } from '../../train/compare/support/well-formed.ts';

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

/** The path of each series' line in the plot; those of the legend have no title. */
function linesOf(svg: string): string[] {
  const lines = /<title>[^<]*<\/title>(?:<svg [^>]*>)?<path d="([^"]*)"/g;
  return [...svg.matchAll(lines)].map((match) => match[1]);
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
    const positions = line
      .split(/[ML]/)
      .slice(1)
      .map((pair) => pair.split(',').map(Number));
    const [a, b, c] = positions;
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
    // Not so far out that dashes could not be drawn.
    expect(heights[0]).toBeGreaterThan(-5000);
    // Symbols are not cut, but drawn only inside: here of three points, and in the legend.
    const [, top] = /<svg x="[\d.]+" y="([\d.]+)"/.exec(svg)!;
    const symbols = [...svg.matchAll(/transform="translate\([\d.]+ (-?[\d.]+)\)" stroke="none"/g)];
    expect(symbols.slice(1).map((match) => Number(match[1]))).toEqual(
      symbols.slice(1).map((match) => Math.max(Number(match[1]), Number(top))),
    );
    expect(symbols.length).toBeGreaterThan(2);
  });

  test('the legend leaves out series that are not listed and explains what else there is', () => {
    const [first, second] = chart.series;
    const key = { name: 'dashed', style: { color: '#666666', dash: '3 3', symbol: 'circle' } };
    const svg = lineChart({
      ...chart,
      series: [first, { ...second, listed: false }],
      keys: [{ ...key, marks: false } as LegendEntry],
    });
    expect(markupFault(svg)).toBeUndefined();
    expect(svg).not.toContain('>a &lt; b</text>');
    expect(svg).toContain('<title>a &lt; b</title>');
    expect(svg).toContain('>dashed</text>');
  });

  test('names stand equally far apart, whatever letters they have', () => {
    const names = ['iiiiiiii', 'WWWWWWWW', 'dso'];
    const series = names.map((name) => ({ name, points: [] }));
    const svg = lineChart({ ...chart, series });
    const lefts = [...svg.matchAll(/<g transform="translate\((\d+) \d+\)"><g class/g)].map(
      (match) => Number(match[1]),
    );
    // 8 letters of 12 pixels each: an i has 0.222 of them, a W 0.944.
    const around = 30 + 6 + 18;
    expect(lefts[1]).toBe(Math.round(around + 8 * 12 * 0.222));
    expect(lefts[2]).toBe(Math.round(lefts[1] + around + 8 * 12 * 0.944));
  });

  test('a rule has its label at the right, unless a curve is there', () => {
    const positionOf = (points: readonly (readonly [number, number])[]) => {
      const series = [{ name: 'dso', points }];
      const axes = { x: { label: 'x' }, y: { label: 'y' } };
      const rules = [{ y: 5, label: 'tolerance' }];
      const svg = lineChart({ ...chart, ...axes, series, rules });
      return Number(/<text x="([\d.]+)" y="[\d.]+" font-size="11"/.exec(svg)![1]);
    };
    const ends = positionOf([
      [0, 10],
      [1, 0],
      [10, 0],
    ]);
    expect(ends).toBeGreaterThan(500);
    // Above and below the rule there are curves at the right end.
    const crossing = positionOf([
      [0, 10],
      [9, 10],
      [9.5, 0],
      [10, 10],
    ]);
    expect(crossing).toBeLessThan(500);
    expect(crossing).toBeGreaterThan(300);
  });

  test('a rule outside of what is shown is not drawn', () => {
    const y = { label: 'y', log: true, focus: [0.1, 1] as const };
    expect(lineChart({ ...chart, y })).not.toContain('>tolerance</text>');
  });

  test('names that need a second row stay inside', () => {
    const series = Array.from({ length: 14 }, (_, k) => ({ name: `solver ${k}`, points: [] }));
    const svg = lineChart({ ...chart, series }, { width: 400 });
    const lefts = [...svg.matchAll(/<g transform="translate\((\d+) \d+\)"><g class/g)];
    expect(lefts).toHaveLength(14);
    for (const [, left] of lefts) expect(Number(left)).toBeLessThan(300);
  });
});

test('solvers can be distinguished, also without colour', () => {
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

test('names with characters that XML does not know become files that can be read', async () => {
  const odd: LineChart = {
    title: 'a\u001b[31m\u0000\ud800b \ud83d\ude00',
    x: { label: 'x' },
    y: { label: 'y' },
    series: [{ name: 'n\u0007', points: [[1, 2]] }],
  };
  const svg = lineChart(odd);
  expect(svg).toContain('a\ufffd[31m\ufffd\ufffdb \ud83d\ude00');
  expect((await svgToPng(svg)).subarray(1, 4).toString()).toBe('PNG');
});
