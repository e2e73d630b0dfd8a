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
import {
  type Colours,
  formatGap,
  formatIfKnown,
  formatNumber,
  formatPercent,
  formatSeconds,
} from '../format.ts';
import { headedTable, type Row } from '../table.ts';

/** The ranking of every problem as JSON has it; the numbers of a run that has none are absent. */
export function rankingOf(comparison: Comparison) {
  return problemsOf(comparison).map((problem) => ({
    loss: problem.loss,
    lambda: problem.lambda,
    ranking: rankRuns(problem.runs, comparison.conditions.tolerance).map(rankedRunJson),
  }));
}

function rankedRunJson({ run, rank, reached }: RankedRun) {
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

/** "hinge loss, l2 penalty, λ = 1e-5" */
export function problemTitle({ loss, lambda }: Problem, { conditions }: Comparison): string {
  return `${loss} loss, ${conditions.penalty} penalty, λ = ${formatNumber(lambda)}`;
}

/** What a terminal shows at the end: a table per problem and what its order means. */
export function comparisonTable(comparison: Comparison, colours: Colours): string {
  const { tolerance } = comparison.conditions;
  const tables = problemsOf(comparison).map((problem) => {
    const title = colours.bold(problemTitle(problem, comparison));
    return `${title}\n${problemTable(problem, tolerance, colours)}`;
  });
  const legend =
    `${rankingRule} The tolerance is ${formatNumber(tolerance)}; "to tol." is the training time ` +
    'until it was reached, "time" all of it.';
  return `${tables.join('\n\n')}\n\n${colours.dim(wrap(legend, 80))}`;
}

const heads = ['', 'solver', 'to tol.', 'objective', 'gap', 'test', 'time', 'passes', 'epochs', ''];

function problemTable({ runs }: Problem, tolerance: number, colours: Colours): string {
  const tested = runs.some((run) => finalTestError(run) !== undefined);
  const head = tested ? heads : heads.filter((one) => one !== 'test');
  return headedTable({
    head,
    rows: rankRuns(runs, tolerance).map((ranked) => rowOf(ranked, tested)),
    left: (column) => column === 1 || column === head.length - 1,
    colours,
  });
}

function rowOf({ run, rank, reached }: RankedRun, tested: boolean): Row {
  const { report } = run;
  const first = [rank === undefined ? '–' : String(rank), run.solver];
  if (!report) return [...first, describeOutcome(run)];
  const errorText = run.task === 'classification' ? formatPercent : formatNumber;
  return [
    ...first,
    formatIfKnown(reached, formatSeconds) ?? '–',
    formatNumber(report.primal),
    formatGap(report.relativeGap),
    ...(tested ? [formatIfKnown(finalTestError(run), errorText) ?? '–'] : []),
    formatIfKnown(trainingSeconds(run), formatSeconds) ?? '–',
    report.passes.toFixed(1),
    String(report.epochs),
    describeOutcome(run),
  ];
}

/** At most `width` characters a line. */
function wrap(text: string, width: number): string {
  return text.replace(new RegExp(`(.{1,${width}})(?: |$)`, 'g'), '$1\n').trimEnd();
}
