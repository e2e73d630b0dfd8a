import { createHash } from 'node:crypto';
import type { Dataset } from './dataset.ts';

/**
 * A hash of everything training sees of the data. Each kind of array is hashed by itself, one part
 * behind the other, since the cut of the rows into parts differs from one reading to the next and
 * means nothing.
 */
export function hashData({ parts, columns }: Dataset): string {
  const kinds = {
    labels: createHash('sha256'),
    lengths: createHash('sha256'),
    indices: createHash('sha256'),
    values: createHash('sha256'),
  };
  for (const { labels, rowOffsets, indices, values } of parts) {
    kinds.labels.update(labels);
    kinds.lengths.update(
      Int32Array.from(labels, (_, row) => rowOffsets[row + 1] - rowOffsets[row]),
    );
    kinds.indices.update(indices);
    kinds.values.update(values);
  }
  const whole = createHash('sha256').update(String(columns));
  for (const hash of Object.values(kinds)) whole.update(hash.digest());
  return shortened(whole.digest('hex'));
}

export function hashNumbers(numbers: Float64Array): string {
  return shortened(createHash('sha256').update(numbers).digest('hex'));
}

export function hashText(text: string): string {
  return shortened(createHash('sha256').update(text).digest('hex'));
}

/** 64 bits: enough to tell data apart that nobody made to collide. */
function shortened(digest: string): string {
  return digest.slice(0, 16);
}
