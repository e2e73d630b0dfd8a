import { hashOf } from './run.ts';

/** What depends on the machine, the time or the wording of messages. */
const left = new Set([
  'commands',
  'effort',
  'machine',
  'node',
  'notices',
  'program',
  'ranks',
  'reason',
  'seconds',
  'started',
  'threads',
  'title',
  'version',
]);

/** A hash of a report without what differs between two runs of the same command. */
export function hashOfReport(report: unknown): string {
  return hashOf(JSON.stringify(cleaned(report)));
}

/** The same of one report per line. */
export function hashOfReports(text: string): string {
  return hashOfReport(eventsOf(text));
}

/** The same of the epochs and the result of a log, without what its last line says of the process. */
export function hashOfLog(text: string): string {
  const trained = eventsOf(text).filter(({ event }) => event === 'epoch' || event === 'result');
  return hashOfReport(trained.map(({ ended, code, model, ...rest }) => rest));
}

function eventsOf(text: string): Record<string, unknown>[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Keys in alphabetical order; numbers that JSON does not have as texts. */
function cleaned(value: unknown): unknown {
  if (typeof value === 'number') {
    return Object.is(value, -0) || !Number.isFinite(value) ? `number ${1 / value} ${value}` : value;
  }
  if (ArrayBuffer.isView(value)) return Array.from(value as Float64Array, cleaned);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => !left.has(key));
  entries.sort(([first], [second]) => (first < second ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, cleaned(item)]));
}
