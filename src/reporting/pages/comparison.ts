import { formatShort } from '../../math/format-number.ts';
import {
  type Comparison,
  type DataSummary,
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
import { abscissas, chartsOf, measures, type ProblemChart } from '../charts/comparison.ts';
import { type LineChart, lineChart } from '../charts/svg.ts';
import { escapeMarkup as text } from '../charts/svg-style.ts';
import {
  dataSize,
  formatCount,
  formatGap,
  formatIfKnown,
  formatNumber,
  formatPercent,
} from '../format.ts';
import { problemTitle } from '../text/comparison.ts';
import type { ReportOptions } from './comparison-files.ts';

/** Of the charts of a problem only the one that the switches name is shown. */
function switchRules(): string {
  const shown = measures.flatMap(({ key: measure }) =>
    abscissas.map(
      ({ key: abscissa }) =>
        `:root:has(#measure-${measure}:checked):has(#against-${abscissa}:checked) ` +
        `.${measure}-${abscissa}`,
    ),
  );
  return `@supports selector(:has(a)) {
  .chart-choice { display: none; }
  ${shown.join(',\n  ')} { display: block; }
}`;
}

/** The style sheet of report.html. */
function pageStyle(): string {
  return `:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1f2328; --faint: #656d76; --line: #d8dee4; --panel: #f6f8fa;
  --accent: #0072b2;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15181c; --ink: #e6e8ea; --faint: #9aa3ad; --line: #343a41; --panel: #1d2126;
    --accent: #56b4e9;
  }
  .chart .series { filter: brightness(1.25) saturate(0.95); }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 66rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, Arial, sans-serif;
}
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 0.5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 0.5rem; }
p, li { max-width: 46rem; }
.faint, small { color: var(--faint); }
small { display: block; font-size: 0.78rem; white-space: nowrap; }
.switches {
  position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem;
  padding: 0.5rem 0; background: var(--paper); border-bottom: 1px solid var(--line);
}
fieldset { border: 0; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: 0.3rem; }
legend { float: left; padding: 0.15rem 0.5rem 0.15rem 0; color: var(--faint); font-size: 0.85rem; }
.switches label { cursor: pointer; font-size: 0.85rem; }
.switches input { position: absolute; opacity: 0; }
.switches span {
  display: inline-block; padding: 0.15rem 0.6rem; border: 1px solid var(--line);
  border-radius: 1rem;
}
.switches input:checked + span {
  background: var(--accent); border-color: var(--accent); color: var(--paper);
}
.switches input:focus-visible + span { outline: 2px solid var(--ink); outline-offset: 1px; }
figure { margin: 1rem 0; }
.chart { display: block; width: 100%; height: auto; max-width: 42rem; color: var(--ink); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.88rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.35rem 0.55rem; text-align: right; border-bottom: 1px solid var(--line); }
th { color: var(--faint); font-weight: 600; vertical-align: bottom; }
td { white-space: nowrap; vertical-align: top; }
td.reason { white-space: normal; min-width: 16rem; }
.left { text-align: left; }
tbody tr:first-child td { font-weight: 600; }
tbody tr:first-child small { font-weight: 400; }
pre {
  padding: 0.75rem 1rem; background: var(--panel); border: 1px solid var(--line);
  border-radius: 6px; overflow-x: auto; font-size: 0.85rem;
}
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1.2rem; margin: 0; }
dt { color: var(--faint); }
dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 34rem) {
  body { padding: 1rem 0.75rem 3rem; }
  .switches { position: static; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 0.5rem; }
}
@media print { .switches { position: static; } }
${switchRules()}`;
}

/** report.html: one file that needs no other, no network and no script. */
export function pageOf(comparison: Comparison, options: ReportOptions): string {
  const charts = chartsOf(comparison);
  const introduction = (options.introduction ?? []).map((line) => `<p>${text(line)}</p>`);
  const own = (options.charts ?? []).map(({ chart }) => figure(chart, 'own-chart'));
  const problems = problemsOf(comparison).map((problem) =>
    problemSection(comparison, problem, charts),
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${text(comparison.title)}</title>
<style>
${pageStyle()}
</style>
</head>
<body>
<header>
<h1>${text(comparison.title)}</h1>
<p class="faint">${text(describeData(comparison.data))}</p>
${introduction.join('\n')}
</header>
<main>
${own.join('\n')}
${charts.length > 0 ? switches(charts) : ''}
${problems.join('\n')}
${readingSection(comparison)}
${conditionsSection(comparison)}
</main>
</body>
</html>
`;
}

function describeData({ name, rows, columns, nonzeros }: DataSummary): string {
  return `${name}: ${dataSize(rows, columns, nonzeros)}`;
}

/** Radio buttons; the style sheet shows the charts they name. */
function switches(charts: readonly ProblemChart[]): string {
  const present = measures.filter(({ key }) => charts.some(({ measure }) => measure.key === key));
  const group = (name: string, title: string, choices: readonly { key: string; name: string }[]) =>
    `<fieldset><legend>${title}</legend>${choices
      .map(
        ({ key, name: label }, index) =>
          `<label><input type="radio" name="${name}" id="${name}-${key}"` +
          `${index === 0 ? ' checked' : ''}><span>${label}</span></label>`,
      )
      .join('')}</fieldset>`;
  return `<form class="switches">${group('measure', 'Show', present)}${group('against', 'against', abscissas)}</form>`;
}

function problemSection(
  comparison: Comparison,
  problem: Problem,
  charts: readonly ProblemChart[],
): string {
  const own = charts.filter(
    ({ problem: { loss, lambda } }) => loss === problem.loss && lambda === problem.lambda,
  );
  const figures = own.map(({ chart, measure, abscissa }) =>
    figure(chart, `chart-choice ${measure.key}-${abscissa.key}`),
  );
  return `<section>
<h2>${text(problemTitle(problem, comparison))}</h2>
${figures.join('\n')}
${rankingTable(comparison, problem)}
</section>`;
}

/** Smaller than a file's, so that its text can be read on a phone. */
const inlineSize = { inline: true, width: 500, height: 370 };

function figure(chart: LineChart, classes: string): string {
  return `<figure class="${classes}">${lineChart(chart, inlineSize)}</figure>`;
}

type Column = readonly [head: string, cell: (ranked: RankedRun) => string | undefined];

function columnsFor({ conditions }: Comparison, problem: Problem): Column[] {
  const isRate = problem.task === 'classification';
  const test: Column = [
    isRate ? 'test error' : 'test mse',
    ({ run }) => formatIfKnown(finalTestError(run), isRate ? formatPercent : formatNumber),
  ];
  const auprc: Column = [
    'AUPRC',
    ({ run }) => formatIfKnown(finalAuprc(run), (area) => area.toFixed(4)),
  ];
  return [
    ['s to tolerance', ({ reached }) => formatIfKnown(reached, formatShort)],
    ['objective', ({ run }) => formatIfKnown(run.report?.primal, formatNumber)],
    ['relative gap', ({ run }) => formatIfKnown(run.report?.relativeGap, formatGap)],
    ...(problem.runs.some((run) => finalTestError(run) !== undefined) ? [test] : []),
    ...(conditions.auprc ? [auprc] : []),
    ['seconds', ({ run }) => formatIfKnown(trainingSeconds(run), formatShort)],
    ['passes', ({ run }) => formatIfKnown(run.report?.passes, formatShort)],
    ['epochs', ({ run }) => formatIfKnown(run.report?.epochs, formatCount)],
  ];
}

function rankingTable(comparison: Comparison, problem: Problem): string {
  const columns = columnsFor(comparison, problem);
  const heads = columns.map(([head]) => `<th scope="col">${head}</th>`).join('');
  const rows = rankRuns(problem.runs, comparison.conditions.tolerance).map((ranked) => {
    const { run, rank } = ranked;
    const { report } = run;
    const workers = report && `${report.solver}, grid ${report.grid}, threads ${report.threads}`;
    const first =
      `<td>${rank ?? '–'}</td><td class="left">${text(run.solver)}` +
      `${workers === undefined ? '' : `<small>${text(workers)}</small>`}</td>`;
    const outcome = text(describeOutcome(run));
    if (!report)
      return `<tr>${first}<td class="left reason" colspan="${columns.length + 1}">${outcome}</td></tr>`;
    const cells = columns.map(([, cell]) => `<td>${cell(ranked) ?? '–'}</td>`).join('');
    return `<tr>${first}${cells}<td class="left">${outcome}</td></tr>`;
  });
  return `<div class="scroll"><table>
<thead><tr><th scope="col">rank</th><th scope="col" class="left">solver</th>${heads}<th scope="col" class="left">ended by</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table></div>`;
}

function readingSection({ conditions }: Comparison): string {
  const warmed = conditions.warmUp
    ? ' Before its first run every solver made a short run that was not timed, so that no time includes the warm-up of the engine.'
    : '';
  return `<section>
<h2>How to read this</h2>
<ul>
<li><b>Ranking.</b> ${rankingRule}</li>
<li><b>Objective</b> P(w) is λ times the penalty plus the mean loss, of the best weights so far. <b>D</b> is the best lower bound on the optimum that the solver has proved so far. The <b>relative gap</b> (P − D) / P bounds how far P(w) can be above the optimum, relative to P(w). It is proved by the solver itself: one with good weights but a poor bound has a large gap.</li>
<li><b>Distance to the optimum</b> measures all solvers against one number, the best lower bound that any of them has proved for the problem. It is at least the true distance and levels off at what is left of that bound's own gap.</li>
<li><b>Seconds</b> are seconds of training, with the measuring of objective and gap that a stopping rule needs; reading the data, which happens once, laying it out and measuring on the test rows are not counted.${warmed}</li>
<li><b>Passes</b> count the non-zeros that a solver touched, divided by the non-zeros of the data: work, whatever the machine. What an <b>epoch</b> is differs from solver to solver.</li>
<li>Runs were made one after another. Serial solvers run on one thread and a grid of 1.</li>
</ul>
</section>`;
}

function conditionsSection(comparison: Comparison): string {
  const { conditions, machine, data, test, commands, version, runs } = comparison;
  const dates = runs.map((run) => run.started).toSorted();
  const entries: [string, string][] = [
    ['training data', `${describeData(data)} (hash ${data.hash})`],
    ['test data', test === null ? 'none' : `${describeData(test)} (hash ${test.hash})`],
    ['tested', conditions.testOn === 'best' ? 'the best weights so far' : 'the latest weights'],
    ['penalty', conditions.penalty],
    ['penalty factors', conditions.penaltyFactors ?? 'none'],
    ['intercept', conditions.intercept ? 'yes' : 'no'],
    ['tolerance', formatNumber(conditions.tolerance)],
    ['most epochs', formatCount(conditions.epochs)],
    ['most seconds', conditions.time === null ? 'no limit' : formatNumber(conditions.time)],
    ['threads', String(conditions.threads)],
    ['grid', `${conditions.grid}; 1 for serial solvers`],
    ['seed', String(conditions.seed)],
    ['warm-up', conditions.warmUp ? 'yes' : 'no'],
    [
      'machine',
      `${machine.processor}, ${machine.cores} cores, ${(machine.memory / 2 ** 30).toFixed(1)} GiB`,
    ],
    ['software', `dso ${version}, Node ${machine.node}, ${machine.platform}`],
    ['run', dates.length === 0 ? 'not yet' : `${dates[0]} to ${dates[dates.length - 1]}`],
  ];
  const list = entries.map(([name, value]) => `<dt>${name}</dt><dd>${text(value)}</dd>`);
  const repeat =
    commands.length === 0 ? '' : `<p>To repeat it:</p>\n<pre>${text(commands.join('\n'))}</pre>\n`;
  return `<section>
<h2>Conditions</h2>
${repeat}<dl>
${list.join('\n')}
</dl>
<p>All numbers are in <code>results.json</code> and, a line per epoch, in <code>results.csv</code>; every figure is in <code>figures/</code> as SVG and PNG.</p>
</section>`;
}
