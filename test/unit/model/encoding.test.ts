import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { DataError } from '../../../src/errors.ts';
import { decodeModel, encodeModel } from '../../../src/model/file.ts';
import { sampleClasses, sampleModel, sampleRegression } from '../../support/models.ts';
import { fc } from '../../support/property.ts';

const anyFinite = fc.double({ noNaN: true, noDefaultInfinity: true });
const separator = '\n---\n';

function bitsOf(weights: Float64Array): BigUint64Array {
  return new BigUint64Array(weights.slice().buffer);
}

function payloadStart(bytes: Uint8Array): number {
  return Buffer.from(bytes).indexOf(separator) + separator.length;
}

/** A header that a test may spoil. */
interface LooseHeader {
  [key: string]: unknown;
  loss: Record<string, unknown>;
  certificate: Record<string, unknown>;
}

function headerOf(bytes: Uint8Array): LooseHeader {
  const text = Buffer.from(bytes.subarray(0, payloadStart(bytes) - separator.length)).toString();
  return JSON.parse(text.slice(text.indexOf('{')));
}

/** The file with another header and checksums that fit it. */
function withHeader(bytes: Uint8Array, change: (header: LooseHeader) => void): Uint8Array {
  const header = headerOf(bytes);
  change(header);
  const text = `${JSON.stringify(header, undefined, 2)}\n`;
  const hash = createHash('sha256').update(text).digest('hex');
  const start = `dso-model 2\nheader ${Buffer.byteLength(text)} sha256 ${hash}\n${text}---\n`;
  return Buffer.concat([Buffer.from(start), bytes.subarray(payloadStart(bytes))]);
}

describe('encode, then decode', () => {
  test('gives the same model and the same bits of every weight', () => {
    const sparse = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, anyFinite);
    fc.assert(
      fc.property(
        fc.oneof(fc.array(anyFinite), fc.array(sparse)),
        anyFinite,
        anyFinite,
        (values, intercept, lambda) => {
          const model = sampleModel({
            weights: Float64Array.from(values),
            intercepts: Float64Array.of(intercept),
            lambda,
          });
          const decoded = decodeModel(encodeModel(model), 'x');
          expect(decoded).toStrictEqual(model);
          expect(bitsOf(decoded.weights)).toEqual(bitsOf(model.weights));
        },
      ),
    );
  });

  test('keeps −0 and subnormals in both encodings', () => {
    const special = [-0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308];
    for (const zeros of [0, 20]) {
      const weights = Float64Array.from([...special, ...new Array(zeros).fill(0)]);
      const bytes = encodeModel(sampleModel({ weights }));
      expect(headerOf(bytes).weights).toMatchObject({ encoding: zeros ? 'sparse' : 'dense' });
      expect(bitsOf(decodeModel(bytes, 'x').weights)).toEqual(bitsOf(weights));
    }
  });

  test('keeps numbers that JSON does not have', () => {
    const model = sampleModel({
      intercepts: Float64Array.of(-0),
      certificate: {
        primal: 0.5,
        dual: -Infinity,
        gap: Infinity,
        relativeGap: Infinity,
        epochs: 0,
        stopped: 'interrupted',
      },
    });
    expect(decodeModel(encodeModel(model), 'x')).toStrictEqual(model);
  });

  test('keeps a regression model, a custom loss and unusual classes', () => {
    for (const model of [
      sampleRegression({ loss: { name: 'mine', parameter: 0.1, module: 'file:///mine.js' } }),
      sampleModel({ classes: [-1e-300, 1e300] }),
      sampleModel({ classes: ['-0', 'Infinity'] }),
      sampleModel({ weights: new Float64Array(0) }),
    ]) {
      expect(decodeModel(encodeModel(model), 'x')).toStrictEqual(model);
    }
  });

  test('keeps everything a model of several classes has', () => {
    const { provenance, ...model } = sampleClasses();
    const decoded = decodeModel(encodeModel({ ...model, provenance: provenance! }), 'x');
    expect(decoded).toStrictEqual({ ...model, provenance });
    expect(Object.keys(decoded.provenance!.options)).toEqual(['lambda', 'loss', 'unit-rows']);
  });

  test('keeps multi-label models, hashed columns, and models without a certificate', () => {
    const { certificate } = sampleModel();
    const none = { primal: 0.5, dual: -Infinity, gap: Infinity, relativeGap: Infinity };
    for (const model of [
      sampleModel({ classes: ['a'], multiLabel: true }),
      sampleModel({
        classes: ['a', 'b'],
        multiLabel: true,
        columns: 2,
        intercepts: new Float64Array(2),
      }),
      sampleModel({ recipe: { hashBits: 2 } }),
      sampleModel({ certificate: { ...certificate, ...none, stopped: 'stream' } }),
      sampleModel({ certificate: { ...certificate, stopped: 'early-stop' } }),
      sampleModel({ weights: new Float64Array(0), featureNames: [] }),
    ]) {
      expect(decodeModel(encodeModel(model), 'x')).toStrictEqual(model);
    }
  });

  test('keeps any names, in any number', () => {
    const names = fc.array(fc.string({ unit: 'binary' }), { maxLength: 50 });
    fc.assert(
      fc.property(names, (featureNames) => {
        const model = sampleModel({ weights: new Float64Array(featureNames.length), featureNames });
        expect(decodeModel(encodeModel(model), 'x')).toStrictEqual(model);
      }),
    );
    // More than are turned into bytes, or back, at once; a lone half of a pair is not UTF-8.
    const many = Array.from({ length: 70_000 }, (_, k) => (k === 5 ? '\ud800' : `naïve "${k}"`));
    const model = sampleModel({ weights: new Float64Array(many.length), featureNames: many });
    expect(decodeModel(encodeModel(model), 'x').featureNames).toEqual(many);
  });

  test('the bytes do not depend on the order of the fields', () => {
    const reversed = (value: unknown): unknown => {
      if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
      if (Array.isArray(value)) return value.map(reversed);
      const entries = Object.entries(value).map(([key, inner]) => [key, reversed(inner)]);
      return Object.fromEntries(entries.reverse());
    };
    for (const model of [sampleModel(), sampleClasses()]) {
      expect(encodeModel(reversed(model) as typeof model)).toEqual(encodeModel(model));
    }
  });

  test('reads from the middle of a buffer', () => {
    const bytes = encodeModel(sampleModel());
    const shifted = new Uint8Array(bytes.length + 3);
    shifted.set(bytes, 3);
    expect(decodeModel(shifted.subarray(3), 'x')).toStrictEqual(sampleModel());
  });
});

describe('layout', () => {
  test('is readable up to the weights', () => {
    const bytes = encodeModel(sampleModel());
    const text = Buffer.from(bytes.subarray(0, payloadStart(bytes))).toString();
    expect(text).toMatch(/^dso-model 2\nheader \d+ sha256 [0-9a-f]{64}\n\{\n {2}"task": "clas/);
    expect(headerOf(bytes)).toMatchObject({ lambda: 1e-4, classes: [-1, 1], intercepts: [0] });
  });

  test('dense weights are little-endian float64', () => {
    const bytes = encodeModel(sampleModel());
    const view = new DataView(new Uint8Array(bytes.subarray(payloadStart(bytes))).buffer);
    expect(view.byteLength).toBe(32);
    expect([0, 8, 16, 24].map((at) => view.getFloat64(at, true))).toEqual([0.5, -1.25, 0, 2]);
  });

  test('sparse weights are an int32 count, int32 columns, then float64 values', () => {
    const weights = new Float64Array(9);
    weights[2] = 1.5;
    weights[8] = -3;
    const bytes = encodeModel(sampleModel({ weights }));
    const view = new DataView(new Uint8Array(bytes.subarray(payloadStart(bytes))).buffer);
    expect(view.byteLength).toBe(28);
    expect([0, 4, 8].map((at) => view.getInt32(at, true))).toEqual([2, 2, 8]);
    expect([view.getFloat64(12, true), view.getFloat64(20, true)]).toEqual([1.5, -3]);
  });

  test('sparse weights of several vectors: a count for each, columns begin anew', () => {
    const weights = new Float64Array(3 * 9);
    weights[9 + 8] = 1.5;
    weights[18 + 2] = -3;
    weights[18 + 3] = 4;
    const { featureNames: _, ...model } = sampleClasses({ weights, columns: 9 });
    const bytes = encodeModel(model);
    const view = new DataView(new Uint8Array(bytes.subarray(payloadStart(bytes))).buffer);
    const integers = [0, 1, 2, 3, 4, 5].map((index) => view.getInt32(4 * index, true));
    expect(integers).toEqual([0, 1, 2, 8, 2, 3]);
    expect([24, 32, 40].map((at) => view.getFloat64(at, true))).toEqual([1.5, -3, 4]);
    expect(view.byteLength).toBe(48);
    expect(decodeModel(bytes, 'x')).toStrictEqual(model);
  });

  test('names are lines of JSON strings behind the weights', () => {
    const bytes = encodeModel(sampleClasses());
    const names = Buffer.from(bytes.subarray(payloadStart(bytes) + 48)).toString();
    expect(names).toBe('"legs"\n"colour=\\"dark\\n red\\""\n');
    expect(headerOf(bytes).featureNames).toMatchObject({ bytes: names.length });
  });

  test('sparse is chosen when it is smaller', () => {
    const encodingOf = (...weights: number[]): unknown =>
      headerOf(encodeModel(sampleModel({ weights: Float64Array.from(weights) }))).weights;
    expect(encodingOf(1, 0)).toMatchObject({ encoding: 'dense' });
    expect(encodingOf(1, 0, 0)).toMatchObject({ encoding: 'sparse', stored: 1, bytes: 16 });
    expect(encodingOf(1, 1, 0, 0)).toMatchObject({ encoding: 'sparse', stored: 2, bytes: 28 });
    expect(encodingOf(1, 1, 0)).toMatchObject({ encoding: 'dense', stored: 3, bytes: 24 });
  });
});

describe('damage is noticed', () => {
  const dense = encodeModel(sampleModel());
  const sparse = encodeModel(sampleModel({ weights: Float64Array.of(0, 0, 0, 4, 0, 0, -7, 0) }));
  const full = encodeModel(sampleClasses());

  test.each([
    ['dense', dense],
    ['sparse', sparse],
    ['several classes, names', full],
  ])('every flipped bit (%s)', (_, bytes) => {
    for (let position = 0; position < bytes.length; position++) {
      for (let bit = 0; bit < 8; bit++) {
        const damaged = Uint8Array.from(bytes);
        damaged[position] ^= 1 << bit;
        expect(() => decodeModel(damaged, 'x.model'), `byte ${position} bit ${bit}`).toThrow(
          DataError,
        );
      }
    }
  });

  test.each([
    ['dense', dense],
    ['sparse', sparse],
    ['several classes, names', full],
  ])('every truncation (%s)', (_, bytes) => {
    for (let length = 0; length < bytes.length; length++) {
      expect(() => decodeModel(bytes.subarray(0, length), 'x.model'), `${length}`).toThrow(
        DataError,
      );
    }
  });

  test('bytes after the end', () => {
    const longer = Buffer.concat([dense, Buffer.from('\n')]);
    expect(() => decodeModel(longer, 'x.model')).toThrow(
      'x.model: damaged model: 1 bytes follow its end',
    );
    expect(() => decodeModel(Buffer.concat([full, Buffer.from('"x"\n')]), 'x.model')).toThrow(
      'x.model: damaged model: 4 bytes follow its end',
    );
  });
});

describe('messages name the file and what is wrong', () => {
  const bytes = encodeModel(sampleModel());
  const decodeText = (text: string) => () => decodeModel(Buffer.from(text), 'x.model');

  test('a file of another kind', () => {
    expect(decodeText('+1 3:0.5\n-1 2:1\n')).toThrow(
      'x.model: not a dso model: it begins with "+1 3:0.5\\n-1 2:1\\n"',
    );
  });

  test('an empty file', () => {
    expect(decodeText('')).toThrow('x.model: an empty file; expected a dso model');
  });

  test('a newer version', () => {
    expect(decodeText('dso-model 3\nwhatever')).toThrow(
      'x.model: model format 3; this dso reads 1 to 2',
    );
  });

  test('truncated weights', () => {
    expect(() => decodeModel(bytes.subarray(0, -5), 'x.model')).toThrow(
      'x.model: truncated model: weights: 27 of 32 bytes',
    );
  });

  test('a header with right checksums and a wrong field', () => {
    const cases: [(header: LooseHeader) => void, string][] = [
      [(header) => delete header.lambda, 'header: lambda is missing; expected a number'],
      [(header) => (header.task = 'ranking'), 'header: task is "ranking"; expected classification'],
      [(header) => (header.columns = -1), 'header: columns is -1; expected a whole number from 0'],
      [(header) => (header.columns = 5), 'header: 4 dense weights in 32 bytes do not fit 5'],
      [
        (header) => (header.intercepts = ['Infinity']),
        'header: intercepts is ["Infinity"]; expect',
      ],
      [
        (header) => (header.intercepts = [0, 1]),
        'header: intercepts is [0,1]; expected one for each',
      ],
      [(header) => (header.classes = [1]), 'header: classes is [1]; expected at least 2 labels'],
      [(header) => (header.classes = [1, null]), 'header: classes is [1,null]; expected a list of'],
      [(header) => (header.classes = [1, 1]), 'header: classes is [1,1]; expected each label once'],
      [
        (header) => (header.classes = [1, 2, 3]),
        'header: intercepts is [0]; expected one for each of 3 vectors',
      ],
      [
        (header) => Object.assign(header, { classes: [1, 2, 3], intercepts: [0, 0, 0] }),
        'header: 4 dense weights in 32 bytes do not fit 4 columns and 3 vectors',
      ],
      [
        (header) => Object.assign(header, { task: 'regression', multiLabel: true }),
        'header: multiLabel is true; expected none in a regression',
      ],
      [
        (header) => Object.assign(header, { task: 'regression', calibration: [] }),
        'header: calibration is []; expected none in a regression',
      ],
      [
        (header) =>
          (header.calibration = [{ method: 'isotonic', scores: [1], probabilities: [7] }]),
        'header: calibration[0].probabilities is [7]; expected numbers from 0 to 1',
      ],
      [
        (header) => (header.multiLabel = false),
        'header: multiLabel is false; expected true, or not',
      ],
      [(header) => (header.certificates = []), 'header: certificates is []; expected one for each'],
      [
        (header) => (header.calibration = [{ method: 'isotonic', scores: [1], probabilities: [] }]),
        'header: calibration[0].scores is [1]; expected as many as the 0 probabilities',
      ],
      [
        (header) => (header.recipe = { fields: [{ name: 'age', kind: 'colour' }] }),
        'header: recipe.fields[0].kind is "colour"; expected number or category',
      ],
      [
        (header) => (header.provenance = { version: '1', data: '', options: { seed: null } }),
        'header: provenance.options.seed is null; expected a string',
      ],
      [
        (header) => Object.assign(header, { certificate: 3 }),
        'header: certificate is not an object',
      ],
      [(header) => delete header.loss.name, 'header: loss.name is missing; expected a string'],
      [(header) => (header.certificate.stopped = 'x'), 'header: certificate.stopped is "x"'],
    ];
    for (const [change, message] of cases) {
      expect(() => decodeModel(withHeader(bytes, change), 'x.model')).toThrow(
        `x.model: ${message}`,
      );
    }
  });

  test('sparse columns out of order or range, weights that are not finite', () => {
    const reencode = (payload: Buffer, header: object): Uint8Array => {
      const changed = Buffer.concat([bytes.subarray(0, payloadStart(bytes)), payload]);
      const sha256 = createHash('sha256').update(payload).digest('hex');
      const stored = (payload.length - 4) / 12;
      const weights = { encoding: 'sparse', stored, bytes: payload.length, sha256, ...header };
      return withHeader(changed, (fields) => (fields.weights = weights));
    };
    const sparse = (...pairs: [number, number][]): Buffer => {
      const payload = Buffer.alloc(4 + 12 * pairs.length);
      payload.writeInt32LE(pairs.length, 0);
      for (const [index, [column, value]] of pairs.entries()) {
        payload.writeInt32LE(column, 4 + 4 * index);
        payload.writeDoubleLE(value, 4 + 4 * pairs.length + 8 * index);
      }
      return payload;
    };
    expect(decodeModel(reencode(sparse([1, 5]), {}), 'x').weights).toEqual(
      Float64Array.of(0, 5, 0, 0),
    );
    const cases: [Buffer, string][] = [
      [sparse([2, 1], [1, 1]), 'column 1 after column 2; expected ascending columns below 4'],
      [sparse([4, 1]), 'column 4 after column -1'],
      [sparse([-1, 1]), 'column -1 after column -1'],
      [
        Buffer.concat([Buffer.from([7, 0, 0, 0]), sparse([3, 1]).subarray(4)]),
        'the vectors have 7 weights; expected 1 in all',
      ],
      [sparse([3, Number.NaN]), 'the weight of column 3 is NaN; weights are finite numbers'],
    ];
    for (const [payload, message] of cases) {
      expect(() => decodeModel(reencode(payload, {}), 'x.model')).toThrow(`x.model: ${message}`);
    }
  });

  test('a weight that is not finite in one of several vectors', () => {
    const weights = new Float64Array(3 * 9);
    weights[1] = 5;
    weights[18 + 2] = -3;
    const { featureNames: _, ...model } = sampleClasses({ weights, columns: 9 });
    const several = Buffer.from(encodeModel(model));
    several.writeDoubleLE(Infinity, several.length - 8);
    const sha256 = createHash('sha256')
      .update(several.subarray(payloadStart(several)))
      .digest('hex');
    const damaged = withHeader(several, (header) => Object.assign(header.weights!, { sha256 }));
    expect(() => decodeModel(damaged, 'x.model')).toThrow(
      'x.model: the weight of column 2 in vector 2 is Infinity; weights are finite numbers',
    );
  });

  test('a small file of more weights than memory holds', () => {
    const classes = Array.from({ length: 3000 }, (_, label) => label);
    const zeros = classes.map(() => 0);
    const payload = Buffer.alloc(4 * classes.length);
    const sha256 = createHash('sha256').update(payload).digest('hex');
    const start = Buffer.concat([bytes.subarray(0, payloadStart(bytes)), payload]);
    const huge = withHeader(start, (header) =>
      Object.assign(header, {
        columns: 2 ** 31 - 1,
        classes,
        intercepts: zeros,
        weights: { encoding: 'sparse', stored: 0, bytes: payload.length, sha256 },
      }),
    );
    expect(() => decodeModel(huge, 'x.model')).toThrow(
      'x.model: 2147483647 columns in 3000 vectors are 51539.6 GB of weights, for which there',
    );
  });
});

describe('what cannot be a model is not written', () => {
  test.each([Number.NaN, Infinity, -Infinity])('a weight of %s', (weight) => {
    expect(() => encodeModel(sampleModel({ weights: Float64Array.of(1, weight) }))).toThrow(
      `the weight of column 1 is ${weight}`,
    );
  });

  test('NaN in the header, the wrong number of weights, classes that do not fit', () => {
    expect(() => encodeModel(sampleModel({ lambda: Number.NaN }))).toThrow("model's lambda is NaN");
    expect(() => encodeModel(sampleModel({ intercepts: Float64Array.of(Infinity) }))).toThrow(
      'intercepts is ["Infinity"]; expected a list of finite numbers',
    );
    expect(() => encodeModel(sampleModel({ columns: 9 }))).toThrow('of 9 columns has 4 weights');
    expect(() => encodeModel(sampleModel({ task: 'regression' }))).toThrow(
      'classes is [-1,1]; expected none',
    );
    expect(() => encodeModel(sampleModel({ featureNames: ['a', 'b'] }))).toThrow(
      'has 2 feature names',
    );
    expect(() => encodeModel(sampleModel({ classes: [1] }))).toThrow('classes is [1]; expected');
    expect(() => encodeModel(sampleModel({ classes: [0, Infinity] }))).toThrow(
      'the class Infinity',
    );
    expect(() => encodeModel(sampleClasses({ calibration: [] }))).toThrow(
      'calibration is []; expected one for each of 3',
    );
    expect(() => encodeModel(sampleModel({ classes: ['a', 'a'] }))).toThrow('each label once');
    expect(() => encodeModel(sampleClasses({ columns: 3 }))).toThrow('3 columns and 3 vectors');
  });
});

describe('golden files', () => {
  const golden = (name: string) => readFileSync(new URL(`golden/${name}`, import.meta.url));

  test('of version 1 are read', () => {
    expect(decodeModel(golden('binary-1.model'), 'x')).toStrictEqual(
      sampleModel({ intercepts: Float64Array.of(-0.25) }),
    );
    const { weights, ...regression } = decodeModel(golden('regression-1.model'), 'x');
    expect(bitsOf(weights)).toEqual(bitsOf(Float64Array.of(0, 0, 1.5, 0, 0, 0, 0, 0, -0)));
    expect(regression).toMatchObject({
      task: 'regression',
      loss: { name: 'huber', parameter: 2 },
      certificate: { dual: -Infinity, gap: Infinity, stopped: 'interrupted' },
      intercepts: Float64Array.of(0),
    });
  });

  test('of version 2 are read, and written to the same bytes', () => {
    const models = { 'binary-2.model': sampleModel(), 'classes-2.model': sampleClasses() };
    for (const [name, model] of Object.entries(models)) {
      expect(decodeModel(golden(name), 'x')).toStrictEqual(model);
      expect(golden(name).equals(encodeModel(model))).toBe(true);
    }
  });
});
