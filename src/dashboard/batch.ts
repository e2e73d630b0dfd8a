import type { RunLine } from '../runs/record.ts';

/** Lines that one message holds at most, unless it has more that are no epochs. */
const mostLines = 200;

/** Leaves out epochs of a long batch evenly, never the last one. */
export function thinned(lines: readonly RunLine[]): readonly RunLine[] {
  if (lines.length <= mostLines) return lines;
  const epochs = lines.filter(({ event }) => event === 'epoch').length;
  const room = Math.max(1, mostLines - (lines.length - epochs));
  const step = Math.ceil(epochs / room);
  let left = epochs;
  return lines.filter(({ event }) => {
    if (event !== 'epoch') return true;
    left--;
    return left % step === 0;
  });
}

/** Whether a page has to know more than the lines: the summary is another one after these. */
export function changesSummary(lines: readonly RunLine[]): boolean {
  return lines.some(({ event }) => event === 'begin' || event === 'result' || event === 'failure');
}
