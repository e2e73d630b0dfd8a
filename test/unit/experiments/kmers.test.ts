import { describe, expect, test } from 'vitest';
import { kmerColumns, kmerDataset, kmersPerRow } from '../../../experiments/support/kmers.ts';
import { plantedSequences, type Sequences } from '../../../experiments/support/sequences.ts';
import { UsageError } from '../../../src/errors.ts';

function sequencesOf(texts: readonly string[], labels: readonly number[]): Sequences {
  return {
    name: 'test',
    length: texts[0].length,
    labels: Float64Array.from(labels),
    letters: new TextEncoder().encode(texts.join('')),
  };
}

/** Columns by the definition, from the text of each word. */
function naiveColumns(text: string, longest: number): number[] {
  const columns: number[] = [];
  let start = 0;
  for (let k = 1; k <= longest; k++) {
    for (let position = 0; position + k <= text.length; position++) {
      const word = text.slice(position, position + k).toUpperCase();
      if (!/^[ACGT]+$/.test(word)) continue;
      const digits = word.replace(/./g, (letter) => String('ACGT'.indexOf(letter)));
      columns.push(start + position * 4 ** k + Number.parseInt(digits, 4));
    }
    start += (text.length - k + 1) * 4 ** k;
  }
  return columns;
}

describe('k-mers at each position', () => {
  test('are those of a naive count, other letters than A, C, G, T left out', () => {
    const texts = ['ACGTACGTAC', 'TTTTTTTTTT', 'ACNNGTACGN', 'nacgtacgtt'];
    const dataset = kmerDataset(sequencesOf(texts, [1, -1, 1, -1]), 4);
    const [{ rowOffsets, indices, values, labels }] = dataset.parts;
    expect([...labels]).toEqual([1, -1, 1, -1]);
    for (const [row, text] of texts.entries()) {
      const expected = naiveColumns(text, 4);
      expect([...indices.subarray(rowOffsets[row], rowOffsets[row + 1])]).toEqual(expected);
      const own = values.subarray(rowOffsets[row], rowOffsets[row + 1]);
      expect(own.reduce((sum, value) => sum + value * value, 0)).toBeCloseTo(1, 5);
    }
    expect(dataset.nonzeros).toBe(values.length);
    expect(dataset.columns).toBe(kmerColumns(10, 4)[4]);
  });

  test('ascend inside a row and stay below the number of columns', () => {
    const dataset = kmerDataset(plantedSequences(5, 60, 1, 'planted'), 6);
    const [{ rowOffsets, indices }] = dataset.parts;
    expect(dataset.nonzeros).toBe(5 * kmersPerRow(60, 6));
    for (let row = 0; row < 5; row++) {
      for (let k = rowOffsets[row] + 1; k < rowOffsets[row + 1]; k++) {
        expect(indices[k]).toBeGreaterThan(indices[k - 1]);
      }
      expect(indices[rowOffsets[row + 1] - 1]).toBeLessThan(dataset.columns);
    }
  });

  test('come in several parts, with the rows in order', () => {
    const sequences = plantedSequences(5000, 8, 3, 'planted');
    const { parts, rows } = kmerDataset(sequences, 2);
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.reduce((sum, part) => sum + part.labels.length, 0)).toBe(rows);
    expect(parts.flatMap(({ labels }) => [...labels])).toEqual([...sequences.labels]);
    for (const part of parts) {
      for (const array of [part.indices, part.values, part.labels, part.rowOffsets]) {
        expect(array.buffer).toBeInstanceOf(SharedArrayBuffer);
      }
    }
  });

  test('of splice sites are as many as the real sequences make', () => {
    expect(kmersPerRow(398, 6)).toBe(2373);
    expect(kmerColumns(398, 6)[6]).toBe(2_147_592);
  });

  test('refuses lengths that make no sense', () => {
    expect(() => kmerColumns(10, 0)).toThrow(UsageError);
    expect(() => kmerColumns(3, 4)).toThrow('whole number from 1 to 3');
    expect(() => kmerColumns(1000, 12)).toThrow('too many');
  });
});

describe('planted sequences', () => {
  test('are the same for the same seed, and hold both classes', () => {
    const one = plantedSequences(300, 40, 5, 'a');
    const two = plantedSequences(300, 40, 5, 'a');
    expect(one.letters).toEqual(two.letters);
    expect(plantedSequences(300, 40, 6, 'a').letters).not.toEqual(one.letters);
    expect(new Set(one.labels)).toEqual(new Set([1, -1]));
    expect(new Set(plantedSequences(2, 40, 5, 'a').labels)).toEqual(new Set([1, -1]));
  });

  test('have AG in the middle, and the motif before it in true sites alone', () => {
    const { letters, labels, length } = plantedSequences(2000, 40, 5, 'a');
    const share = (label: number) => {
      const rows = [...labels.keys()].filter((row) => labels[row] === label);
      const texts = rows.map((row) => {
        return new TextDecoder().decode(letters.subarray(row * length, (row + 1) * length));
      });
      expect(texts.every((text) => text.slice(18, 20) === 'AG')).toBe(true);
      return texts.filter((text) => text.slice(15, 17) === 'TT').length / texts.length;
    };
    expect(share(1)).toBeGreaterThan(0.5);
    expect(share(-1)).toBeLessThan(0.2);
  });
});
