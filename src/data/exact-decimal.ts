/** A binary floating-point format: p significant bits, numbers are multiples of 2^smallest. */
export interface BinaryFormat {
  readonly precision: number;
  /** Exponent of the smallest subnormal. */
  readonly smallest: number;
  readonly largest: number;
}

export const float32: BinaryFormat = {
  precision: 24,
  smallest: -149,
  largest: 3.4028234663852886e38,
};

export const float64: BinaryFormat = {
  precision: 53,
  smallest: -1074,
  largest: Number.MAX_VALUE,
};

/**
 * The number of `format` nearest to digits · 10^exponent, ties to even, Infinity beyond the
 * largest. Works on integers of any size, so it is always right and never fast: it serves the few
 * decimals that lie too close to the middle between two floats.
 */
export function roundExactly(digits: string, exponent: number, format: BinaryFormat): number {
  const significant = digits.replace(/^0+/, '');
  if (significant === '') return 0;
  // The power of the leading digit; beyond these bounds no format here needs the digits.
  const magnitude = significant.length + exponent;
  if (magnitude > 310) return Infinity;
  if (magnitude < -330) return 0;
  const integer = BigInt(significant);
  const numerator = exponent > 0 ? integer * 10n ** BigInt(exponent) : integer;
  const denominator = exponent < 0 ? 10n ** BigInt(-exponent) : 1n;
  return roundRatio(numerator, denominator, format);
}

function roundRatio(numerator: bigint, denominator: bigint, format: BinaryFormat): number {
  // 2^(scale-1) < numerator/denominator < 2^(scale+1): one of two units gives `precision` bits.
  const scale = bitLength(numerator) - bitLength(denominator);
  let unit = Math.max(scale - format.precision, format.smallest);
  let quotient = divideByUnit(numerator, denominator, unit);
  if (quotient.whole >= 1n << BigInt(format.precision)) {
    unit += 1;
    quotient = divideByUnit(numerator, denominator, unit);
  }
  const { whole, remainder, divisor } = quotient;
  const twice = remainder * 2n;
  const up = twice > divisor || (twice === divisor && (whole & 1n) === 1n);
  const rounded = Number(up ? whole + 1n : whole) * 2 ** unit;
  return rounded > format.largest ? Infinity : rounded;
}

function divideByUnit(numerator: bigint, denominator: bigint, unit: number) {
  const dividend = unit < 0 ? numerator << BigInt(-unit) : numerator;
  const divisor = unit > 0 ? denominator << BigInt(unit) : denominator;
  return { whole: dividend / divisor, remainder: dividend % divisor, divisor };
}

function bitLength(value: bigint): number {
  const hexadecimal = value.toString(16);
  return hexadecimal.length * 4 - (Math.clz32(Number.parseInt(hexadecimal[0], 16)) - 28);
}
