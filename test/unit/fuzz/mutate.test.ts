import { expect, test } from 'vitest';
import { stream } from '../../../src/math/random.ts';
import { bytesOfText, byteText, linesOf, mutateBytes, mutateText } from '../../fuzz/mutate.ts';
import { parquetSeeds } from '../../fuzz/parquet-files.ts';
import { TextCases, textFormats } from '../../fuzz/text-cases.ts';
import { forged, ThriftStruct } from '../../fuzz/thrift.ts';

const text = '+1 3:0.5 7:1.2\n-1 1:1\n';
const sources = { other: '2 qid:1 4:4\n', tokens: ['1e400', '\n'] };

test('the generator alone decides what becomes of an input', () => {
  const mutated = Array.from({ length: 200 }, (_, id) => mutateText(stream(7, id), text, sources));
  const again = Array.from({ length: 200 }, (_, id) => mutateText(stream(7, id), text, sources));
  expect(mutated).toEqual(again);
  expect(new Set(mutated).size).toBeGreaterThan(150);
  expect(mutated.some((one) => one.includes('1e400'))).toBe(true);
  expect(mutated.some((one) => one.includes('4:4'))).toBe(true);
});

test('bytes that are no text survive as such, also empty ones', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  expect(bytesOfText(byteText(bytes))).toEqual(bytes);
  expect(linesOf('a\n\nb')).toEqual(['a\n', '\n', 'b']);
  for (let id = 0; id < 100; id += 1) {
    expect(mutateBytes(stream(1, id), new Uint8Array(0), bytes)).toBeInstanceOf(Uint8Array);
    expect(typeof mutateText(stream(1, id), '', { other: '', tokens: ['x'] })).toBe('string');
  }
});

test('cases of all formats come up', () => {
  const cases = new TextCases();
  const formats = Array.from({ length: 100 }, (_, id) => cases.next(stream(1, id)).format);
  expect(new Set(formats)).toEqual(new Set(textFormats));
});

test('numbers of a footer are found, and forged without moving what is behind them', () => {
  const [{ bytes, footer, pages }] = parquetSeeds();
  expect(footer.end).toBe(bytes.length - 8);
  expect(pages.length).toBeGreaterThan(0);
  const lengths = new Set<number>();
  for (let id = 0; id < 50; id += 1) {
    const found = footer.varints[id % footer.varints.length];
    const changed = forged(stream(3, id), bytes, found);
    lengths.add(changed.length - bytes.length);
    expect(changed.subarray(0, found.start)).toEqual(Buffer.from(bytes.subarray(0, found.start)));
  }
  // Most numbers take the place of the old one.
  expect(lengths.has(0)).toBe(true);
  expect(() => new ThriftStruct(Uint8Array.of(0x18, 200), 0)).toThrow('cut off');
});
