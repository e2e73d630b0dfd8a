import { figure } from '../../bench/table.ts';

/** Seconds as text, with three digits that mean something. */
export function duration(seconds: number): string {
  if (Math.abs(seconds) < 1e-3) return `${figure(1e6 * seconds)} µs`;
  return Math.abs(seconds) < 1 ? `${figure(1000 * seconds)} ms` : `${figure(seconds)} s`;
}
