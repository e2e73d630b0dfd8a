import picocolors from 'picocolors';
import { expect, test } from 'vitest';
import { headedTable, numberTable, tableLines, twoColumns } from '../../../src/reporting/table.ts';

test('two columns, both aligned to the left', () => {
  expect(
    twoColumns([
      ['a', '1'],
      ['long', '2'],
    ]),
  ).toBe('a     1\nlong  2');
});

test('numbers are aligned to the right', () => {
  expect(
    numberTable([
      ['class', 'rows'],
      ['a', '1,000'],
    ]),
  ).toBe('class   rows\na      1,000');
});

test('a short row ends with a text across the other columns', () => {
  const lines = tableLines([
    ['name', 'x', 'y'],
    ['a', '1', '2'],
    ['b', 'failed, for a long reason'],
  ]);
  expect(lines).toEqual(['name  x  y', 'a     1  2', 'b     failed, for a long reason']);
});

test('a head and a chosen row stand out', () => {
  const { bold, dim } = picocolors.createColors(true);
  const text = headedTable({
    head: ['λ', 'error'],
    rows: [
      ['1', '5'],
      ['2', '4'],
    ],
    isChosen: (row) => row === 1,
    colours: { bold, dim },
  });
  expect(text).toBe([dim('λ  error'), '1      5', bold('2      4')].join('\n'));
});

test('no rows make no lines', () => {
  expect(tableLines([])).toEqual([]);
});
