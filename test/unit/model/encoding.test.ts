import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DataError } from '../../../src/errors.ts';
import { decodeModel, encodeModel } from '../../../src/model/encoding.ts';
import { sampleModel, sampleRegression } from '../../support/models.ts';

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
  const start = `dso-model 1\nheader ${Buffer.byteLength(text)} sha256 ${hash}\n${text}---\n`;
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
          const model = sampleModel({ weights: Float64Array.from(values), intercept, lambda });
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
      intercept: -0,
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
      sampleModel({ classes: [-0, 1e300] }),
      sampleModel({ weights: new Float64Array(0) }),
    ]) {
      expect(decodeModel(encodeModel(model), 'x')).toStrictEqual(model);
    }
  });

  test('the bytes do not depend on the order of the fields', () => {
    const model = sampleModel();
    const reversed = Object.fromEntries(Object.entries(model).reverse()) as typeof model;
    expect(encodeModel(reversed)).toEqual(encodeModel(model));
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
    expect(text).toMatch(/^dso-model 1\nheader \d+ sha256 [0-9a-f]{64}\n\{\n {2}"task": "clas/);
    expect(headerOf(bytes)).toMatchObject({ lambda: 1e-4, classes: [-1, 1], intercept: 0 });
  });

  test('dense weights are little-endian float64', () => {
    const bytes = encodeModel(sampleModel());
    const view = new DataView(new Uint8Array(bytes.subarray(payloadStart(bytes))).buffer);
    expect(view.byteLength).toBe(32);
    expect([0, 8, 16, 24].map((at) => view.getFloat64(at, true))).toEqual([0.5, -1.25, 0, 2]);
  });

  test('sparse weights are int32 columns, then float64 values', () => {
    const weights = new Float64Array(9);
    weights[2] = 1.5;
    weights[8] = -3;
    const bytes = encodeModel(sampleModel({ weights }));
    const view = new DataView(new Uint8Array(bytes.subarray(payloadStart(bytes))).buffer);
    expect(view.byteLength).toBe(24);
    expect([view.getInt32(0, true), view.getInt32(4, true)]).toEqual([2, 8]);
    expect([view.getFloat64(8, true), view.getFloat64(16, true)]).toEqual([1.5, -3]);
  });

  test('sparse is chosen when fewer than half of the weights are stored', () => {
    const encodingOf = (...weights: number[]): unknown =>
      headerOf(encodeModel(sampleModel({ weights: Float64Array.from(weights) }))).weights;
    expect(encodingOf(1, 0)).toMatchObject({ encoding: 'dense' });
    expect(encodingOf(1, 0, 0)).toMatchObject({ encoding: 'sparse', stored: 1, bytes: 12 });
  });
});

describe('damage is noticed', () => {
  const dense = encodeModel(sampleModel());
  const sparse = encodeModel(sampleModel({ weights: Float64Array.of(0, 0, 0, 4, 0, 0, -7, 0) }));

  test.each([
    ['dense', dense],
    ['sparse', sparse],
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
      'x.model: damaged model: 1 bytes follow the weights',
    );
  });
});

describe('messages name the file and what is wrong', () => {
  const bytes = encodeModel(sampleModel());
  const decodeText = (text: string) => () => decodeModel(Buffer.from(text), 'x.model');

  test('a foreign file', () => {
    expect(decodeText('+1 3:0.5\n-1 2:1\n')).toThrow(
      'x.model: not a dso model: it begins with "+1 3:0.5\\n-1 2:1\\n"; ' +
        'wanted a first line "dso-model 1"',
    );
  });

  test('an empty file', () => {
    expect(decodeText('')).toThrow('x.model: an empty file; wanted a dso model');
  });

  test('a newer version', () => {
    expect(decodeText('dso-model 2\nwhatever')).toThrow(
      'x.model: model format 2; this version of dso reads format 1',
    );
  });

  test('truncated weights', () => {
    expect(() => decodeModel(bytes.subarray(0, -5), 'x.model')).toThrow(
      'x.model: truncated model: the weights end after 27 of 32 bytes',
    );
  });

  test('a header with right checksums and a wrong field', () => {
    const cases: [(header: LooseHeader) => void, string][] = [
      [(header) => delete header.lambda, 'header: lambda is missing; wanted a number'],
      [(header) => (header.task = 'ranking'), 'header: task is "ranking"; wanted classification'],
      [(header) => (header.columns = -1), 'header: columns is -1; wanted a whole number from 0'],
      [(header) => (header.columns = 5), 'header: 4 dense weights in 32 bytes do not fit 5'],
      [(header) => (header.intercept = 'Infinity'), 'header: intercept is "Infinity"; wanted a f'],
      [(header) => (header.classes = [1]), 'header: classes is [1]; wanted two numbers'],
      [
        (header) => Object.assign(header, { certificate: 3 }),
        'header: certificate is not an object',
      ],
      [(header) => delete header.loss.name, 'header: loss.name is missing; wanted a string'],
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
      const stored = payload.length / 12;
      const weights = { encoding: 'sparse', stored, bytes: payload.length, sha256, ...header };
      return withHeader(changed, (fields) => (fields.weights = weights));
    };
    const sparse = (...pairs: [number, number][]): Buffer => {
      const payload = Buffer.alloc(12 * pairs.length);
      for (const [index, [column, value]] of pairs.entries()) {
        payload.writeInt32LE(column, 4 * index);
        payload.writeDoubleLE(value, 4 * pairs.length + 8 * index);
      }
      return payload;
    };
    expect(decodeModel(reencode(sparse([1, 5]), {}), 'x').weights).toEqual(
      Float64Array.of(0, 5, 0, 0),
    );
    const cases: [Buffer, string][] = [
      [sparse([2, 1], [1, 1]), 'column 1 after column 2; wanted ascending columns below 4'],
      [sparse([4, 1]), 'column 4 after column -1'],
      [sparse([-1, 1]), 'column -1 after column -1'],
      [sparse([3, Number.NaN]), 'the weight of column 3 is NaN; weights are finite numbers'],
    ];
    for (const [payload, message] of cases) {
      expect(() => decodeModel(reencode(payload, {}), 'x.model')).toThrow(`x.model: ${message}`);
    }
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
    expect(() => encodeModel(sampleModel({ intercept: Infinity }))).toThrow('intercept is Inf');
    expect(() => encodeModel(sampleModel({ columns: 9 }))).toThrow('of 9 columns has 4 weights');
    expect(() => encodeModel(sampleModel({ task: 'regression' }))).toThrow('two classes');
  });
});
