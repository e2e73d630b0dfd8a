/**
 * The parts of a double, for the exponential and the logarithm. assembly/bits.ts holds the same
 * functions for WebAssembly, where each is an instruction or two; their results agree bit for bit.
 */
const double = new Float64Array(1);
const words = new Int32Array(double.buffer);
/** Which of the two words holds sign and exponent: 1 on a little-endian machine, else 0. */
const upper = new Uint8Array(Int32Array.of(1).buffer)[0];

/** powers[1023 + k] = 2^k for k = −1023 … 1023: faster than to write the bits and read a double. */
const powers = powersOfTwo();

function powersOfTwo(): Float64Array {
  const table = new Float64Array(2047);
  table[1023] = 1;
  for (let k = 1; k <= 1023; k += 1) {
    table[1023 + k] = 2 * table[1022 + k];
    table[1023 - k] = 0.5 * table[1024 - k];
  }
  return table;
}

/** The integer e with 2^e ≤ x < 2^(e+1), for a positive normal x. */
export function exponentOf(x: number): number {
  double[0] = x;
  return (words[upper] >> 20) - 1023;
}

/** x / 2^exponentOf(x), in [1, 2), for a positive normal x. */
export function mantissaOf(x: number): number {
  return x * powers[1023 - exponentOf(x)];
}

/**
 * x · 2^k, rounded once, for an integer k with |k| ≤ 2044 and x zero or normal. Subnormal results
 * come from a last factor 2^−1022: the product before it is either exact or too small to matter.
 */
export function scaleByPowerOfTwo(x: number, k: number): number {
  if (k > 1023) return x * powers[2046] * powers[k];
  if (k < -1022) return x * powers[k + 2045] * powers[1];
  return x * powers[k + 1023];
}
