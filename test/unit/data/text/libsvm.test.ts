import { describe, expect, test } from 'vitest';
import { LineError } from '../../../../src/data/read/line-error.ts';
import { type LibsvmOptions, parseLibsvm } from '../../../../src/data/text/libsvm.ts';
import { readLibsvm, textBuffer } from '../../../../src/data/text/libsvm-reader.ts';
import { stream } from '../../../../src/math/random.ts';
import { outcomeOf } from '../../../support/libsvm-twins.ts';

/** As both twins read it. */
function parse(text: string, options?: LibsvmOptions) {
  const bytes = Buffer.from(text);
  const read = outcomeOf(() => readLibsvm(bytes, options));
  expect(read).toEqual(outcomeOf(() => parseLibsvm(bytes, options)));
  const chunk = readLibsvm(bytes, options);
  const rows = Array.from(chunk.labels, (label, row) => {
    const from = chunk.rowOffsets[row];
    const to = chunk.rowOffsets[row + 1];
    return [
      label,
      ...Array.from(chunk.indices.subarray(from, to), (index, entry) => {
        return [index, chunk.values[from + entry]];
      }),
    ];
  });
  return { ...chunk, rows };
}

function errorMessage(text: string, options?: LibsvmOptions): string {
  try {
    parse(text, options);
  } catch (error) {
    if (error instanceof LineError) return `${error.line}: ${error.message}`;
    throw error;
  }
  return 'accepted';
}

describe('what is read', () => {
  test('labels, 0-based indices, values', () => {
    const chunk = parse('+1 1:0.5 3:2\n-1 2:-1.25\n');
    expect(chunk.rows).toEqual([
      [1, [0, 0.5], [2, 2]],
      [-1, [1, -1.25]],
    ]);
    expect(chunk).toMatchObject({ maxIndex: 2, lines: 2, qidLines: 0 });
  });

  test('arrays lie on shared memory of exactly their size', () => {
    const { labels, rowOffsets, indices, values } = parse('1 1:1 2:2\n2 3:3\n');
    const sizes = [labels, rowOffsets, indices, values].map(({ buffer }) => {
      expect(buffer).toBeInstanceOf(SharedArrayBuffer);
      return buffer.byteLength;
    });
    expect(sizes).toEqual([16, 12, 12, 12]);
  });

  test('a later text does not change an earlier result', () => {
    const first = parse('1 1:1 2:2\n');
    parse('5 7:7 8:8\n');
    expect(Array.from(first.values)).toEqual([1, 2]);
    expect(Array.from(first.indices)).toEqual([0, 1]);
  });

  test.each([
    ['no last line end', '1 1:1\n2 2:2'],
    ['CRLF', '1 1:1\r\n2 2:2\r\n'],
    ['tabs and many blanks', '  1\t1:1 \t \n\t2   2:2  '],
    ['blank lines', '\n\n1 1:1\n \t\r\n2 2:2\n\n'],
    ['whole-line comments', '# data\n1 1:1\n   # more 3:4\n2 2:2\n#'],
    ['trailing comments', '1 1:1 # one:1\n2 2:2# two\n'],
    ['qid', '1 qid:7 1:1\n2 qid:8 2:2\n'],
    ['explicit plus signs', '+1 1:+1\n+2 2:+2\n'],
    ['leading zeros', '01 0000000000001:1\n2 02:002\n'],
  ])('%s', (_, text) => {
    expect(parse(text).rows).toEqual([
      [1, [0, 1]],
      [2, [1, 2]],
    ]);
  });

  test('lines are counted with blanks and comments', () => {
    expect(parse('\n# a\n1 1:1\n\n2').lines).toBe(5);
    expect(parse('').lines).toBe(0);
    expect(parse('\n').lines).toBe(1);
  });

  test('lines with qid are counted once', () => {
    expect(parse('1 qid:7 qid:8 1:1\n2 2:2\n3 qid:#x\n').qidLines).toBe(2);
  });

  test('rows without entries', () => {
    const chunk = parse('1\n-1 \n3 # none\n');
    expect(chunk.rows).toEqual([[1], [-1], [3]]);
    expect(chunk.maxIndex).toBe(-1);
  });

  test('any finite number is a label', () => {
    const text = '0\n-0\n1e3\n-2.5\n.125\n0.1234567890123456\n1.7976931348623157e308\n';
    const expected = [0, 0, 1000, -2.5, 0.125, 0.1234567890123456, Number.MAX_VALUE];
    expect(Array.from(parse(text).labels)).toEqual(expected);
  });

  test('values are the nearest float32', () => {
    // Rounded to float64 first, this would be a tie and become 1.
    const tricky = '1.00000005960464477540';
    expect(Math.fround(Number(tricky))).toBe(1);
    expect(parse(`1 1:${tricky}`).values[0]).toBe(1 + 2 ** -23);
  });

  test('zero-based', () => {
    const chunk = parse('1 0:5 2:6\n', { zeroBased: true });
    expect(chunk.rows).toEqual([[1, [0, 5], [2, 6]]]);
    expect(chunk.maxIndex).toBe(2);
  });

  test('the largest index', () => {
    expect(parse('1 2147483646:1').maxIndex).toBe(2147483645);
    expect(parse('1 2147483646:1', { zeroBased: true }).maxIndex).toBe(2147483646);
  });

  test('explicit zeros count as columns, not as entries', () => {
    const chunk = parse('1 1:0 2:5 4:0.0 9:-0\n1 3:1e-60\n');
    expect(chunk.rows).toEqual([[1, [1, 5]], [1]]);
    expect(chunk.maxIndex).toBe(8);
  });

  test('unsorted rows are sorted', () => {
    const chunk = parse('1 5:5 1:1 3:3\n2 1:1\n3 2:0 1:7\n');
    expect(chunk.rows).toEqual([
      [1, [0, 1], [2, 3], [4, 5]],
      [2, [0, 1]],
      [3, [0, 7]],
    ]);
    expect(chunk.maxIndex).toBe(4);
  });

  test('repeats are added up on request, in float64', () => {
    const chunk = parse('1 2:16777216 1:3 2:1 2:1\n2 1:1 1:-1\n', { sumDuplicates: true });
    expect(chunk.rows).toEqual([[1, [0, 3], [1, 16777218]], [2]]);
  });

  test('repeats are added up in the order of the line', () => {
    const chunk = parse('1 5:1 2:1e30 2:-1e30 2:1\n', { sumDuplicates: true });
    expect(chunk.rows).toEqual([[1, [1, 1], [4, 1]]]);
  });

  test('a long row and many short ones', () => {
    const pairs = Array.from({ length: 100000 }, (_, column) => `${column + 1}:${column % 7}`);
    const text = `1 ${pairs.join(' ')}\n${'-1 3:1\n'.repeat(50000)}`;
    const chunk = parse(text);
    expect(chunk.labels.length).toBe(50001);
    expect(chunk.rowOffsets[1]).toBe(pairs.length - Math.ceil(pairs.length / 7));
    expect(chunk.maxIndex).toBe(99999);
  });
});

describe('what is rejected', () => {
  test.each([
    ['1 0:1', 'feature index 0; indices start at 1 (use --zero-based)'],
    ['1 3:1 0:1', 'feature index 0; indices start at 1 (use --zero-based)'],
    ['1 3', '"3" is not a pair; expected index:value, as in 3:0.5'],
    ['1 3 :5', '"3" is not a pair; expected index:value, as in 3:0.5'],
    ['1 3:', 'feature 3 has no value; expected a pair like 3:0.5'],
    ['1 3: 5', 'feature 3 has no value; expected a pair like 3:0.5'],
    ['1 :5', '":5" has no index; expected index:value, as in 3:0.5'],
    ['1 a:1', 'feature index "a" is not a whole number; expected a pair like 3:0.5'],
    ['1 -3:1', 'feature index "-3" is not a whole number; expected a pair like 3:0.5'],
    ['1 1.5:1', 'feature index "1.5" is not a whole number; expected a pair like 3:0.5'],
    ['1 3:1\v', 'value "1\\u000b" of feature 3 is not a number; expected a pair like 3:0.5'],
    ['1 3:x', 'value "x" of feature 3 is not a number; expected a pair like 3:0.5'],
    ['1 3:1:2', 'value "1:2" of feature 3 is not a number; expected a pair like 3:0.5'],
    ['1 3:1,5', 'value "1,5" of feature 3 is not a number; expected a pair like 3:0.5'],
    ['1 3:0x1', 'value "0x1" of feature 3 is not a number; expected a pair like 3:0.5'],
    ['1 3:nan', 'value "nan" of feature 3; expected a finite number'],
    ['1 3:-inf', 'value "-inf" of feature 3; expected a finite number'],
    ['1 3:Infinity', 'value "Infinity" of feature 3; expected a finite number'],
    ['1 3:1e39', 'value "1e39" of feature 3 is too large; expected a number below 3.4e38'],
    ['1 2147483647:1', 'feature index 2147483647; the largest index allowed is 2147483646'],
    ['1 4294967297:1', 'feature index 4294967297; the largest index allowed is 2147483646'],
    ['spam 1:1', 'label "spam" is not a number; expected a line like "+1 3:0.5 7:1.2"'],
    ['1,2 1:1', 'label "1,2" is not a number; expected a line like "+1 3:0.5 7:1.2"'],
    ['1:1 2:2', 'label "1:1" is not a number; expected a line like "+1 3:0.5 7:1.2"'],
    ['NaN 1:1', 'label "NaN"; expected a finite number'],
    ['-inf 1:1', 'label "-inf"; expected a finite number'],
    ['1e999 1:1', 'label "1e999" is too large; expected a number below 1.8e308'],
    [
      '1 3:1 3:2',
      'feature index 3 appears more than once; indices must be distinct ' +
        '(use --sum-duplicates to add the values up)',
    ],
    [
      '1 7:1 3:0 7:2',
      'feature index 7 appears more than once; indices must be distinct ' +
        '(use --sum-duplicates to add the values up)',
    ],
  ])('%s', (line, message) => {
    // In the middle of a text, at its start, and at an end without line end.
    expect(errorMessage(`# one\n\n1 1:1\n${line}\n1 1:1\n`)).toBe(`4: ${message}`);
    expect(errorMessage(`${line}\n`)).toBe(`1: ${message}`);
    expect(errorMessage(line)).toBe(`1: ${message}`);
  });

  test('the first of several faulty lines', () => {
    expect(errorMessage('1 1:1\n1 x\n1 0:1\n')).toMatch(/^2: "x"/);
  });

  test('repeats with a zero-based index', () => {
    expect(errorMessage('1 0:1 0:2', { zeroBased: true })).toMatch(
      /^1: feature index 0 appears more/,
    );
  });

  test('a sum that is too large', () => {
    expect(errorMessage('1 3:3e38 3:3e38', { sumDuplicates: true })).toBe(
      '1: the values of feature 3 add up to more than 3.4e38',
    );
  });

  test('binary rubbish is shown escaped and shortened', () => {
    const found = errorMessage(`1 ${'\u0000\u0007'.repeat(5000)}`);
    expect(found).toMatch(/^1: "(\\u0000\\u0007)+…" is not a pair/);
    expect(found.length).toBeLessThan(400);
    expect(errorMessage(`1 ${'9'.repeat(5000)}:1`).length).toBeLessThan(200);
  });

  test('a correct text is accepted after a faulty one', () => {
    expect(errorMessage('1 1:1\n1 x')).toMatch(/^2/);
    expect(parse('1 1:1\n').rows).toEqual([[1, [0, 1]]]);
  });
});

describe('values as float64', () => {
  const float64 = (text: string) =>
    Array.from(parseLibsvm(Buffer.from(text), { float64: true, sumDuplicates: true }).float64!);

  test('are read next to the float32, whatever is between the pairs', () => {
    expect(float64('+1 qid:1:2 3:0.1 7:0.2 # 9:1\n\n# 1:1\n-1 2:1e-3')).toEqual([0.1, 0.2, 1e-3]);
  });

  test('move with rows that are sorted, without zeros; sums stay float32', () => {
    expect(float64('1 7:0.1 3:0.2 5:0\n1 2:0.1 2:0.2 1:0.3')).toEqual([
      0.2,
      0.1,
      0.3,
      Math.fround(Math.fround(0.1) + Math.fround(0.2)),
    ]);
  });

  test('round to their float32, even from the middle of two', () => {
    const above = '1.000000059604644775390625000000000000000000001';
    const { values, float64: [found] = [] } = parseLibsvm(Buffer.from(`1 1:${above}`), {
      float64: true,
    });
    expect(values[0]).toBe(1 + 2 ** -23);
    expect(Math.fround(found)).toBe(values[0]);
  });
});

describe('the twins agree', () => {
  const compare = (text: string, options?: LibsvmOptions) => {
    const bytes = Buffer.from(text);
    const read = outcomeOf(() => readLibsvm(bytes, options));
    expect(read).toEqual(outcomeOf(() => parseLibsvm(bytes, options)));
  };

  test.each([
    '1 1:12345678 2:123456789 3:1234567890 4:12345.6789 5:1234567.89 6:12345678.9',
    '1 12345678:1 123456789:2 1234567890:3 2147483647:4',
    '1 1:0.12345678 2:0.123456789 3:.5 4:5. 5:-0.5 6:+0.5 7:-.5 8:1e-5 9:1E+5',
    '1 1:0.1234567890123456 2:1234567890123456789012345678901234567890 3:4',
    '1 1:-0 2:0.0 3:00 4:-00000001 5:00000001.00000000',
    '1\t1:1\t2:2 \r\n-1  3:1 \t 4:2#x\n+1 qid:3 1:2 qid:x\n\n# 1:2\n0\n12.5 7:1',
    '1 1:1#2:3\n1 1:1\r\n1 qid:7#\n1 1:2 ',
    '1 3:1 2:1 1:1\n1 1:0 2:1 3:0\n1 2:1 1:1 3:0',
    '1 1:1 2:2\n1 1:1 1:2',
    '1 1:--1',
    '1 1:-',
    '1 1:.',
    '1 1:1.2.3',
    '1 1:3.5e38',
    '1 2147483648:1',
    '1 00000000000000000000000000000000000000001:1',
    '-0 1:1\n00 2:1\n+1e0 3:1\n-1.0 1:1',
    'a,b 1:1\n',
  ])('%s', (text) => {
    for (const textLabels of [false, true]) {
      compare(text, { textLabels });
      compare(`${text}\n`, { textLabels, zeroBased: true, sumDuplicates: true });
    }
  });

  test('on random decimals of every length', () => {
    const random = stream(7, 0);
    const digits = (most: number) =>
      Array.from({ length: random.below(most + 1) }, () => random.below(10)).join('');
    const value = () => {
      const sign = ['', '-', '', '+'][random.below(4)];
      const exponent = random.below(8) === 0 ? `e${random.below(90) - 45}` : '';
      return `${sign}${digits(10)}.${digits(18)}0${exponent}`;
    };
    const rows = Array.from({ length: 400 }, (_, row) => {
      const pairs = Array.from(
        { length: 1 + random.below(9) },
        (_pair, k) => `${9 * row + k + 1}:${value()}`,
      );
      return `${row % 2} ${pairs.join(' ')}`;
    });
    compare(rows.join('\n'));
  });

  test('where the text is in the memory of the reader, and grows', () => {
    const line = '1 1:0.5 3:0.25\n';
    for (const count of [3, 40_000, 5, 300_000]) {
      const text = Buffer.from(line.repeat(count));
      const room = textBuffer(text.length)!;
      room.set(text);
      const { labels, values } = readLibsvm(room.subarray(0, text.length));
      expect([labels.length, values.length, values.at(-1)]).toEqual([count, 2 * count, 0.25]);
    }
  });
});
