import type { RunLine } from '../reporting/records/record.ts';
import { hasReached } from '../runs/detail.ts';

/** Lines that one message holds at most, unless it has more that are no epochs. */
const mostLines = 200;

/**
 * Leaves out epochs of a long batch evenly, never the last one, nor those within the tolerance of a
 * run with several vectors, by which their ends are known.
 */
export function thinned(lines: readonly RunLine[], toleranceOf: () => number): readonly RunLine[] {
  if (lines.length <= mostLines) return lines;
  const epochs = lines.filter(({ event }) => event === 'epoch').length;
  const room = Math.max(1, mostLines - (lines.length - epochs));
  const step = Math.ceil(epochs / room);
  const tolerance = toleranceOf();
  let left = epochs;
  return lines.filter((line) => {
    if (line.event !== 'epoch') return true;
    left--;
    return left % step === 0 || (line.vector !== undefined && hasReached(line, tolerance));
  });
}

/** Whether a page has to know more than the lines: the summary is another one after these. */
export function changesSummary(lines: readonly RunLine[]): boolean {
  return lines.some(({ event }) => event === 'begin' || event === 'result' || event === 'failure');
}
