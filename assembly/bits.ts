/** The functions of src/math/bits.ts, bit for bit, on the bits themselves. */

@inline
function powerOfTwo(k: i64): f64 {
  return reinterpret<f64>((k + 1023) << 52);
}

/** The integer e with 2^e ≤ x < 2^(e+1), for a positive normal x. */
export function exponentOf(x: number): number {
  return <f64>(<i64>(reinterpret<u64>(x) >> 52) - 1023);
}

/** x / 2^exponentOf(x), in [1, 2), for a positive normal x. */
export function mantissaOf(x: number): number {
  return reinterpret<f64>((reinterpret<u64>(x) & 0x000fffffffffffff) | 0x3ff0000000000000);
}

/** x · 2^k, rounded once, for an integer k with |k| ≤ 2044 and x zero or normal. */
export function scaleByPowerOfTwo(x: number, k: number): number {
  const exponent = <i64>k;
  if (exponent > 1023) return x * powerOfTwo(1023) * powerOfTwo(exponent - 1023);
  if (exponent < -1022) return x * powerOfTwo(exponent + 1022) * powerOfTwo(-1022);
  return x * powerOfTwo(exponent);
}
