import { describe, expect, test } from 'vitest';
import { Terminal } from '../../../../src/apps/cli/terminal.ts';
import { losses } from '../../../../src/problem/losses/index.ts';
import { penalties } from '../../../../src/problem/penalties/index.ts';
import {
  pathChart,
  searchChart,
  validationChart,
} from '../../../../src/reporting/charts/selection.ts';
import {
  PathRecord,
  searchTable,
  validationTable,
} from '../../../../src/reporting/text/selection.ts';
import type { ValidatedLambda, Validation } from '../../../../src/train/select/cross-validate.ts';
import { memoryIo } from '../../../support/memory-io.ts';
import { sampleClasses, sampleModel } from '../../../support/models.ts';
import { markupFault } from '../../train/compare/support/well-formed.ts';

const { outputColours } = new Terminal(memoryIo());

function lambdaOf(lambda: number, mean: number, standardError = 0.01): ValidatedLambda {
  const folds = [mean, mean];
  return { lambda, folds, mean, standardError, relativeGap: 5e-4, epochs: 12, passes: 11.5 };
}

function validationOf(lambdas: readonly ValidatedLambda[], best = 1, simplest = 0): Validation {
  const chosen = { best: lambdas[best], simplest: lambdas[simplest] };
  return { metric: 'error', lambdas, ...chosen, complete: true };
}

const validation = validationOf([lambdaOf(0.1, 0.21), lambdaOf(0.01, 0.205), lambdaOf(0.001, 0.3)]);

describe('the chart of a cross-validation', () => {
  test('has a bar for every λ, in per cent, and both choices', () => {
    const svg = validationChart(validation, 'a & b');
    expect(markupFault(svg)).toBeUndefined();
    const [, bars] = /class="bars" d="([^"]*)"/.exec(svg) ?? [];
    // Each is a line and two ends.
    expect(bars.match(/M/g)).toHaveLength(9);
    expect(svg).toContain('>a &amp; b</text>');
    expect(svg).toContain('best: λ = 0.01');
    expect(svg).toContain('simplest: λ = 0.1');
    expect(svg).toContain('error (%) on the rows held out');
    for (const tick of ['20', '30']) expect(svg).toContain(`>${tick}</text>`);
  });

  test('of one fold has no bars, since nothing is known of their length', () => {
    const one = validationOf([lambdaOf(0.1, 0.2, Number.NaN)], 0, 0);
    const svg = validationChart(one, 'one');
    expect(svg).not.toContain('class="bars"');
    expect(svg).not.toContain('NaN');
    expect(svg).not.toContain('simplest:');
  });
});

describe('the chart of a path', () => {
  const weights = (...values: number[]) => Float64Array.from(values);
  const metrics = (error: number) => ({ task: 'classification', error }) as never;
  const pointOf = (lambda: number, model: ReturnType<typeof sampleModel>, error?: number) => ({
    place: 0,
    count: 2,
    lambda,
    model,
    nonzero: 1,
    epochs: 3,
    passes: 2.5,
    ...(error !== undefined && { test: metrics(error) }),
  });

  test('has the largest weights, the error below, and remembers the best model', () => {
    const record = new PathRecord();
    const strong = sampleModel({ weights: weights(0, 0, 0), featureNames: ['a', 'b', 'c'] });
    const weak = sampleModel({ weights: weights(0, -3, 1), featureNames: ['a', 'b', 'c'] });
    record.add(pointOf(1, strong, 0.25));
    record.add(pointOf(0.1, weak, 0.125));
    record.add(pointOf(0.01, weak, 0.125));
    expect(record.best?.row.lambda).toBe(0.1);
    expect(record.best?.model).toBe(weak);
    expect(record.traces).toEqual([
      {
        name: 'b',
        points: [
          [0.01, -3],
          [0.1, -3],
          [1, 0],
        ],
      },
      {
        name: 'c',
        points: [
          [0.01, 1],
          [0.1, 1],
          [1, 0],
        ],
      },
    ]);
    const svg = pathChart(record.traces, record.errors, 'classification', 'the <path>');
    expect(markupFault(svg)).toBeUndefined();
    expect(svg).toContain('viewBox="0 0 640 840"');
    expect(svg).toContain('best: λ = 0.1');
    expect(svg).not.toContain('<path>');
  });

  test('names the class of a weight where there are several', () => {
    const record = new PathRecord();
    record.add(pointOf(1, sampleClasses()));
    const names = record.traces.map(({ name }) => name);
    expect(names.slice(0, 2)).toEqual(['fish, "raw": legs', 'dog: colour="dark\n red"']);
    expect(record.errors).toEqual([]);
  });

  test('of more weights than are stored leaves out the unknown ones', () => {
    const record = new PathRecord();
    const many = Float64Array.from({ length: 1500 }, (_, j) => 1500 - j);
    const few = many.map((_, j) => (j === 1400 ? 5000 : 0));
    record.add(pointOf(1, sampleModel({ weights: many })));
    record.add(pointOf(0.1, sampleModel({ weights: few })));
    const [first, second] = record.traces;
    expect(first).toEqual({ name: 'feature 1401', points: [[0.1, 5000]] });
    expect(second.points).toEqual([
      [0.1, 0],
      [1, 1500],
    ]);
  });

  test('without any weight is still a chart', () => {
    const svg = pathChart([], [], 'regression', 'nothing');
    expect(markupFault(svg)).toBeUndefined();
    expect(svg).toContain('all are 0');
  });
});

describe('tables', () => {
  test('of a cross-validation name both choices', () => {
    expect(validationTable(validation, 'best', outputColours).split('\n')).toEqual([
      '    λ    error               gap  epochs',
      '  0.1  21.00 %  ± 1.00 %  5.0e-4      12  simplest within a standard error',
      ' 0.01  20.50 %  ± 1.00 %  5.0e-4      12  best',
      '0.001  30.00 %  ± 1.00 %  5.0e-4      12',
    ]);
  });

  test('and charts of a search rank its candidates', () => {
    const candidates = [
      { loss: losses.hinge(), penalty: penalties.l2(), validation },
      { loss: losses.logistic(), penalty: penalties.elasticNet({ l1Ratio: 0.25 }), validation },
    ];
    const search = {
      metric: 'error',
      ranking: candidates,
      winner: candidates[0],
      complete: true,
    } as const;
    expect(searchTable(search, 'simplest', outputColours).split('\n')).toEqual([
      '#  loss      penalty             λ    error               gap  epochs',
      '1  hinge     l2                0.1  21.00 %  ± 1.00 %  5.0e-4      12',
      '2  logistic  elastic-net 0.25  0.1  21.00 %  ± 1.00 %  5.0e-4      12',
    ]);
    const svg = searchChart(search, 'search');
    expect(markupFault(svg)).toBeUndefined();
    expect(svg.match(/class="bars"/g)).toHaveLength(1);
    expect(svg).toContain('logistic, elastic-net 0.25');
  });
});
