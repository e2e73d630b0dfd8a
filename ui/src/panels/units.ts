/** Numbers as the panels show them. */

/** 0.1234 → "12 %", 0.056 → "5.6 %", 1.12 → "112 %"; no line breaks before the sign. */
export function formatShare(share: number): string {
  const percent = 100 * share;
  const text = percent < 9.95 ? String(Number(percent.toFixed(1))) : percent.toFixed(0);
  return `${text}\u00a0%`;
}

const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];

/** Three significant digits with an SI prefix: 12345678, "B" → "12.3 MB"; 950, "" → "950" */
export function formatSi(value: number, unit: string): string {
  if (!Number.isFinite(value)) return '–';
  let scaled = value;
  let step = 0;
  while (Math.abs(scaled) >= 999.5 && step < prefixes.length - 1) {
    scaled /= 1000;
    step++;
  }
  const places = Math.abs(scaled) >= 99.95 || (step === 0 && Number.isInteger(scaled)) ? 0 : 1;
  const text = Math.abs(scaled) < 9.995 && places > 0 ? scaled.toFixed(2) : scaled.toFixed(places);
  return `${text} ${prefixes[step]}${unit}`.trimEnd();
}

/** A weight, with a real minus: −0.0312, +1.25 */
export function formatWeight(weight: number): string {
  const size = Math.abs(weight);
  const isOdd = size > 0 && (size < 1e-3 || size >= 1e4);
  const text = isOdd ? size.toExponential(2).replace('e+', 'e') : size.toPrecision(3);
  return `${weight < 0 ? '−' : '+'}${text.replace('e-', 'e−')}`;
}

/** A long name with its middle left out: both ends tell names apart. */
export function cutMiddle(name: string, most: number): string {
  const letters = Array.from(name);
  if (letters.length <= most) return name;
  const kept = Math.max(2, most - 1);
  const tail = Math.floor(kept / 2);
  return `${letters.slice(0, kept - tail).join('')}…${letters.slice(letters.length - tail).join('')}`;
}
