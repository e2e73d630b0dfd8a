/** Numbers as people read them. */

/** Six significant digits without trailing zeros: 0.311330943 → "0.311331", 0.00001 → "1e-5" */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const rounded = Number(value.toPrecision(6));
  const size = Math.abs(rounded);
  const odd = (size > 0 && size < 1e-3) || size >= 1e7;
  return odd ? rounded.toExponential().replace('e+', 'e') : String(rounded);
}

/** Two significant digits, for gaps: 0.00079 → "7.9e-4" */
export function formatGap(value: number): string {
  return Number.isFinite(value) ? value.toExponential(1) : '–';
}

/** Three significant digits: 0.04567 → "0.0457", 1234.5 → "1235" */
export function formatShort(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

/** 1234567 → "1,234,567" */
export function formatCount(value: number): string {
  // Intl, which takes as long to load as much of the program, for what counts are not.
  if (!Number.isSafeInteger(value)) return value.toLocaleString('en-US');
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** −3 → "10⁻³" */
export function powerOfTen(exponent: number): string {
  const digits = String(exponent).replace(/\d/g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]);
  return `10${digits.replace('-', '⁻')}`;
}

/**
 * The range that an axis shows around a constant value: `part` of it on either side. 0 and 1 are
 * mostly bounds, such as an error of 0 % or a perfect ranking: nothing is beyond them.
 */
export function aroundValue(value: number, part: number): [low: number, high: number] {
  if (value === 0) return [0, 1];
  const margin = part * Math.abs(value);
  return [value - margin, value === 1 ? 1 : value + margin];
}
