import { LineError } from '../../src/data/read/line-error.ts';
import type { ParsedChunk } from '../../src/data/text/libsvm.ts';

/** What a parser makes of a text, to the last bit, or its error. */
export function outcomeOf(parse: () => ParsedChunk): unknown {
  try {
    const { rowOffsets, labels, indices, values, ...rest } = parse();
    const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
    const labelBits = new BigInt64Array(labels.buffer, labels.byteOffset, labels.length);
    return {
      ...rest,
      offsets: [...rowOffsets],
      labels: [...labelBits],
      indices: [...indices],
      bits: [...bits],
    };
  } catch (error) {
    if (error instanceof LineError) return `${error.line}: ${error.message}`;
    throw error;
  }
}
