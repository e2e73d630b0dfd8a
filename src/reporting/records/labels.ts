import { formatNumber, unseen } from '../format.ts';
import type { RunSummary } from './record.ts';

/** Options about output and monitoring, or shown already, not about what the run computes. */
const withoutEffect = new Set([
  'output',
  'log',
  'json',
  'quiet',
  'ui',
  'uiPort',
  'open',
  'chart',
  'runs',
  'record',
  'name',
  'report',
  'visits',
  'checkpoint',
  'checkpointEvery',
  'resume',
  'solver',
  'loss',
  'penalty',
  'lambda',
]);

/**
 * Names for runs that are shown together, by id: the name that a run was given, or what it differs
 * in from the others, and the end of its id where that is nothing.
 */
export function runLabels(runs: readonly RunSummary[]): Map<string, string> {
  const texts = joined(runs, runs.map(traitsOf));
  const labels = new Map(runs.map(({ id }, place) => [id, texts[place]]));
  for (const text of new Set(texts)) {
    const alike = runs.filter((_, place) => texts[place] === text);
    if (alike.length === 1) continue;
    const options = optionsThatDiffer(alike);
    for (const [place, run] of alike.entries()) {
      const others = alike.filter((_, other) => options[other] === options[place]);
      const ending = others.length > 1 ? endingOf(run, others) : '';
      const parts = [text, options[place], ending].filter((part) => part !== '');
      labels.set(run.id, parts.join(' · '));
    }
  }
  return labels;
}

/** The last digits, by which commands find a run too, unless another has the same. */
function endingOf({ id }: RunSummary, runs: readonly RunSummary[]): string {
  const isAlone = runs.filter((other) => shortId(other.id) === shortId(id)).length === 1;
  return isAlone ? shortId(id) : id;
}

/** 20261115-212345-3f9c → 3f9c */
export function shortId(id: string): string {
  return id.slice(id.lastIndexOf('-') + 1);
}

/** data/a9a.svm.gz → a9a.svm.gz */
export function dataName({ start }: RunSummary): string {
  if (start.data === '-') return 'standard input';
  return start.data.split(/[/\\]/).at(-1) || start.data;
}

/** The solver that ran, or the one that was asked for. */
export function solverName({ begin, start }: RunSummary): string {
  if (begin) return begin.solver;
  if (start.options.progressive === true) return 'sgd';
  return typeof start.options.solver === 'string' ? start.options.solver : 'auto';
}

function traitsOf(run: RunSummary): string[] {
  const { start, begin } = run;
  return [
    dataName(run),
    solverName(run),
    start.loss,
    start.penalty,
    begin ? `λ ${formatNumber(begin.lambda)}` : '',
  ];
}

/** Of each run what is not the same everywhere, the solver if everything is. */
function joined(runs: readonly RunSummary[], traits: readonly string[][]): string[] {
  return runs.map((run, place) => {
    const { name } = run.start;
    if (name !== undefined) return name;
    const differing = traits[place].filter(
      (text, trait) => text !== '' && traits.some((other) => other[trait] !== text),
    );
    return differing.length > 0 ? differing.join(' · ') : solverName(run);
  });
}

/** Of each run the options that are not the same everywhere. */
function optionsThatDiffer(runs: readonly RunSummary[]): string[] {
  const names = [...new Set(runs.flatMap(({ start }) => Object.keys(start.options)))].sort();
  const columns = names
    .filter((name) => !withoutEffect.has(name))
    .map((name) => ({ name, texts: runs.map(({ start }) => optionText(start.options[name])) }))
    .filter(({ texts }) => new Set(texts).size > 1);
  return runs.map((_, place) => {
    const parts = columns.flatMap(({ name, texts }) => {
      const own = texts[place];
      if (own === '') return [];
      return [own === 'true' ? optionWords(name) : `${optionWords(name)} ${own}`];
    });
    return parts.join(' · ');
  });
}

function optionText(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return formatNumber(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function optionWords(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Characters of an id that are its second. */
const secondLength = '20261115-212345'.length;

/**
 * Sorts runs, the newest first: by the second in their ids, then by when they began, of which ids
 * do not tell more.
 */
export function newestFirst(a: RunSummary, b: RunSummary): number {
  return (
    compare(b.id.slice(0, secondLength), a.id.slice(0, secondLength)) ||
    compare(b.start.started, a.start.started) ||
    compare(b.id, a.id)
  );
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** How a run stands or ended; "done" for a record that does not say why it ended. */
export function statusText({ status, result }: RunSummary): string {
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

/** Seconds of training so far, or of all of it, those before a resumed run included. */
export function runSeconds({ result, latest, report }: RunSummary): number | undefined {
  const train = result?.seconds?.train;
  if (train !== undefined) return train + (result?.resumed?.seconds ?? 0);
  return latest?.elapsed ?? latest?.seconds ?? report?.seconds;
}

/** Quoted for a POSIX shell; with control characters as bash and zsh quote them. */
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

/** The command line that repeats the run; a query is not recorded and has to be filled in. */
export function commandLine({ start }: RunSummary, command: string): string {
  const { words = wordsOf(start) } = start;
  return [command, ...words.map(shellWord)].join(' ');
}

function wordsOf({ options, data }: RunSummary['start']): string[] {
  const words = Object.entries(options).flatMap(([name, value]) => argumentsOf(name, value));
  return ['train', ...(options.sql === undefined ? [data] : []), ...words];
}

/** lambda: 1e-5 → --lambda 1e-5, json: true → --json, svrg: false → --no-svrg */
function argumentsOf(name: string, value: unknown): string[] {
  const long = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (value === undefined || value === null) return [];
  if (typeof value === 'boolean') return [value ? `--${long}` : `--no-${long}`];
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return [`--${long}`, text];
}
