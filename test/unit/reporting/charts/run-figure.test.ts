import { describe, expect, test } from 'vitest';
import type { FigureQuantity } from '../../../../src/apps/dashboard/api.ts';
import { axes, figureQuantities } from '../../../../src/reporting/charts/quantities.ts';
import { figureFileName, figureOf } from '../../../../src/reporting/charts/run-figure.ts';
import { figureHeight } from '../../../../src/reporting/charts/svg.ts';
import type {
  BeginLine,
  ReportLine,
  RunDetail,
  StartLine,
} from '../../../../src/reporting/records/record.ts';
import { RunView } from '../../../../src/reporting/records/run-view.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import {
  beginLine,
  epochLines,
  firstId,
  sampleLine,
  secondId,
  startLine,
  writeRecord,
} from '../../apps/dashboard/records.ts';
import { serving } from '../../apps/dashboard/serving.ts';

interface Changes {
  readonly start?: Partial<StartLine>;
  readonly begin?: Partial<BeginLine>;
}

function detailOf(id: string, { start, begin }: Changes = {}, epochs = 20): RunDetail {
  const run = RunView.live(startLine(id, start));
  run.add(beginLine(begin));
  for (const line of epochLines(epochs)) run.add(line);
  run.add(sampleLine(10));
  return run.detail();
}

const reportLine: ReportLine = {
  event: 'report',
  seconds: 1,
  rows: 10,
  loss: 1,
  recentLoss: 0.5,
  error: 0.4,
  recentError: 0.25,
};

const namesOf = (runs: readonly RunDetail[], y: FigureQuantity = 'gap') =>
  figureOf(runs, { y, x: 'seconds' }).series.map(({ name }) => name);

describe('names', () => {
  test('are the solver where that is enough', () => {
    expect(namesOf([detailOf(firstId)])).toEqual(['ring-rows']);
    expect(namesOf([detailOf(firstId), detailOf(secondId, { begin: { solver: 'dso' } })])).toEqual([
      'ring-rows',
      'dso',
    ]);
  });

  test('say what differs, and the id of runs that do not', () => {
    const runs = [
      detailOf(firstId, { begin: { lambda: 1e-4 } }),
      detailOf(secondId, { begin: { lambda: 1e-5 }, start: { loss: 'logistic' } }),
      detailOf('20261115-213000-00cd', { begin: { lambda: 1e-5 }, start: { loss: 'logistic' } }),
    ];
    expect(namesOf(runs)).toEqual([
      'hinge · λ 1e-4',
      'logistic · λ 1e-5 · 00ab',
      'logistic · λ 1e-5 · 00cd',
    ]);
  });

  test('are those that runs were given', () => {
    expect(namesOf([detailOf(firstId, { start: { name: 'base line' } })])).toEqual(['base line']);
  });

  test('what is common is said once', () => {
    const runs = [detailOf(firstId), detailOf(secondId, { begin: { lambda: 0.5 } })];
    expect(figureOf(runs, { y: 'gap', x: 'seconds' }).subtitle).toBe(
      'real-sim.svm, hinge loss, l2 penalty',
    );
    const several = detailOf(firstId, { begin: { vectors: 3 } });
    expect(figureOf([several], { y: 'gap', x: 'seconds' }).subtitle).toBe(
      'real-sim.svm, hinge loss, l2 penalty, λ = 1e-4, class 1 of 3',
    );
  });
});

describe('curves', () => {
  test('the objective has a bound of the same colour, dashed', () => {
    const runs = [detailOf(firstId), detailOf(secondId, { begin: { solver: 'dso' } })];
    const { series, keys } = figureOf(runs, { y: 'objective', x: 'epoch' });
    expect(series.map(({ name }) => name)).toEqual([
      'ring-rows',
      'ring-rows, bound',
      'dso',
      'dso, bound',
    ]);
    const colours = series.map(({ style }) => style!.color);
    expect(colours[0]).toBe(colours[1]);
    expect(colours[2]).toBe(colours[3]);
    expect(colours[0]).not.toBe(colours[2]);
    expect(series.map(({ style }) => style!.dash)).toEqual([undefined, '3 3', undefined, '3 3']);
    // One entry explains all bounds.
    expect(series.map(({ listed = true }) => listed)).toEqual([true, false, true, false]);
    expect(keys).toMatchObject([{ name: 'lower bound D(α)', style: { dash: '3 3' } }]);
    expect(series[0].points[4]).toEqual([5, 0.5]);
    expect(series[1].points[4]).toEqual([5, 0.3 - 1 / 5]);
  });

  test('the gap is on a logarithmic axis, with the tolerance, unless it is not one', () => {
    const runs = [detailOf(firstId), detailOf(secondId)];
    const figure = figureOf(runs, { y: 'gap', x: 'passes' });
    expect(figure).toMatchObject({
      y: { label: '(P − D) / P', log: true },
      x: { label: 'passes over the data' },
      rules: [{ y: 0.001, label: 'tolerance 0.001' }],
    });
    const strict = detailOf(secondId, { start: { tolerance: 1e-6 } });
    const request = { y: 'gap', x: 'passes', scale: 'linear' } as const;
    expect(figureOf([runs[0], strict], request)).toMatchObject({ y: { log: false }, rules: [] });
  });

  test('test errors are percentages in classification, and squares in regression', () => {
    const request = { y: 'testError', x: 'epoch' } as const;
    const figure = figureOf([detailOf(firstId)], request);
    expect(figure.y.label).toBe('test error (%)');
    expect(figure.series[0].points[9]).toEqual([10, 100 * (0.05 + 0.1 / 10)]);
    const regression = detailOf(firstId, { start: { task: 'regression' } });
    expect(figureOf([regression], request)).toMatchObject({
      y: { label: 'test mean squared error' },
    });
    expect(figureOf([regression], request).series[0].points[9]).toEqual([10, 0.05 + 0.1 / 10]);
  });

  test('a run of one epoch has symbols, since one point is no line', () => {
    const drawn = (epochs: number) =>
      figureOf([detailOf(firstId, {}, epochs)], { y: 'objective', x: 'epoch' });
    expect(drawn(1).series.map(({ points, marks = true }) => [points.length, marks])).toEqual([
      [1, true],
      [1, true],
    ]);
    expect(drawn(2).series.map(({ marks = true }) => marks)).toEqual([true, false]);
    const run = detailOf(firstId, {}, 1);
    const near = { ...run, series: { ...run.series, dual: [0.9] } };
    expect(figureOf([near], { y: 'objective', x: 'epoch' }).y.focus).toEqual([0.9, 1.3]);
  });

  test('a bound far below gets half as much room as the objective', () => {
    const run = detailOf(firstId);
    const dual = run.series.dual.map((value, index) => (index < 8 ? -1000 : value));
    const far = { ...run, series: { ...run.series, dual } };
    const request = { y: 'objective', x: 'epoch' } as const;
    const { y } = figureOf([far], request);
    // From 1.3 to 0.35, and half of that below.
    expect(y.focus![1]).toBe(1.3);
    expect(y.focus![0]).toBeCloseTo(0.35 - 0.95 / 2, 9);
    const part = figureOf([far], { ...request, from: 5, to: 12 });
    expect(part.y.focus![1]).toBe(0.5);
    expect(part.y.focus![0]).toBeGreaterThan(0.2);
    expect(figureOf([far], { ...request, scale: 'log' }).y).toMatchObject({
      log: true,
      focus: [0.3 - 1 / 9, 1.3],
    });
  });

  test('units: runs without values do not decide, and one axis has one', () => {
    const request = { y: 'testError', x: 'epoch' } as const;
    const classes = detailOf(firstId);
    const squares = detailOf(secondId, { start: { task: 'regression' } });
    const { testError: _, ...series } = squares.series;
    const untested = { ...squares, series };
    const figure = figureOf([untested, classes], request);
    expect(figure.y.label).toBe('test error (%)');
    expect(figure.series).toHaveLength(1);
    expect(figure.series[0].points[9]).toEqual([10, 100 * (0.05 + 0.1 / 10)]);
    const mixed = figureOf([squares, classes], request);
    expect(mixed.y.label).toBe('test mean squared error');
    expect(mixed.series).toHaveLength(1);
  });

  test('a class is tested against the rest, and the axis says so', () => {
    const several = { ...detailOf(firstId, { begin: { vectors: 3 } }), vector: 1 };
    const label = (runs: readonly RunDetail[], y: FigureQuantity) =>
      figureOf(runs, { y, x: 'epoch' }).y.label;
    expect(label([several], 'testError')).toBe('test error (%), class 2 against the rest');
    expect(label([several, detailOf(secondId)], 'testError')).toBe(
      'test error (%) (of several classes: class 2 against the rest)',
    );
    expect(label([several], 'testAuprc')).toMatch(/^test AUPRC, class 2 against the rest$/);
  });

  test('throughput is what was done between two epochs', () => {
    const { series, y } = figureOf([detailOf(firstId)], { y: 'updates', x: 'seconds' });
    expect(y).toMatchObject({ label: 'million updates per second', zero: true });
    // 50,000 non-zeros in a tenth of a second.
    for (const [, value] of series[0].points) expect(value).toBeCloseTo(0.5, 9);
    expect(series[0].points).toHaveLength(20);
  });

  test('memory is drawn where it was sampled', () => {
    for (const [x, position] of [
      ['seconds', 1],
      ['epoch', 10],
      ['passes', 10],
    ] as const) {
      const { series } = figureOf([detailOf(firstId)], { y: 'memory', x });
      expect(series[0].points).toEqual([[position, 110]]);
    }
  });

  test('a run without such values is left out', () => {
    const run = detailOf(firstId);
    const { testError: _, ...series } = run.series;
    expect(figureOf([{ ...run, series }], { y: 'testError', x: 'epoch' }).series).toEqual([]);
  });

  test('a part reaches from edge to edge', () => {
    const request = { y: 'testAuprc', x: 'epoch', from: 4.5, to: 8 } as const;
    const { series, x, y } = figureOf([detailOf(firstId)], request);
    expect(x).toMatchObject({ focus: [4.5, 8], tight: true });
    expect(series[0].points.map((point) => point[0])).toEqual([4, 5, 6, 7, 8]);
    expect(y.focus).toEqual([0.95 - 0.1 / 5, 0.95 - 0.1 / 8]);
  });
});

test('file names say what is in them', () => {
  const request = { y: 'gap', x: 'seconds' } as const;
  expect(figureFileName([firstId], request, 'svg')).toBe(`dso-gap-seconds-${firstId}.svg`);
  expect(figureFileName(['a', 'b'], request, 'png')).toBe('dso-gap-seconds-2-runs.png');
});

test('many names leave the plot its room', () => {
  const runs = Array.from({ length: 100 }, (_, index) =>
    detailOf(`20261115-212345-${String(index).padStart(4, '0')}`, {}, 3),
  );
  const figure = figureOf(runs, { y: 'gap', x: 'seconds' });
  // Four names in a row.
  expect(figureHeight(figure)).toBe(420 + 18 * 24);
  expect(figureHeight(figureOf(runs.slice(0, 1), { y: 'gap', x: 'seconds' }))).toBe(420);
});

describe('as files', () => {
  async function servingRuns() {
    const folder = temporaryFolder();
    for (const id of [firstId, secondId]) {
      const lines = [beginLine(), ...epochLines(50), sampleLine(10), reportLine];
      writeRecord(folder, id, [startLine(id), ...lines]);
    }
    return serving({ folder });
  }

  test('every quantity over every axis is an SVG file', async () => {
    const { url } = await servingRuns();
    for (const y of figureQuantities) {
      for (const { key: x } of axes) {
        const answer = await fetch(`${url}api/figure?runs=${firstId},${secondId}&y=${y}&x=${x}`);
        expect(answer.status).toBe(200);
        expect(answer.headers.get('content-type')).toBe('image/svg+xml');
        expect(answer.headers.get('content-disposition')).toBe(
          `attachment; filename="dso-${y}-${x}-2-runs.svg"`,
        );
        const text = await answer.text();
        expect(text).toMatch(/^<svg .*<\/svg>\n$/s);
        expect(text).toContain('ring-rows · 00ab');
        expect(text).not.toContain('NaN');
      }
    }
  });

  test('a picture is a PNG file of twice the size', async () => {
    const { url } = await servingRuns();
    const answer = await fetch(`${url}api/figure?runs=${firstId}&y=objective&x=epoch&format=png`);
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(answer.headers.get('content-disposition')).toContain(`${firstId}.png"`);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([1280, 840]);
  });

  const tooMany = Array.from({ length: 101 }, (_, index) => `r${index}`).join(',');
  test.each([
    ['', 'runs: found 0; expected 1 to 100 ids with commas between'],
    [`runs=${tooMany}`, 'runs: found 101; expected 1 to 100 ids with commas between'],
    [`runs=${firstId}&y=speed`, /^y: found "speed"; expected objective, gap, /],
    [`runs=${firstId}&x=hours`, 'x: found "hours"; expected seconds, epoch, passes'],
    [`runs=${firstId}&format=gif`, 'format: found "gif"; expected svg, png'],
    [`runs=${firstId}&scale=cubic`, 'scale: found "cubic"; expected linear, log'],
    [`runs=${firstId}&from=a`, 'from: found "a"; expected a number'],
    [`runs=${firstId}&from=3&to=2`, 'from 3 to 2: expected the smaller one first'],
  ])('a query %s is refused with the reason', async (query, reason) => {
    const { url } = await servingRuns();
    const answer = await fetch(`${url}api/figure?${query}`);
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { error: string }).error).toMatch(reason);
  });
});

describe('what the page shows', () => {
  test('a run keeps the style of its index, also where the one before it is empty', () => {
    const runs = [detailOf(firstId), detailOf(secondId)];
    const styles = (indices?: readonly number[]) =>
      figureOf(runs, { y: 'gap', x: 'epoch' }, indices).series.map(({ style }) => style);
    expect(styles()).toEqual(styles([0, 1]));
    expect(styles([0, 2])[0]).toEqual(styles()[0]);
    expect(styles([0, 2])[1]).not.toEqual(styles()[1]);
  });

  test('a logarithmic x axis', () => {
    const request = { y: 'gap', x: 'seconds', xscale: 'log' } as const;
    expect(figureOf([detailOf(firstId)], request).x).toMatchObject({ log: true });
  });

  test('a stream, over time whatever is asked for', () => {
    const run = RunView.live(startLine(firstId));
    run.add(reportLine);
    run.add({ ...reportLine, seconds: 2, recentError: null });
    const loss = figureOf([run.detail()], { y: 'progressiveLoss', x: 'epoch' });
    expect(loss.series[0].points).toEqual([
      [1, 0.5],
      [2, 0.5],
    ]);
    expect(loss.x.label).toBe('seconds of training');
    const error = figureOf([run.detail()], { y: 'progressiveError', x: 'seconds' });
    expect(error.series[0].points).toEqual([[1, 25]]);
  });

  test('the class and the indices that the address names', async () => {
    const folder = temporaryFolder();
    const lines = [...epochLines(5), ...epochLines(9).map((line) => ({ ...line, vector: 1 }))];
    writeRecord(folder, firstId, [startLine(firstId), beginLine({ vectors: 2 }), ...lines]);
    const { url } = await serving({ folder });
    const figure = async (query: string) =>
      (await fetch(`${url}api/figure?runs=,${firstId}&y=gap&x=epoch&${query}`)).text();
    expect(await figure('class=1')).not.toBe(await figure('class=2'));
    expect(await figure('')).toBe(await figure('class=1'));
    expect(JSON.parse(await figure('class=0'))).toHaveProperty('error');
  });
});
