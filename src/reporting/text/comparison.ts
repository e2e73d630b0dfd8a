import type { Task } from '../../problem/losses/loss.ts';
import {
  type Comparison,
  describeOutcome,
  finalAuprc,
  finalTestError,
  type Problem,
  problemsOf,
  type RankedRun,
  rankingRule,
  rankRuns,
  trainingSeconds,
} from '../../train/compare/comparison.ts';
import { type Colours, formatGap, formatNumber, formatPercent, formatSeconds } from '../format.ts';
import { headedTable, type Row } from '../table.ts';

/** The ranking of every problem as JSON has it; the numbers of a run that has none are absent. */
export function rankingOf(comparison: Comparison) {
  return problemsOf(comparison).map((problem) => ({
    loss: problem.loss,
    lambda: problem.lambda,
    ranking: rankRuns(problem.runs, comparison.conditions.tolerance).map(standingOf),
  }));
}

function standingOf({ run, rank, reached }: RankedRun) {
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

function problemTable(problem: Problem, tolerance: number, colours: Colours): string {
  const tested = problem.runs.some((run) => finalTestError(run) !== undefined);
  const titles = [
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
  const head = tested ? titles : titles.filter((title) => title !== 'test');
  return headedTable({
    head,
    rows: rankRuns(problem.runs, tolerance).map((standing) => rowOf(standing, tested)),
    left: (column) => column === 1 || column === head.length - 1,
    colours,
  });
}

function rowOf({ run, rank, reached }: RankedRun, tested: boolean): Row {
  const { report } = run;
  const place = rank === undefined ? '–' : String(rank);
  if (!report) return [place, run.solver, describeOutcome(run)];
  const error = finalTestError(run);
  const time = trainingSeconds(run);
  return [
    place,
    run.solver,
    reached === undefined ? '–' : formatSeconds(reached),
    formatNumber(report.primal),
    formatGap(report.relativeGap),
    ...(tested ? [errorText(run.task, error)] : []),
    time === undefined ? '–' : formatSeconds(time),
    report.passes.toFixed(1),
    String(report.epochs),
    describeOutcome(run),
  ];
}

function errorText(task: Task, error: number | undefined): string {
  if (error === undefined) return '–';
  return task === 'classification' ? formatPercent(error) : formatNumber(error);
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
