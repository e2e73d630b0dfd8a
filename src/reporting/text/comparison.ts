import type { Colours } from '../../cli/terminal.ts';
import type { Comparison, Problem } from '../../compare/comparison.ts';
import { problemsOf } from '../../compare/comparison.ts';
import {
  describeOutcome,
  finalAuprc,
  finalTestError,
  trainingSeconds,
} from '../../compare/outcome.ts';
import type { Standing } from '../../compare/ranking.ts';
import { rankingRule, rankRuns } from '../../compare/ranking.ts';
import { formatGap, formatNumber, formatPercent, formatSeconds } from '../format.ts';

/** The ranking of every problem as JSON has it; the numbers of a run that has none are absent. */
export function rankingOf(comparison: Comparison) {
  return problemsOf(comparison).map((problem) => ({
    loss: problem.loss,
    lambda: problem.lambda,
    ranking: rankRuns(problem.runs, comparison.conditions.tolerance).map(standingOf),
  }));
}

function standingOf({ run, rank, reached }: Standing) {
  const { report, reason } = run;
  return {
    rank: rank ?? null,
    solver: run.solver,
    state: run.state,
    ...(reason !== undefined && { reason }),
    ...(report && {
      stopped: report.stopped,
      secondsToTolerance: reached ?? null,
      objective: report.primal,
      relativeGap: report.relativeGap,
      testError: finalTestError(run) ?? null,
      auprc: finalAuprc(run) ?? null,
      seconds: trainingSeconds(run) ?? null,
      passes: report.passes,
      epochs: report.epochs,
    }),
  };
}

/** What a terminal shows at the end: a table per problem and what its order means. */
export function comparisonTable(comparison: Comparison, colours: Colours): string {
  const { tolerance, penalty } = comparison.conditions;
  const tables = problemsOf(comparison).map((problem) => {
    const name = `${problem.loss} loss, ${penalty} penalty, λ = ${formatNumber(problem.lambda)}`;
    return `${colours.bold(name)}\n${problemTable(problem, tolerance, colours)}`;
  });
  const legend =
    `${rankingRule} The tolerance is ${formatNumber(tolerance)}; "to tol." is the training time ` +
    'until it was reached, "time" all of it.';
  return `${tables.join('\n\n')}\n\n${colours.dim(wrap(legend, 80))}`;
}

type Row = readonly string[];

function problemTable(problem: Problem, tolerance: number, colours: Colours): string {
  const tested = problem.runs.some((run) => finalTestError(run) !== undefined);
  const head = [
    '',
    'solver',
    'to tol.',
    'objective',
    'gap',
    'test',
    'time',
    'passes',
    'epochs',
    '',
  ];
  const standings = rankRuns(problem.runs, tolerance);
  const rows = standings.map((standing) => rowOf(standing));
  const keep = (row: Row) => (tested ? row : row.filter((_, index) => index !== 5));
  const lines = align([keep(head), ...rows.map(keep)]);
  return [colours.dim(lines[0]), ...lines.slice(1)].join('\n');
}

function rowOf({ run, rank, reached }: Standing): Row {
  const { report } = run;
  const place = rank === undefined ? '–' : String(rank);
  if (!report) return [place, run.solver, ...Array<string>(7).fill(''), describeOutcome(run)];
  const error = finalTestError(run);
  const time = trainingSeconds(run);
  return [
    place,
    run.solver,
    reached === undefined ? '–' : formatSeconds(reached),
    formatNumber(report.primal),
    formatGap(report.relativeGap),
    error === undefined
      ? '–'
      : run.task === 'classification'
        ? formatPercent(error)
        : formatNumber(error),
    time === undefined ? '–' : formatSeconds(time),
    report.passes.toFixed(1),
    String(report.epochs),
    describeOutcome(run),
  ];
}

/** Columns of equal width, numbers to the right; a row without numbers has its text behind the name. */
function align(rows: readonly Row[]): string[] {
  const last = rows[0].length - 1;
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) => {
    const start = `${row[0].padStart(widths[0])}  ${row[1].padEnd(widths[1])}`;
    const numbers = row.slice(2, last);
    if (numbers.every((cell) => cell === '')) return `${start}  ${row[last]}`.trimEnd();
    const cells = numbers.map((cell, index) => cell.padStart(widths[index + 2]));
    return [start, ...cells, row[last]].join('  ').trimEnd();
  });
}

function wrap(text: string, width: number): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines[lines.length - 1];
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join('\n');
}
