/** Numbers as people read them. */
import type picocolors from 'picocolors';
import { escapeUnseen, unseen } from '../errors.ts';
import { formatCount } from '../math/format-number.ts';
import type { Label } from '../model/model.ts';
import { describePenalty, type Penalty, penaltyEntry } from '../problem/penalties/index.ts';

export { formatCount, formatGap, formatNumber } from '../math/format-number.ts';

/** Colours of a terminal, or functions that change nothing. */
export type Colours = ReturnType<typeof picocolors.createColors>;

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
  if (gap === Infinity) return '∞';
  const { digits, exponent } = roundUp(gap);
  return `${(digits / 10).toFixed(1)}e${exponent + 1}`;
}

/** The same as a percentage: 0.000791 → "0.080 %" */
export function formatPercentUp(gap: number): string {
  if (!(gap > 0)) return '0 %';
  const { digits, exponent } = roundUp(gap);
  const decimals = -2 - exponent;
  if (decimals > 12) return `${(digits / 10).toFixed(1)}e${exponent + 3} %`;
  return decimals <= 0
    ? `${digits * 10 ** -decimals} %`
    : `${(digits / 10 ** decimals).toFixed(decimals)} %`;
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

/** "300 rows × 12 columns, 1,834 non-zeros", the last as far as known. */
export function dataSize(rows: number, columns: number, nonzeros?: number): string {
  const size = `${plural(rows, 'row')} × ${plural(columns, 'column')}`;
  return nonzeros === undefined ? size : `${size}, ${formatCount(nonzeros)} non-zeros`;
}

/** The text of a value; undefined where there is none. */
export function formatIfKnown<Value>(
  value: Value | null | undefined,
  format: (value: Value) => string,
): string | undefined {
  return value == null ? undefined : format(value);
}

const everyUnseen = new RegExp(unseen, 'gu');
/** The same and, to be left alone, tabs, line ends, and colors as picocolors writes them. */
const unseenOrOwn = new RegExp(
  `[\\t\\n]|\\u001b\\[(?:1|2|22|3[1-9]|9[0-7])m|${unseen.source}`,
  'gu',
);

/** A label or name as a part of a line: as written, or as a JSON string if it has control characters. */
export function lineText(label: Label): string {
  const text = String(label);
  return unseen.test(text) ? escapeUnseen(JSON.stringify(text)) : text;
}

/**
 * A text that a terminal shows and does not obey, whatever file its parts come from. Line ends and
 * tabs stay, and with `colours` those that dso uses.
 */
export function visibleText(text: string, colours = false): string {
  if (!unseen.test(text)) return text;
  return text.replaceAll(colours ? unseenOrOwn : everyUnseen, (found) =>
    found.length > 1 || found === '\t' || found === '\n' ? found : escapeUnseen(found),
  );
}

/** "l2", "elastic-net 0.3", "l1 (w ≥ 0)": with the share of L1 where the name does not settle it. */
export function penaltyName(penalty: Penalty): string {
  const { name, l1 } = penalty;
  return describePenalty(
    penaltyEntry(name)?.parameters.includes('l1Ratio')
      ? { ...penalty, name: `${name} ${l1}` }
      : penalty,
  );
}

/** What XML 1.0 cannot hold, even escaped: most control characters, halves of pairs. */
const forbidden = /[^\P{Cc}\t\n\r]|\p{Cs}|[\ufffe\uffff]/gu;

export function xmlSafe(text: string): string {
  return text.replaceAll(forbidden, '\ufffd');
}

/** "3 min ago"; from a day on "2026-11-14 21:23", in local time. */
export function formatWhen(started: string, now: Date): string {
  const date = new Date(started);
  const seconds = Math.max(0, Math.floor((now.getTime() - date.getTime()) / 1000));
  if (Number.isNaN(seconds)) return '–';
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return seconds < 24 * 3600 ? `${Math.floor(seconds / 3600)} h ago` : formatClock(date);
}

/** 2026-11-14 21:23 */
export function formatClock(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const days = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${days} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
