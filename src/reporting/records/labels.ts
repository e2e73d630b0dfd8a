import { unseen } from '../../errors.ts';
import type { StopReason } from '../../train/events.ts';
import { formatNumber } from '../format.ts';
import type { RunSummary } from './record.ts';

/** Options about output and monitoring, or shown already, not about what the run computes. */
const withoutEffect = new Set(
  (
    'output log json quiet ui uiPort open chart runs record name report visits checkpoint ' +
    'checkpointEvery resume solver loss penalty lambda'
  ).split(' '),
);

/**
 * Names for runs that are shown together, by id: the name that a run was given, or what it differs
 * in from the others, and the end of its id where that is nothing.
 */
export function runLabels(runs: readonly RunSummary[]): Map<string, string> {
  const texts = joined(runs, runs.map(traitsOf));
  const labels = new Map(runs.map(({ id }, index) => [id, texts[index]]));
  for (const text of new Set(texts)) {
    const alike = runs.filter((_, index) => texts[index] === text);
    if (alike.length === 1) continue;
    const options = optionsThatDiffer(alike);
    for (const [index, run] of alike.entries()) {
      const others = alike.filter((_, other) => options[other] === options[index]);
      const otherIds = others.map(({ id }) => id);
      const ending = others.length > 1 ? shortIdAmong(otherIds, run.id) : '';
      labels.set(run.id, [text, options[index], ending].filter(Boolean).join(' · '));
    }
  }
  return labels;
}

/** The last digits, by which commands find a run too, unless another has the same. */
export function shortIdAmong(ids: readonly string[], id: string): string {
  return ids.filter((other) => shortId(other) === shortId(id)).length > 1 ? id : shortId(id);
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

/** The solver that ran, or the requested one. */
export function solverName({ begin, start }: RunSummary): string {
  if (begin) return begin.solver;
  if (start.options.progressive === true) return 'sgd';
  return typeof start.options.solver === 'string' ? start.options.solver : 'auto';
}

function traitsOf(run: RunSummary): string[] {
  const { start, begin } = run;
  const lambda = begin ? `λ ${formatNumber(begin.lambda)}` : '';
  return [dataName(run), solverName(run), start.loss, start.penalty, lambda];
}

/** Of each run what is not the same everywhere, the solver if everything is. */
function joined(runs: readonly RunSummary[], traits: readonly string[][]): string[] {
  return runs.map((run, index) => {
    const differing = traits[index].filter(
      (text, trait) => text !== '' && traits.some((other) => other[trait] !== text),
    );
    return run.start.name ?? (differing.join(' · ') || solverName(run));
  });
}

/** Of each run the options that are not the same everywhere. */
function optionsThatDiffer(runs: readonly RunSummary[]): string[] {
  const names = [...new Set(runs.flatMap(({ start }) => Object.keys(start.options)))].sort();
  const columns = names
    .filter((name) => !withoutEffect.has(name))
    .map((name) => ({ name, texts: runs.map(({ start }) => optionText(start.options[name])) }))
    .filter(({ texts }) => new Set(texts).size > 1);
  return runs.map((_, index) => {
    const parts = columns.flatMap(({ name, texts: { [index]: own } }) => {
      if (own === '') return [];
      const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
      return [own === 'true' ? words : `${words} ${own}`];
    });
    return parts.join(' · ');
  });
}

function optionText(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return formatNumber(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Characters of an id that are its second. */
const secondLength = '20261115-212345'.length;

/** Sorts runs, the newest first: by the second in their ids, then by the exact time of the start. */
export function newestFirst(a: RunSummary, b: RunSummary): number {
  const [keyA, keyB] = [a, b].map(({ id, start }) =>
    [id.slice(0, secondLength), start.started, id].join('\0'),
  );
  if (keyA === keyB) return 0;
  return keyA < keyB ? 1 : -1;
}

const endTexts: Readonly<Partial<Record<StopReason, string>>> = {
  converged: 'converged',
  precision: 'precision limit',
  'no-progress': 'no progress',
  'early-stop': 'early stop',
  'time-limit': 'time limit',
  'epoch-limit': 'epoch limit',
  interrupted: 'stopped',
  stream: 'end of stream',
};

/** The state of a run or how it ended; "done" for a record that does not say why it ended. */
export function statusText({ status, result }: RunSummary): string {
  return status === 'done' ? ((result?.stopped && endTexts[result.stopped]) ?? status) : status;
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
    .replaceAll(new RegExp(unseen, 'gu'), (character) => {
      const digits = character.codePointAt(0)!.toString(16);
      return digits.length > 2 ? `\\u${digits.padStart(4, '0')}` : `\\x${digits.padStart(2, '0')}`;
    });
  return `$'${escaped}'`;
}

/** The command line that repeats the run; a query is not recorded and must be filled in. */
export function commandLine({ start }: RunSummary, command: string): string {
  const { options, data } = start;
  const given = Object.entries(options).flatMap(([name, value]) => argumentsOf(name, value));
  const words = start.words ?? ['train', ...(options.sql === undefined ? [data] : []), ...given];
  return [command, ...words.map(shellWord)].join(' ');
}

/** lambda: 1e-5 → --lambda 1e-5, json: true → --json, svrg: false → --no-svrg */
function argumentsOf(name: string, value: unknown): string[] {
  const long = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (value === undefined || value === null) return [];
  if (typeof value === 'boolean') return [value ? `--${long}` : `--no-${long}`];
  return [`--${long}`, typeof value === 'string' ? value : JSON.stringify(value)];
}

/** What no objective of a run is below: 0, unless its loss is one that a file brings. */
export function leastBound({ loss, options }: RunSummary['start']): number {
  return options.loss === loss ? 0 : -Infinity;
}
