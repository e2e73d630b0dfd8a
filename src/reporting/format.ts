/** Numbers as people read them. */

import { formatCount } from '../math/format-number.ts';

export { formatCount, formatGap, formatNumber } from '../math/format-number.ts';

/** 0.0431 → "4.31 %" */
export function formatPercent(fraction: number): string {
  return `${(100 * fraction).toFixed(2)} %`;
}

/**
 * The smallest number of two significant digits that is not below a positive value, as
 * digits · 10^exponent with digits from 10 to 99: what a certificate may claim.
 */
function roundUp(value: number): { digits: number; exponent: number } {
  const nearest = value.toExponential(1);
  const [mantissa, power] = nearest.split('e').map(Number);
  const digits = Math.round(10 * mantissa) + (Number(nearest) < value ? 1 : 0);
  return digits === 100 ? { digits: 10, exponent: power } : { digits, exponent: power - 1 };
}

/** Two significant digits, rounded up: 0.000791 → "8.0e-4" */
export function formatGapUp(gap: number): string {
  if (!(gap > 0)) return '0';
  const { digits, exponent } = roundUp(gap);
  return `${(digits / 10).toFixed(1)}e${exponent + 1}`;
}

/** The same as a percentage: 0.000791 → "0.080 %" */
export function formatPercentUp(gap: number): string {
  if (!(gap > 0)) return '0 %';
  const { digits, exponent } = roundUp(gap);
  const places = -2 - exponent;
  if (places > 12) return `${(digits / 10).toFixed(1)}e${exponent + 3} %`;
  return places <= 0
    ? `${digits * 10 ** -places} %`
    : `${(digits / 10 ** places).toFixed(places)} %`;
}

/** 0.412 → "0.41 s", 75 → "1 min 15 s", 7500 → "2 h 5 min" */
export function formatSeconds(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(seconds < 0.995 ? 2 : 1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.round((whole % 3600) / 60)} min`;
}

/** 1530000 → "1.5 MB" */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value < 9.95 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** 1 row, 2 rows */
export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Lines of two columns, the second one aligned. */
export function twoColumns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`.trimEnd()).join('\n');
}
