import { abscissas, measures } from '../reporting/charts/comparison.ts';

/** Of the charts of a problem only the one that the switches name is shown. */
function switchRules(): string {
  const pairs = measures.flatMap((measure) =>
    abscissas.map((abscissa) => [measure.key, abscissa.key] as const),
  );
  const shown = pairs.map(
    ([measure, abscissa]) =>
      `:root:has(#measure-${measure}:checked):has(#against-${abscissa}:checked) ` +
      `.${measure}-${abscissa}`,
  );
  return `@supports selector(:has(a)) {
  .chart-choice { display: none; }
  ${shown.join(',\n  ')} { display: block; }
}`;
}

/** The style sheet of report.html. */
export function pageStyle(): string {
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
