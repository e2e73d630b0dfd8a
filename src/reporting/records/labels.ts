import { formatNumber } from '../../math/format-number.ts';
import type { RunSummary } from './record.ts';

/** Options that say where things go or how a run is looked at, not what it does. */
const besidePoint = new Set([
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
    .filter((name) => !besidePoint.has(name))
    .map((name) => ({ name, texts: runs.map(({ start }) => optionText(start.options[name])) }))
    .filter(({ texts }) => new Set(texts).size > 1);
  return runs.map((_, place) => {
    const parts = columns.flatMap(({ name, texts }) => {
      const own = texts[place];
      if (own === '') return [];
      return [own === 'true' ? words(name) : `${words(name)} ${own}`];
    });
    return parts.join(' · ');
  });
}

function optionText(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return formatNumber(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function words(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
