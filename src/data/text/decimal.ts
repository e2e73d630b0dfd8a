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
 * decimals that are too close to the middle between two floats.
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

/*
 * Decimal text to the nearest float, straight from bytes. A scanner starts at `start`, stores the
 * number in `out[slot]` and returns the position behind it, or `malformed` when the text there is
 * no decimal or exceeds the largest float. Grammar: [+-] digits [. digits] [e [+-] digits], where
 * one side of the point may be empty. The text must be followed by a blank, a line end or `#`, and
 * the buffer must hold a line end behind the text: no scanner checks for the end of the buffer.
 */

export const malformed = -1;

const plus = 43;
const minus = 45;
const point = 46;
const zero = 48;
const lowerE = 101;
const caseBit = 32;

/** The powers of ten that a float64 holds exactly. */
const exactPowers = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));
/** 10^(i - 308), each the float64 nearest to it. */
export const powers = Float64Array.from({ length: 617 }, (_, i) => Number(`1e${i - 308}`));
const powerZero = 308;
/** Factors that reach past every number whose float64 image is off by at most 2^-52. */
const below = 1 - 2 ** -51;
const above = 1 + 2 ** -51;
/** Digits that a float64 always adds up exactly. */
const exactDigits = 15;

/** Blank, tab, line end, or the start of a comment: what may follow a token. */
function endsToken(byte: number): boolean {
  return byte === 32 || byte === 10 || byte === 13 || byte === 9 || byte === 35;
}

/**
 * The short form: at most nine digits, no exponent. m < 10^9 and 10^k, k ≤ 9, are exact, and their
 * quotient may be rounded to float64 first: unless it equals the middle c 2^j of two float32
 * (c < 2^25), m and c 2^j 10^k differ, as integers over a power of two, by at least one part in
 * c 5^k < 2^46, so the float64 is on the right side of the middle.
 *
 * `throughFloat64` rounds the nearest float64, as for numbers that are read as float64. The result
 * differs only for longer texts next to the middle of two float32.
 */
export function scanFloat32(
  bytes: Uint8Array,
  start: number,
  out: Float32Array,
  slot: number,
  throughFloat64 = false,
): number {
  let position = start | 0;
  let byte = bytes[position];
  const negative = byte === minus;
  if (negative || byte === plus) byte = bytes[++position];
  const first = position;
  let mantissa = 0;
  let digit = byte - zero;
  while (digit >>> 0 <= 9) {
    mantissa = (Math.imul(mantissa, 10) + digit) | 0;
    position = (position + 1) | 0;
    digit = bytes[position] - zero;
  }
  let digits = position - first;
  let fraction = 0;
  if (digit === point - zero) {
    position = (position + 1) | 0;
    digit = bytes[position] - zero;
    const firstDecimal = position;
    while (digit >>> 0 <= 9) {
      mantissa = (Math.imul(mantissa, 10) + digit) | 0;
      position = (position + 1) | 0;
      digit = bytes[position] - zero;
    }
    fraction = position - firstDecimal;
    digits += fraction;
  }
  if ((digits - 1) >>> 0 > 8 || !endsToken(digit + zero)) {
    return scanLongFloat32(bytes, start, out, slot, throughFloat64) | 0;
  }
  const quotient = mantissa / exactPowers[fraction];
  out[slot] = negative ? -quotient : quotient;
  return position;
}

/** Any length and any exponent. */
function scanLongFloat32(
  bytes: Uint8Array,
  start: number,
  out: Float32Array,
  slot: number,
  throughFloat64: boolean,
): number {
  const end = scanDecimal(bytes, start);
  if (end === malformed) return malformed;
  const { mantissa, exponent, truncated, negative } = decimal;
  const power = exponent + powerZero;
  const round = throughFloat64 ? narrowed : roundFloat32;
  let magnitude: number;
  if (mantissa === 0) {
    magnitude = 0;
  } else if (power >= 0 && power < powers.length) {
    // Table entry and product are each off by at most 2^-53, relatively; dropped digits add less
    // than one to the mantissa. If both ends of that interval round alike, so does the number.
    const product = mantissa * powers[power];
    const upper = truncated ? (mantissa + 1) * powers[power] : product;
    const low = Math.fround(product * below);
    const high = Math.fround(upper * above);
    magnitude = low === high ? low : round(bytes, start, end);
  } else {
    magnitude = round(bytes, start, end);
  }
  if (magnitude === Infinity) return malformed;
  out[slot] = negative ? -magnitude : magnitude;
  return end;
}

/** The float32 nearest to the decimal there, without its sign. */
export function roundFloat32(bytes: Uint8Array, start: number, end: number): number {
  return roundText(bytes, start, end, float32);
}

function narrowed(bytes: Uint8Array, start: number, end: number): number {
  return Math.fround(float64Magnitude(bytes, start, end));
}

/** The same for float64, for labels; most are a sign and one digit. */
export function scanFloat64(
  bytes: Uint8Array,
  start: number,
  out: Float64Array,
  slot: number,
): number {
  const sign = bytes[start];
  const position = sign === minus || sign === plus ? start + 1 : start;
  const digit = bytes[position] - zero;
  if (digit >>> 0 <= 9 && endsToken(bytes[position + 1])) {
    // A label of -0 is the label 0: the two must not count as different classes.
    out[slot] = sign === minus && digit > 0 ? -digit : digit;
    return position + 1;
  }
  const end = scanDecimal(bytes, start);
  if (end === malformed) return malformed;
  const magnitude = float64Magnitude(bytes, start, end);
  if (magnitude === Infinity) return malformed;
  out[slot] = decimal.negative && magnitude > 0 ? -magnitude : magnitude;
  return end;
}

function float64Magnitude(bytes: Uint8Array, start: number, end: number): number {
  const { mantissa, exponent, significant } = decimal;
  if (mantissa === 0) return 0;
  if (significant <= exactDigits && Math.abs(exponent) <= 22) {
    return exponent < 0 ? mantissa / exactPowers[-exponent] : mantissa * exactPowers[exponent];
  }
  // ECMAScript promises the nearest float64 up to twenty digits, not beyond.
  if (significant <= 20) return Math.abs(Number(textOf(bytes, start, end)));
  return roundText(bytes, start, end, float64);
}

/** What scanDecimal found: ±mantissa · 10^exponent, plus less than one mantissa unit if truncated. */
const decimal = { mantissa: 0, exponent: 0, significant: 0, truncated: false, negative: false };

function scanDecimal(bytes: Uint8Array, start: number): number {
  let position = start;
  let byte = bytes[position];
  decimal.negative = byte === minus;
  if (byte === minus || byte === plus) byte = bytes[++position];
  let mantissa = 0;
  let significant = 0;
  let digits = 0;
  let exponent = 0;
  let truncated = false;
  let pastPoint = false;
  for (; ; byte = bytes[++position]) {
    const digit = byte - zero;
    if (digit >>> 0 <= 9) {
      digits += 1;
      if (significant > 0 || digit > 0) significant += 1;
      if (significant <= exactDigits) {
        mantissa = mantissa * 10 + digit;
        if (pastPoint) exponent -= 1;
      } else {
        truncated ||= digit > 0;
        if (!pastPoint) exponent += 1;
      }
    } else if (byte === point && !pastPoint) pastPoint = true;
    else break;
  }
  if (digits === 0) return malformed;
  if ((byte | caseBit) === lowerE) {
    position = scanExponent(bytes, position + 1);
    if (position === malformed) return malformed;
    exponent += scannedExponent;
  }
  decimal.mantissa = mantissa;
  decimal.exponent = exponent;
  decimal.significant = significant;
  decimal.truncated = truncated;
  return endsToken(bytes[position]) ? position : malformed;
}

let scannedExponent = 0;

function scanExponent(bytes: Uint8Array, start: number): number {
  let position = start;
  let byte = bytes[position];
  const negative = byte === minus;
  if (negative || byte === plus) byte = bytes[++position];
  const first = position;
  let exponent = 0;
  for (let digit = byte - zero; digit >>> 0 <= 9; digit = bytes[++position] - zero) {
    // Large enough to mean zero or infinity for any text that fits into memory.
    exponent = Math.min(exponent * 10 + digit, 1e12);
  }
  scannedExponent = negative ? -exponent : exponent;
  return position === first ? malformed : position;
}

function roundText(bytes: Uint8Array, start: number, end: number, format: BinaryFormat): number {
  const [mantissa, exponent = '0'] = textOf(bytes, start, end).toLowerCase().split('e');
  const [whole, fraction = ''] = mantissa.replace(/^[+-]/, '').split('.');
  return roundExactly(whole + fraction, Number(exponent) - fraction.length, format);
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
}
