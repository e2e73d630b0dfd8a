import type { RunSummary } from '../reporting/records/record.ts';
import { unseen } from './label-text.ts';

/** How a run ended, or that it has not; of a record that does not say why it did: done. */
export function describeEnd({ status, result }: RunSummary): string {
  if (status !== 'done') return status;
  switch (result?.stopped) {
    case 'converged':
      return 'converged';
    case 'early-stop':
      return 'early stop';
    case 'time-limit':
      return 'time limit';
    case 'epoch-limit':
      return 'epoch limit';
    case 'interrupted':
      return 'stopped';
    case 'stream':
      return 'end of stream';
    default:
      return 'done';
  }
}

const day = 24 * 3600;

/** "3 min ago"; from a day on "2026-11-14 21:23", on the clock of whoever reads it. */
export function describeWhen(started: string, now: Date): string {
  const date = new Date(started);
  const seconds = Math.max(0, Math.floor((now.getTime() - date.getTime()) / 1000));
  if (Number.isNaN(seconds)) return '–';
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return seconds < day ? `${Math.floor(seconds / 3600)} h ago` : clockTime(date);
}

/** 2026-11-14 21:23 */
export function clockTime(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const days = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${days} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** Seconds of training so far, or of all of it, those before a resumed run included. */
export function runSeconds({ result, latest, report }: RunSummary): number | undefined {
  const train = result?.seconds?.train;
  if (train !== undefined) return train + (result?.resumed?.seconds ?? 0);
  return latest?.elapsed ?? latest?.seconds ?? report?.seconds;
}

/**
 * Like a POSIX shell wants a word that is to come out as it is; one with characters that would
 * steer the terminal like bash and zsh want it.
 */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (!unseen.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  const escaped = text
    .replaceAll(/[\\']/g, String.raw`\$&`)
    .replaceAll(new RegExp(unseen, 'gu'), (character) => codeOf(character.codePointAt(0)!));
  return `$'${escaped}'`;
}

function codeOf(point: number): string {
  const digits = point.toString(16);
  return point < 256 ? `\\x${digits.padStart(2, '0')}` : `\\u${digits.padStart(4, '0')}`;
}

/** The command line that does the same again; a query is not kept and is left to be filled in. */
export function commandLine({ start }: RunSummary, command: string): string {
  const { words = wordsOf(start) } = start;
  return [command, ...words.map(shellWord)].join(' ');
}

function wordsOf({ options, data }: RunSummary['start']): string[] {
  const words = Object.entries(options).flatMap(([name, value]) => optionWords(name, value));
  return ['train', ...(options.sql === undefined ? [data] : []), ...words];
}

/** lambda: 1e-5 → --lambda 1e-5, json: true → --json, svrg: false → --no-svrg */
function optionWords(name: string, value: unknown): string[] {
  const long = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (value === undefined || value === null) return [];
  if (typeof value === 'boolean') return [value ? `--${long}` : `--no-${long}`];
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return [`--${long}`, text];
}
