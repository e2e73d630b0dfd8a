import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import {
  type ExportFormat,
  exportModel,
  exportNotices,
} from '../../../../src/model/export/index.ts';
import { headerLine } from '../../../../src/reporting/text/predictions.ts';
import { plainClasses, sampleModel, sampleRegression } from '../../../support/models.ts';
import { modelKinds } from '../../../support/random-models.ts';

const three = sampleModel({
  classes: ['a,b', 'c"d', 'e'],
  weights: Float64Array.of(1, 0, -2, 0, 0, 0.5),
  intercepts: Float64Array.of(0.25, 0, -1),
  columns: 2,
  featureNames: ['x<1>', 'y & "z"'],
});

/** RFC 4180, for what the tests have: fields in quotes may hold commas, quotes and line ends. */
function parseCsv(text: string): string[][] {
  const records: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(
    /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g,
  )) {
    records.at(-1)!.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === '\r\n') records.push([]);
  }
  expect(records.pop()).toEqual([]);
  return records;
}

describe('csv', () => {
  test('has a row for every weight that is not 0, after the intercept of its class', () => {
    expect(parseCsv(exportModel(three, 'csv'))).toEqual([
      ['feature', 'name', 'class', 'weight'],
      ['', '(intercept)', 'a,b', '0.25'],
      ['1', 'x<1>', 'a,b', '1'],
      ['', '(intercept)', 'c"d', '0'],
      ['1', 'x<1>', 'c"d', '-2'],
      ['', '(intercept)', 'e', '-1'],
      ['2', 'y & "z"', 'e', '0.5'],
    ]);
  });

  test('no name is a formula, and numbers stay numbers', () => {
    const featureNames = ['=1+1', '@SUM(A1)', '-x,y', '\tz'];
    const weights = Float64Array.of(1, -2, 3, -4);
    const text = exportModel(sampleModel({ weights, featureNames, classes: [1, -1] }), 'csv');
    expect(parseCsv(text).slice(2)).toEqual([
      ['1', "'=1+1", '-1', '1'],
      ['2', "'@SUM(A1)", '-1', '-2'],
      ['3', "'-x,y", '-1', '3'],
      ['4', "'\tz", '-1', '-4'],
    ]);
    const named = exportModel(sampleModel({ classes: ['no', '+yes'] }), 'csv');
    expect(named.split('\r\n')[2]).toBe("1,,'+yes,0.5");
    const texts = exportModel(sampleModel({ classes: ['no', '-7'] }), 'csv');
    expect(texts.split('\r\n')[2]).toBe('1,,-7,0.5');
  });

  test('names the positive class, and none in regression', () => {
    expect(exportModel(sampleModel(), 'csv').split('\r\n')[2]).toBe('1,,1,0.5');
    expect(exportModel(sampleRegression(), 'csv').split('\r\n')[2]).toBe('1,,,0.5');
  });
});

describe('vw-readable', () => {
  test('has a header, then name:index:weight', () => {
    const model = sampleModel({
      featureNames: ['age', 'b:c', 'd', 'e\nf'],
      intercepts: Float64Array.of(0.125),
      provenance: { version: '1.2.3', data: '', options: {} },
    });
    const lines = exportModel(model, 'vw-readable').split('\n');
    expect(lines[0]).toBe('Version dso 1.2.3');
    expect(lines).toContain('options: --loss_function hinge --l2 0.0001');
    expect(lines).toContain('bits:3');
    expect(lines.slice(-5)).toEqual([
      'age:0:0.5',
      'b:c:1:-1.25',
      'e f:3:2',
      'Constant:4:0.125',
      '',
    ]);
  });

  test('numbers the classes', () => {
    const text = exportModel(three, 'vw-readable');
    expect(text).toContain('--oaa 3');
    expect(text).toContain('x<1>[1]:1:-2\n');
    expect(text).toContain('Constant[2]:8:-1\n');
  });
});

describe('pmml', () => {
  const checker = spawnSync('python3', ['-c', 'import xml.dom.minidom']).status === 0;
  const program = 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.stdin.buffer)';
  const writable = Object.entries({ ...modelKinds, three }).filter(
    ([, { unitRows, multiLabel }]) => !unitRows && !multiLabel,
  );

  test.skipIf(!checker).each(writable)(
    `%s is well-formed XML${checker ? '' : ' (no python3 to parse it)'}`,
    (_, model) => {
      const input = exportModel(model, 'pmml');
      const { status, stderr } = spawnSync('python3', ['-c', program], { input });
      expect(status, stderr.toString()).toBe(0);
    },
  );

  test('escapes names and keeps them whole', () => {
    const text = exportModel({ ...three, featureNames: ['a<b>&"c"\n\t', 'd\u0001\ud800'] }, 'pmml');
    expect(text).toContain('name="a&lt;b&gt;&amp;&quot;c&quot;&#10;&#9;"');
    expect(text).toContain('name="d\ufffd\ufffd"');
    expect(text).toContain('targetCategory="c&quot;d"');
  });

  test('two classes are a table and what is left', () => {
    const text = exportModel(sampleModel({ loss: { name: 'logistic', parameter: 0 } }), 'pmml');
    expect(text).toContain('functionName="classification" normalizationMethod="logit"');
    expect(text).toContain('<RegressionTable intercept="0" targetCategory="1">');
    expect(text).toContain('<RegressionTable intercept="0" targetCategory="-1"/>');
    expect(text).toContain('<NumericPredictor name="2" coefficient="-1.25"/>');
    expect(text).toContain('feature="probability" value="-1"');
    expect(text).toContain('missingValueReplacement="0"');
  });

  test('an SVM promises no probabilities', () => {
    expect(exportModel(sampleModel(), 'pmml')).not.toContain('feature="probability"');
  });

  test('large scores of an SVM of several classes do not become the same number', () => {
    const model = plainClasses([40, 50, 60]);
    expect(exportModel(model, 'pmml')).toContain('normalizationMethod="softmax"');
    const loss = { name: 'logistic', parameter: 0 };
    expect(exportModel({ ...model, loss }, 'pmml')).toContain('normalizationMethod="logit"');
  });

  test('regression; the poisson loss by exp', () => {
    const loss = { name: 'poisson', parameter: 0 };
    expect(exportModel(sampleRegression(), 'pmml')).toContain('normalizationMethod="none"');
    expect(exportModel(sampleRegression({ loss }), 'pmml')).toContain('normalizationMethod="exp"');
  });

  test('label and probabilities have names that no feature has', () => {
    const featureNames = ['label', 'label_', 'probability(1)', 'd'];
    const loss = { name: 'logistic', parameter: 0 };
    const text = exportModel(sampleModel({ featureNames, loss }), 'pmml');
    expect(text).toContain('<MiningField name="label__" usageType="target"/>');
    expect(text).toContain('<OutputField name="probability(1)_" ');
  });

  test.each([
    [sampleModel({ unitRows: true }), /divided by their length/],
    [sampleModel({ multiLabel: true, weights: new Float64Array(8) }), /several labels/],
    [sampleModel({ featureNames: ['a', 'a', 'b', 'c'] }), /two features "a"/],
    [sampleModel({ featureNames: ['a', '', 'b', 'c'] }), /without a name/],
    [sampleModel({ featureNames: ['a\u0001', 'a\u0002', 'b', 'c'] }), /two features "a\ufffd"/],
    [sampleModel({ classes: ['\u0001', '\u0002'] }), /two classes "\ufffd", as XML can write/],
  ])('%# is refused', (model, message) => {
    expect(() => exportModel(model, 'pmml')).toThrow(message);
  });
});

test('says what a format leaves out', () => {
  const model = sampleModel({
    unitRows: true,
    calibration: [{ method: 'platt', slope: -1, offset: 0 }],
    recipe: { fields: [] },
  });
  expect(exportNotices(model, 'liblinear')).toHaveLength(3);
  expect(exportNotices(model, 'onnx')).toHaveLength(1);
  expect(exportNotices(model, 'json')).toEqual([]);
  expect(exportNotices(sampleModel(), 'csv')).toEqual([]);
});

test('an unknown format is refused by name', () => {
  expect(() => exportModel(sampleModel(), 'pickle' as ExportFormat)).toThrow(
    /"pickle"; expected onnx, liblinear/,
  );
});

test('the names of classes above predictions are no formulas either', () => {
  const classes = ['=a', '-7', 'b'];
  const model = sampleModel({
    classes,
    weights: Float64Array.of(1, 2, 3),
    intercepts: new Float64Array(3),
  });
  expect(headerLine(model, 'scores')).toBe("'=a\t-7\tb\n");
});
