import { powerOfTen } from '../../src/math/format-number.ts';

export interface Tick {
  readonly value: number;
  readonly text: string;
}

type Formatter = (value: number) => string;

/** About `count` round values between two. */
export function linearTicks(from: number, to: number, count: number, format: Formatter): Tick[] {
  const step = roundStep((to - from) / Math.max(1, count));
  if (!(step > 0)) return [];
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const value = Number(((first + index) * step).toPrecision(12));
    return { value, text: format(value) };
  });
}

/** Powers of ten; with 2 and 5 between them where there is room, and round values within one. */
export function logTicks(from: number, to: number, count: number, format: Formatter): Tick[] {
  const decades = Math.log10(to / from);
  if (decades < 1) return linearTicks(from, to, count, format).filter(({ value }) => value > 0);
  const first = Math.ceil(Math.log10(from) - 1e-9);
  const last = Math.floor(Math.log10(to) + 1e-9);
  const stride = Math.max(1, Math.ceil((last - first + 1) / Math.max(2, count)));
  const factors = decades * 3 <= count ? [1, 2, 5] : [1];
  const plain = first >= -2 && last <= 4;
  const ticks: Tick[] = [];
  for (let power = first - 1; power <= last; power++) {
    if (stride > 1 && power % stride !== 0) continue;
    for (const factor of factors) {
      const value = Number(`${factor}e${power}`);
      if (value < from || value > to) continue;
      ticks.push({ value, text: plain || factor > 1 ? format(value) : powerOfTen(power) });
    }
  }
  return ticks;
}

/** Seconds, minutes or hours, whichever a range is counted in. */
export function timeUnit(to: number): { readonly name: string; readonly seconds: number } {
  if (to < 600) return { name: 's', seconds: 1 };
  return to < 4 * 3600 ? { name: 'min', seconds: 60 } : { name: 'h', seconds: 3600 };
}

/** The smallest of 1, 2 and 5 times a power of ten that is not below. */
function roundStep(least: number): number {
  if (!(least > 0) || !Number.isFinite(least)) return 0;
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5].find((round) => round * power >= least * (1 - 1e-9)) ?? 10;
  return factor * power;
}
