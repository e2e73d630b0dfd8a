const double = new Float64Array(1);
const bits = new BigInt64Array(double.buffer);

/** Position of a double in the order of all doubles. */
function rank(x: number): bigint {
  double[0] = x;
  return bits[0] < 0n ? -(bits[0] & 0x7fffffffffffffffn) : bits[0];
}

/** How many doubles lie between two; 0 for equal ones and for two NaNs. */
export function ulpDistance(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b) ? 0 : Infinity;
  const distance = rank(a) - rank(b);
  return Number(distance < 0n ? -distance : distance);
}
