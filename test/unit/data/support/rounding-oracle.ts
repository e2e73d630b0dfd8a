/*
 * Says whether a float is the one nearest to a decimal, by comparing exact distances to its two
 * neighbours. All numbers are integers in units of the smallest subnormal times a denominator.
 */

interface Format {
  /** The float whose bit pattern is the given integer; patterns of positive floats ascend. */
  fromBits(bits: bigint): number;
  toBits(value: number): bigint;
  readonly fractionBits: bigint;
  /** Exponent of the smallest subnormal, negated. */
  readonly unit: bigint;
  readonly infinityBits: bigint;
}

const view = new DataView(new ArrayBuffer(8));

export const float32Format: Format = {
  fromBits: (bits) => {
    view.setUint32(0, Number(bits));
    return view.getFloat32(0);
  },
  toBits: (value) => {
    view.setFloat32(0, value);
    return BigInt(view.getUint32(0));
  },
  fractionBits: 23n,
  unit: 149n,
  infinityBits: 0x7f800000n,
};

export const float64Format: Format = {
  fromBits: (bits) => {
    view.setBigUint64(0, bits);
    return view.getFloat64(0);
  },
  toBits: (value) => {
    view.setFloat64(0, value);
    return view.getBigUint64(0);
  },
  fractionBits: 52n,
  unit: 1074n,
  infinityBits: 0x7ff0000000000000n,
};

/** The positive float with these bits as a multiple of the smallest subnormal. */
export function unitsOf(bits: bigint, format: Format): bigint {
  const exponent = bits >> format.fractionBits;
  const fraction = bits & ((1n << format.fractionBits) - 1n);
  if (exponent === 0n) return fraction;
  // What would follow the largest float represents infinity, as IEEE 754 rounds to it.
  return ((1n << format.fractionBits) + fraction) << (exponent - 1n);
}

/** Numerator and denominator of an unsigned decimal. */
function ratioOf(text: string): [bigint, bigint] {
  const [mantissa, exponent = '0'] = text.toLowerCase().split('e');
  const [whole, fraction = ''] = mantissa.split('.');
  const power = Number(exponent) - fraction.length;
  const digits = BigInt(`0${whole}${fraction}`);
  return power >= 0 ? [digits * 10n ** BigInt(power), 1n] : [digits, 10n ** BigInt(-power)];
}

/** Whether `value` (≥ 0, or Infinity) is the float nearest to the unsigned decimal, ties to even. */
export function isNearest(text: string, value: number, format: Format): boolean {
  const [numerator, denominator] = ratioOf(text);
  const exact = numerator << format.unit;
  const bits = value === Infinity ? format.infinityBits : format.toBits(value);
  const distance = (pattern: bigint) => {
    const difference = unitsOf(pattern, format) * denominator - exact;
    return difference < 0n ? -difference : difference;
  };
  const own = distance(bits);
  const neighbours = [bits - 1n, bits + 1n].filter(
    (pattern) => pattern >= 0n && pattern <= format.infinityBits,
  );
  // Beyond "infinity" there is no neighbour: everything larger is infinite as well.
  if (bits === format.infinityBits && exact > unitsOf(bits, format) * denominator) return true;
  return neighbours.every((pattern) => {
    const other = distance(pattern);
    return own < other || (own === other && (bits & 1n) === 0n);
  });
}
