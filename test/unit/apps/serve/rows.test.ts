import { expect, test } from 'vitest';
import { LineCutter } from '../../../../src/apps/serve/rows.ts';
import { fc } from '../../../support/property.ts';

function cutAll(cutter: LineCutter, chunks: readonly Buffer[]): string[] {
  const lines = chunks.flatMap((chunk) => [...cutter.cut(chunk)]);
  return [...lines, ...cutter.finish()].map(String);
}

test('lines do not depend on where chunks end', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '\n', '{', '\r'), maxLength: 40 });
  fc.assert(
    fc.property(text, fc.infiniteStream(fc.integer({ min: 1, max: 5 })), (whole, lengths) => {
      const bytes = Buffer.from(whole);
      const chunks: Buffer[] = [];
      for (let start = 0; start < bytes.length; ) {
        const length = lengths.next().value!;
        chunks.push(bytes.subarray(start, start + length));
        start += length;
      }
      const cutter = new LineCutter(1000);
      const expected = whole.split('\n');
      if (expected.at(-1) === '') expected.pop();
      expect(cutAll(cutter, chunks)).toEqual(expected);
      expect(cutter.count).toBe(expected.length);
    }),
  );
});

test.each([
  ['in one chunk', ['ok\n123456\n']],
  ['in two', ['ok\n123', '456\n']],
  ['without an end', ['ok\n', '123456']],
])('a line that is too long is refused: %s', (_, chunks) => {
  const cutter = new LineCutter(5);
  expect(() => cutAll(cutter, chunks.map(Buffer.from))).toThrow('line 2: longer than 5 bytes');
  expect(cutAll(new LineCutter(6), chunks.map(Buffer.from))).toEqual(['ok', '123456']);
});
