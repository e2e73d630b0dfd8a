import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { convert, describeData, writeDataset } from '../../../../src/data/binary/convert.ts';
import { readDataset } from '../../../../src/data/read/read.ts';
import { malformed, scanFloat32, scanFloat64 } from '../../../../src/data/text/decimal.ts';
import {
  isMiddle,
  numberBytes,
  writeFloat32,
  writeFloat64,
} from '../../../../src/data/text/write.ts';
import { fc } from '../../../support/property.ts';
import { temporaryFile, temporaryFolder } from '../support/files.ts';
import { anyDataset, anyValue, bitsOf } from './support.ts';

const buffer = new Uint8Array(numberBytes + 1);

function text(write: typeof writeFloat32, value: number): string {
  return Buffer.from(buffer.subarray(0, write(buffer, 0, value))).toString('latin1');
}

function float32Of(decimal: string): number {
  const out = new Float32Array(1);
  expect(scanFloat32(Buffer.from(`${decimal}\n`), 0, out, 0)).not.toBe(malformed);
  return out[0];
}

function float64Of(decimal: string): number {
  const out = new Float64Array(1);
  expect(scanFloat64(Buffer.from(`${decimal}\n`), 0, out, 0)).not.toBe(malformed);
  return out[0];
}

describe('decimals', () => {
  test.each([
    [0.1, '0.1'],
    [-0.0978728, '-0.0978728'],
    [1, '1'],
    [-250, '-250'],
    [123456, '123456'],
    [0.000001, '0.000001'],
    [1.5e-7, '1.5e-7'],
    [1e-45, '1e-45'],
    [3.4028234663852886e38, '3.4028235e+38'],
    [16777216, '16777216'],
    [999999.9375, '999999.94'],
  ])('%f as float32 is %s', (value, expected) => {
    expect(text(writeFloat32, Math.fround(value))).toBe(expected);
  });

  test('any float32 comes back, in at most nine digits', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const decimal = text(writeFloat32, value);
        expect(float32Of(decimal)).toBe(value);
        const digits = decimal.replace(/e.*|[-.]/g, '').replace(/^0+|0+$/g, '');
        expect(digits.length).toBeLessThanOrEqual(9);
      }),
      { numRuns: 3000 },
    );
  });

  test('decimals of six digits come back as they were', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 999999 }),
        fc.integer({ min: 0, max: 6 }),
        (n, power) => {
          const decimal = String(n / 10 ** power);
          if (n / 10 ** power >= 1e-6) {
            expect(Number(text(writeFloat32, Math.fround(n / 10 ** power)))).toBe(Number(decimal));
          }
        },
      ),
      { numRuns: 3000 },
    );
  });

  test('any float64 comes back, and rounds to the same float32', () => {
    const middles = anyValue
      .map((value) => {
        const bits = new Uint32Array(Float32Array.of(value).buffer);
        bits[0] += 1;
        return (value + new Float32Array(bits.buffer)[0]) / 2;
      })
      .filter((value) => Number.isFinite(Math.fround(value)));
    const limit = 3.4e38;
    const any = fc.double({ noNaN: true, noDefaultInfinity: true, min: -limit, max: limit });
    let seen = 0;
    fc.assert(
      fc.property(fc.oneof(any, middles), (value) => {
        if (isMiddle(value)) seen += 1;
        const decimal = text(writeFloat64, value);
        expect(float64Of(decimal)).toBe(value + 0);
        expect(float32Of(decimal) + 0).toBe(Math.fround(value) + 0);
      }),
      { numRuns: 3000 },
    );
    expect(seen).toBeGreaterThan(500);
  });
});

describe('text → dsob → text', () => {
  test.each([{}, { pack: true }, { values: 'float64' as const }, { values: 'auto' as const }])(
    'reads as the same numbers: %o',
    async (options) => {
      const folder = temporaryFolder();
      const [first, binary, back] = ['first.svm', 'data.dsob', 'back.svm'].map((name) =>
        join(folder, name),
      );
      await fc.assert(
        fc.asyncProperty(anyDataset, fc.boolean(), async (dataset, zeroBased) => {
          // The largest index has no successor to be written as.
          fc.pre(zeroBased || dataset.columns < 2 ** 31 - 1);
          await writeDataset(first, dataset, { zeroBased });
          const expected = bitsOf(await readDataset(first, { zeroBased }));
          expect(expected).toEqual(bitsOf(dataset));
          await convert(first, binary, { ...options, zeroBased });
          expect(bitsOf(await readDataset(binary))).toEqual(expected);
          await convert(binary, back, { zeroBased });
          expect(bitsOf(await readDataset(back, { zeroBased }))).toEqual(expected);
        }),
        { numRuns: 60 },
      );
    },
  );

  const decimals =
    '1 1:0.123456789 2:1e-50 3:0.1 4:-7 # c\n-1 qid:3 5:0.25 2:3.14159265358979312\n';

  test.each([
    ['float32', '1 1:0.12345679 3:0.1 4:-7\n-1 2:3.1415927 5:0.25\n', 0],
    ['float64', '1 1:0.123456789 3:0.1 4:-7\n-1 2:3.141592653589793 5:0.25\n', 1],
    ['auto', '1 1:0.123456789 3:0.1 4:-7\n-1 2:3.141592653589793 5:0.25\n', 1],
  ] as const)('--values %s', async (values, expected, float64Blocks) => {
    const binary = join(temporaryFolder(), 'data.dsob');
    const back = `${binary}.svm`;
    await convert(temporaryFile('data.svm', decimals), binary, { values });
    expect(await describeData(binary)).toMatchObject({ float64Blocks });
    await convert(binary, back);
    expect(readFileSync(back, 'utf8')).toBe(expected);
  });

  test('auto takes float32 where every decimal survives it', async () => {
    const binary = join(temporaryFolder(), 'data.dsob');
    const source = temporaryFile('data.svm', '1 1:0.1 2:123456 3:1e-7 4:16777216 5:-2.5\n');
    await convert(source, binary, { values: 'auto' });
    expect(await describeData(binary)).toMatchObject({ float64Blocks: 0 });
  });

  test('a decimal close to the middle of two float32 keeps its float32', async () => {
    // The middle of 1 and the next float32, and a little beside it: too little for float64.
    const middle = '1.000000059604644775390625';
    const folder = temporaryFolder();
    const lines = [middle, `${middle}000000000001`, '1.000000059604644775390624999999999'];
    const source = temporaryFile(
      'data.svm',
      `1 ${lines.map((v, i) => `${i + 1}:${v}`).join(' ')}\n`,
    );
    const expected = bitsOf(await readDataset(source));
    expect(new Set(expected.values).size).toBe(2);
    const [binary, back] = ['data.dsob', 'back.svm'].map((name) => join(folder, name));
    await convert(source, binary, { values: 'float64' });
    await convert(binary, back);
    for (const path of [binary, back]) expect(bitsOf(await readDataset(path))).toEqual(expected);
    expect(float64Of(readFileSync(back, 'utf8').split(/[: ]/)[2])).toBe(Number(middle));
  });

  test('repeated features, comments, line ends and order of the text do not matter', async () => {
    const source = '# head\r\n\r\n1\t9:0.1 3:0.7 9:0.2\r\n  -1 qid:1 2:1 # x 3:4\n2 4:0 6:1 6:-1';
    const options = { sumDuplicates: true };
    const path = temporaryFile('odd.svm', source);
    const expected = bitsOf(await readDataset(path, options));
    for (const values of ['float32', 'float64', 'auto'] as const) {
      const binary = join(temporaryFolder(), 'odd.dsob');
      const { notices } = await convert(path, binary, { ...options, values });
      expect(notices).toEqual(['qid: ignored on 1 line']);
      expect(bitsOf(await readDataset(binary))).toEqual(expected);
      await convert(binary, `${binary}.svm`);
      expect(bitsOf(await readDataset(`${binary}.svm`))).toEqual(expected);
    }
  });

  test('the largest feature of text from 0 does not fit into text from 1', async () => {
    const source = temporaryFile('data.svm', '1 2147483646:1\n');
    const binary = join(temporaryFolder(), 'data.dsob');
    await convert(source, binary, { zeroBased: true });
    await expect(convert(binary, `${binary}.svm`)).rejects.toThrow(
      'column 2147483647 cannot be written as a feature from 1 on; use --zero-based',
    );
    await convert(binary, `${binary}.svm`, { zeroBased: true });
    expect(readFileSync(`${binary}.svm`, 'utf8')).toBe('1 2147483646:1\n');
  });

  test('names that are not there are missed before the rows are read', async () => {
    const source = temporaryFile('data.svm', 'not read\n');
    const target = join(temporaryFolder(), 'data.dsob');
    const found = convert(source, target, { names: 'nowhere.txt' });
    await expect(found).rejects.toThrow('nowhere.txt: no such file');
  });

  test('compressed text', async () => {
    const folder = temporaryFolder();
    const source = join(folder, 'data.svm');
    writeFileSync(source, '1 1:0.5\n-1 3:2\n'.repeat(20_000));
    const expected = bitsOf(await readDataset(source));
    for (const name of ['a.svm.gz', 'b.dsob', 'c.svm.zst', 'd.dsob.gz', 'e.svm']) {
      await convert(source, join(folder, name));
      expect(bitsOf(await readDataset(join(folder, name)))).toEqual(expected);
      await convert(join(folder, name), join(folder, `back-${name}.svm`));
      expect(readFileSync(join(folder, `back-${name}.svm`)).equals(readFileSync(source))).toBe(
        true,
      );
    }
  });
});
