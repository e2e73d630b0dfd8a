import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolders, writeAtomically } from '../../files.ts';
import {
  type Comparison,
  encodeCsv,
  encodeResults,
  resultsFile,
} from '../../train/compare/comparison.ts';
import type { NamedChart } from '../charts/comparison.ts';

const csvFile = 'results.csv';
const pageFile = 'report.html';
const figureFolder = 'figures';

export interface ReportOptions {
  /** Charts of one's own, shown above those of the problems. */
  readonly charts?: readonly NamedChart[];
  /** What the reader should know first; plain text, a paragraph each. */
  readonly introduction?: readonly string[];
  readonly onNotice?: (message: string) => void;
}

/** results.json and results.csv: what was computed and could be lost. */
export async function writeResults(folder: string, comparison: Comparison): Promise<void> {
  makeFolders(folder);
  await writeText(join(folder, resultsFile), encodeResults(comparison));
  await writeText(join(folder, csvFile), encodeCsv(comparison));
}

/** Brings a folder up to date: the results, then what is made from them. */
export async function writeReport(
  folder: string,
  comparison: Comparison,
  options: ReportOptions = {},
): Promise<void> {
  const { chartsOf } = await import('../charts/comparison.ts');
  const { pageOf } = await import('./comparison.ts');
  await writeResults(folder, comparison);
  makeFolders(join(folder, figureFolder));
  let lack: string | undefined;
  for (const chart of [...(options.charts ?? []), ...chartsOf(comparison)]) {
    lack ??= await writeFigure(join(folder, figureFolder), chart);
  }
  if (lack) options.onNotice?.(`figures are SVG only: PNG cannot be drawn here (${lack})`);
  await writeText(join(folder, pageFile), pageOf(comparison, options));
}

/** Writes a chart as SVG and PNG, unless they are there. Returns why there is no PNG, if so. */
async function writeFigure(folder: string, { name, chart }: NamedChart) {
  const { lineChart, svgToPng } = await import('../charts/svg.ts');
  const svg = lineChart(chart);
  const [svgPath, pngPath] = [join(folder, `${name}.svg`), join(folder, `${name}.png`)];
  const before = await readFile(svgPath, 'utf8').catch(() => undefined);
  const complete = await stat(pngPath).catch(() => undefined);
  if (before === svg && complete) return undefined;
  let lack: string | undefined;
  const png = await svgToPng(svg).catch((error: Error) => {
    [lack] = error.message.split('\n');
  });
  if (png) await writeAtomically(pngPath, (file) => file.write(png));
  await writeText(svgPath, svg);
  return lack;
}

/** Removes what an earlier report left in the folder; files of other names stay. */
export async function clearReport(folder: string): Promise<void> {
  const { abscissas, measures } = await import('../charts/comparison.ts');
  const [vertical, horizontal] = [measures, abscissas].map((list) =>
    list.map(({ key }) => key).join('|'),
  );
  const figure = new RegExp(`-(?:${vertical})-(?:${horizontal})\\.(?:svg|png)$`);
  const figures = await readdir(join(folder, figureFolder)).catch(() => []);
  const drawn = figures.filter((one) => figure.test(one)).map((one) => join(figureFolder, one));
  for (const name of [resultsFile, csvFile, pageFile, ...drawn])
    await rm(join(folder, name), { force: true });
}

function writeText(path: string, text: string): Promise<void> {
  return writeAtomically(path, (file) => file.write(text));
}
