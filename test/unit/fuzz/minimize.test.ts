import { expect, test } from 'vitest';
import { minimize } from '../../fuzz/minimize.ts';

const lines = Array.from({ length: 50 }, (_, line) => `line ${line}: nothing wrong here\n`);

test('leaves what makes the input fail, and nothing else', async () => {
  const bytes = Buffer.from([...lines, 'a bad\xff b "quote\n', ...lines].join(''), 'latin1');
  const isBad = (text: string) => text.includes('bad') && text.includes('"');
  const smallest = await minimize(bytes, (smaller) =>
    isBad(Buffer.from(smaller).toString('latin1')),
  );
  expect(Buffer.from(smallest).toString('latin1')).toBe('bad"');
});

test('keeps an input of which every byte is needed', async () => {
  const bytes = Uint8Array.of(0, 255, 10, 128, 13);
  expect(await minimize(bytes, ({ length }) => length === bytes.length)).toEqual(bytes);
});

test('ends, whatever there is', async () => {
  const bytes = new Uint8Array(100_000).fill(65);
  const smallest = await minimize(bytes, ({ length }) => length % 7 !== 0 || length > 90_000);
  expect(smallest.length).toBeLessThan(bytes.length);
});
