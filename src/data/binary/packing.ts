/*
 * Packed indices: for every entry of a row the distance to the index before it, minus one (the first
 * one counts from -1), seven bits a byte, low bits first; all bytes but the last of a number have
 * the high bit set.
 */

/** A distance has at most 31 bits. */
export const packedBytesPerIndex = 5;

/** Packs the rows into `out` from `start` on and returns the position behind. */
export function packIndices(
  rowOffsets: Int32Array,
  rows: number,
  indices: Int32Array,
  out: Uint8Array,
  start: number,
): number {
  let position = start;
  for (let row = 0; row < rows; row += 1) {
    let next = 0;
    for (let entry = rowOffsets[row]; entry < rowOffsets[row + 1]; entry += 1) {
      let rest = indices[entry] - next;
      next = indices[entry] + 1;
      while (rest > 127) {
        out[position++] = (rest & 127) | 128;
        rest >>>= 7;
      }
      out[position++] = rest;
    }
  }
  return position;
}

/**
 * Unpacks the rows from `bytes`, which must be used up exactly; false where they are not. An index
 * beyond 2³¹ − 1 comes out negative: whoever checks indices sees it.
 */
export function unpackIndices(
  bytes: Uint8Array,
  rowOffsets: Int32Array,
  rows: number,
  indices: Int32Array,
): boolean {
  let position = 0;
  for (let row = 0; row < rows; row += 1) {
    let next = 0;
    for (let entry = rowOffsets[row]; entry < rowOffsets[row + 1]; entry += 1) {
      let distance = bytes[position] | 0;
      if (distance < 128) {
        position = (position + 1) | 0;
      } else {
        // Most numbers that do not fit into one byte fit into two.
        distance = (distance & 127) | (bytes[position + 1] << 7);
        position = (position + 2) | 0;
        // The high bit of the last byte stands at `shift` and says that there is one more.
        for (let shift = 14; shift <= 28 && distance >>> shift !== 0; shift += 7) {
          if (shift === 28 && bytes[position] > 7) return false;
          distance = (distance & ((1 << shift) - 1)) | (bytes[position] << shift);
          position = (position + 1) | 0;
        }
      }
      next = (next + distance) | 0;
      indices[entry] = next;
      next = (next + 1) | 0;
    }
  }
  return position === bytes.length;
}
