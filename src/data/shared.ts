/*
 * Copies on SharedArrayBuffers of exactly the size needed, so that threads see the data without
 * another copy.
 */

export function sharedInt32(source: ArrayLike<number>): Int32Array {
  const copy = new Int32Array(new SharedArrayBuffer(source.length * Int32Array.BYTES_PER_ELEMENT));
  copy.set(source);
  return copy;
}

export function sharedFloat32(source: ArrayLike<number>): Float32Array {
  const bytes = source.length * Float32Array.BYTES_PER_ELEMENT;
  const copy = new Float32Array(new SharedArrayBuffer(bytes));
  copy.set(source);
  return copy;
}

export function sharedFloat64(source: ArrayLike<number>): Float64Array {
  const bytes = source.length * Float64Array.BYTES_PER_ELEMENT;
  const copy = new Float64Array(new SharedArrayBuffer(bytes));
  copy.set(source);
  return copy;
}
