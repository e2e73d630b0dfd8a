import { randomBytes } from 'node:crypto';

const pattern = /^\d{8}-\d{6}-[0-9a-f]{4}$/;

/**
 * The name of a run, such as 20261115-212345-3f9c: when it began, in UTC, and four digits by chance
 * for those that begin in the same second. Names sort by time.
 */
export function newRunId(now: Date): string {
  const digits = now.toISOString().replaceAll(/\D/g, '');
  return `${digits.slice(0, 8)}-${digits.slice(8, 14)}-${randomBytes(2).toString('hex')}`;
}

/** Whether a text can be the name of a run; one that comes from outside has to pass. */
export function isRunId(text: string): boolean {
  return pattern.test(text);
}
