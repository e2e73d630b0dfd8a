import { stripVTControlCharacters } from 'node:util';
import picocolors from 'picocolors';
import { describe, expect, test } from 'vitest';
import { scaleOf } from '../../../../src/reporting/charts/axis.ts';
import {
  asciiOnly,
  type TextChart,
  type TextPoint,
  textChart,
  textTicks,
} from '../../../../src/reporting/charts/text.ts';

const colours = picocolors.createColors(false);

/** A chart of a straight line, but for what is said. */
function draw(chart: Partial<TextChart> = {}): string[] {
  return textChart({
    series: [{ name: 'line', points: line((x) => x) }],
    x: { label: 'epochs' },
    y: { label: 'height' },
    width: 26,
    height: 8,
    colours,
    ...chart,
  });
}

function line(y: (x: number) => number | null): TextPoint[] {
  return Array.from({ length: 11 }, (_, x): TextPoint => [x, y(x)]);
}

const gaps = line((x) => 10 ** (-x / 2));
const falling: TextPoint[] = line((x) => 10 - x);

describe('pictures', () => {
  test('a straight line', () => {
    expect(draw()).toEqual([
      'height',
      '10 ┤                  ⣀⠤⠔⠊',
      '   │              ⣀⠤⠒⠉',
      ' 5 ┤        ⢀⣀⠤⠤⠒⠉',
      '   │    ⣀⡠⠔⠊⠁',
      ' 0 ┤⣀⠤⠒⠉',
      '   └┬────────────────────┬',
      '    0            10 epochs',
    ]);
  });

  test('two points are joined', () => {
    const points: TextPoint[] = [
      [0, 0],
      [10, 10],
    ];
    expect(draw({ series: [{ name: 'line', points }] })).toEqual([
      'height',
      '10 ┤                  ⣀⠤⠒⠉',
      '   │             ⢀⡠⠔⠊⠉',
      ' 5 ┤        ⢀⣀⠤⠒⠉⠁',
      '   │    ⣀⡠⠔⠊⠁',
      ' 0 ┤⣀⠤⠒⠉',
      '   └┬────────────────────┬',
      '    0            10 epochs',
    ]);
  });

  test('a single point', () => {
    expect(draw({ series: [{ name: 'point', points: [[3, 7]] }] })).toEqual([
      'height',
      '7.5 ┤',
      '    │',
      '7.0 ┤          ⠠',
      '    │',
      '6.5 ┤',
      '    └──────────┬──────────',
      '              3.0 epochs',
    ]);
  });

  test('a log axis has powers of ten and shows a rule', () => {
    expect(
      draw({
        series: [{ name: 'gap', points: gaps }],
        y: { label: 'gap', log: true },
        rules: [{ y: 1e-4, label: 'tolerance' }],
      }),
    ).toEqual([
      'gap  ╌╌ tolerance',
      '   1 ┤⠑⠢⢄⡀',
      '     │   ⠈⠑⠢⢄⡀',
      '1e-2 ┤       ⠈⠑⠢⠤⣀',
      '1e-4 ┤╌╌╌╌╌╌╌╌╌╌╌╌⠉⠒⠤⣀╌╌╌╌',
      '     │                ⠉⠒⠤⣀',
      '     └┬──────────────────┬',
      '      0          10 epochs',
    ]);
  });

  test('of two lines each has a mark, in the legend too', () => {
    const series = [
      { name: 'up', points: line((x) => x) },
      { name: 'down', points: falling },
    ];
    expect(draw({ series })).toEqual([
      'height  o up  x down',
      '10 ┤⠑⠢⠤⣀              ⣀⠤o⠊',
      '   │    ⠉⠒x⣀      ⣀⠤⠒⠉',
      ' 5 ┤        ⢉⣑⠦o⣒⡉',
      '   │    ⣀⡠⠔⠊⠁    ⠈⠑x⢄⣀',
      ' 0 ┤⣀⠤o⠉              ⠉⠒⠤⣀',
      '   └┬────────────────────┬',
      '    0            10 epochs',
    ]);
    expect(draw({ series, ascii: true })).toEqual([
      'height  o up  x down',
      '10 +xxx                ooo',
      '   |   xxxx        oooo',
      ' 5 +       xxxxoxxo',
      '   |    oooo      xxxx',
      ' 0 +oooo              xxxx',
      '   ++--------------------+',
      '    0            10 epochs',
    ]);
  });

  test('lines upon one another show the marks of both', () => {
    const series = ['one', 'two'].map((name) => ({ name, points: line((x) => x) }));
    const text = draw({ series, width: 40 }).slice(1, -1).join('');
    expect(text).toContain('o');
    expect(text).toContain('x');
  });

  test('only ASCII', () => {
    const lines = draw({ ascii: true, rules: [{ y: 5, label: 'half' }] });
    expect(lines).toEqual([
      'height  -- half',
      '10 +                   ooo',
      '   |               oooo',
      ' 5 +--------ooooooo-------',
      '   |    oooo',
      ' 0 +oooo',
      '   ++--------------------+',
      '    0            10 epochs',
    ]);
    expect(lines.join('')).toMatch(/^[ -~]*$/);
  });

  test('what is outside of the focus is cut off', () => {
    expect(draw({ y: { label: 'height', focus: [4, 6] } })).toEqual([
      'height',
      '6 ┤             ⡜',
      '  │            ⡸',
      '5 ┤           ⡰⠁',
      '  │          ⡰⠁',
      '4 ┤         ⡰⠁',
      '  └┬─────────────────────┬',
      '   0             10 epochs',
    ]);
  });

  test('time has the unit that suits', () => {
    const last = (seconds: number) => {
      const points = line((x) => x).map(([x, y]): TextPoint => [(x * seconds) / 10, y]);
      return draw({
        series: [{ name: 'line', points }],
        x: { label: '', time: true },
      }).at(-1);
    };
    expect([0.02, 10, 170, 600, 20_000].map(last)).toEqual([
      '   0.00             0.02 s',
      '    0                 10 s',
      '    0          100 s',
      '    0               10 min',
      '    0                  5 h',
    ]);
  });
});

test('the label with the unit comes before its neighbour', () => {
  const points: TextPoint[] = [
    [0, 1],
    [4.9, 2],
  ];
  const floor = (label: string) =>
    draw({ series: [{ name: 'line', points }], x: { label }, width: 36 }).slice(-2);
  expect(floor('h')).toEqual([
    '    └┬───────────┬────────────┬─────',
    '     0           2            4 h',
  ]);
  expect(floor('a very long unit')).toEqual([
    '    └┬────────────────────────┬─────',
    '     0            4 a very long unit',
  ]);
});

describe('what cannot be shown', () => {
  const nowhere = [Number.NaN, Infinity, -Infinity, null];

  test('is left out', () => {
    const points = line((x) => x);
    const holes: TextPoint[] = nowhere.map((y) => [2.5, y]);
    const all = [...points.slice(0, 3), ...holes, ...points.slice(3)];
    expect(draw({ series: [{ name: 'line', points: all }] })).toEqual(draw());
  });

  test('nor 0 and less on a log axis', () => {
    const y = { label: 'gap', log: true } as const;
    const holes: TextPoint[] = [...nowhere, 0, -1].map((value) => [11, value]);
    expect(draw({ y, series: [{ name: 'gap', points: [...gaps, ...holes] }] })).toEqual(
      draw({ y, series: [{ name: 'gap', points: gaps }] }),
    );
  });

  test('leaves no chart where nothing remains, or no room', () => {
    expect(draw({ series: [] })).toEqual([]);
    expect(draw({ series: [{ name: 'line', points: [[1, null]] }] })).toEqual([]);
    expect(draw({ series: [], rules: [{ y: 1, label: 'rule' }] })).toEqual([]);
    expect(draw({ height: 4 })).toEqual([]);
    expect(draw({ width: 12 })).toEqual([]);
  });
});

describe('size and colours', () => {
  const coloured = picocolors.createColors(true);
  const series = [
    { name: 'objective', points: line((x) => 1e-9 * x) },
    { name: 'lower bound', points: line((x) => -1e12 * x) },
  ];
  const rules = [{ y: 0.5, label: 'something to compare with' }];

  test.each([14, 20, 40, 79, 200])('no line is wider than %i columns', (width) => {
    for (const height of [5, 8, 30]) {
      for (const log of [false, true]) {
        const y = { label: 'a long name of what is drawn', log };
        const lines = draw({ series, rules, y, width, height, colours: coloured });
        const widths = lines.map((text) => stripVTControlCharacters(text).length);
        expect(Math.max(0, ...widths)).toBeLessThanOrEqual(width);
        expect([0, height]).toContain(lines.length);
      }
    }
    expect(draw({ width: Math.max(width, 20) })).toHaveLength(8);
  });

  test('colours change nothing but colours', () => {
    const lines = draw({ series, rules, colours: coloured });
    expect(lines.join('')).toContain('\u001b[36m');
    expect(lines.map((text) => stripVTControlCharacters(text))).toEqual(draw({ series, rules }));
  });
});

describe('ticks', () => {
  const labels = (low: number, high: number, most: number, log = false) =>
    textTicks(scaleOf({ label: '', log, tight: true }, [low, high], [0, 1]), log, most).map(
      ({ label }) => label,
    );

  test.each([
    [0, 10, 6, ['0', '2', '4', '6', '8', '10']],
    [0, 0.3, 4, ['0.0', '0.1', '0.2', '0.3']],
    [-1, 1, 3, ['-1', '0', '1']],
    [0.31132, 0.31134, 3, ['0.31132', '0.31133', '0.31134']],
    [0, 4e9, 3, ['0', '2e9', '4e9']],
    [0, 3e-12, 4, ['0', '1e-12', '2e-12', '3e-12']],
    [7, 7, 3, ['6.5', '7.0', '7.5']],
    [0, 0, 3, ['0.0', '0.5', '1.0']],
    [1, 1, 3, ['0.90', '0.95', '1.00']],
  ])('from %d to %d, %d at most', (low, high, most, expected) => {
    expect(labels(low, high, most)).toEqual(expected);
  });

  test.each([
    [1e-4, 1, 6, ['1e-4', '1e-3', '1e-2', '1e-1', '1']],
    [1e-4, 1, 3, ['1e-4', '1e-2', '1']],
    [0.5, 2e3, 6, ['1', '10', '100', '1000']],
    [2, 6, 6, ['2', '3', '4', '5', '6']],
  ])('of a log axis from %d to %d, %d at most', (low, high, most, expected) => {
    expect(labels(low, high, most, true)).toEqual(expected);
  });

  test('an axis from 0 begins there unless its values lie far away', () => {
    const firstPosition = (low: number) =>
      scaleOf({ label: '', zero: 'near', tight: true }, [low, 10], [0, 1]).position(low);
    expect(firstPosition(4)).toBe(0.4);
    expect(firstPosition(9)).toBe(0);
  });
});

test('ASCII where the terminal does not say UTF-8', () => {
  expect(asciiOnly({ LANG: 'de_DE.UTF-8' }, 'linux')).toBe(false);
  expect(asciiOnly({ LANG: 'C.utf8' }, 'linux')).toBe(false);
  expect(asciiOnly({ LANG: 'de_DE.UTF-8', LC_ALL: 'C' }, 'linux')).toBe(true);
  expect(asciiOnly({ LANG: 'C', LC_CTYPE: 'en_US.UTF-8', LC_ALL: '' }, 'linux')).toBe(false);
  expect(asciiOnly({ LANG: 'de_DE.ISO-8859-1' }, 'linux')).toBe(true);
  expect(asciiOnly({}, 'linux')).toBe(true);
  expect(asciiOnly({}, 'win32')).toBe(false);
  expect(asciiOnly({ LANG: 'C.UTF-8', TERM: 'dumb' }, 'linux')).toBe(true);
});
