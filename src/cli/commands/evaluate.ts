import { evaluate } from '../../metrics/evaluate.ts';
import type { ClassificationMetrics, Metrics } from '../../metrics/metrics.ts';
import { readModel } from '../../model/format.ts';
import type { Model } from '../../model/model.ts';
import type { EvaluateFlags } from '../definitions/evaluate.ts';
import { exitCodes } from '../exit-codes.ts';
import { checkStandardInput } from '../outputs.ts';
import { createProgress } from '../progress.ts';
import { readForModel } from '../reading.ts';
import type { Terminal } from '../terminal.ts';
import { formatCount, formatNumber, formatPercent, twoColumns } from '../text.ts';

export async function evaluateCommand(
  modelPath: string,
  data: string,
  flags: EvaluateFlags,
  terminal: Terminal,
): Promise<number> {
  checkStandardInput([modelPath, data]);
  const model = await readModel(modelPath);
  const progress = createProgress(terminal, flags.quiet ?? false);
  const dataset = await readForModel(model, data, flags, progress);
  const metrics = evaluate(model, dataset);
  const text = flags.json ? JSON.stringify(metrics) : describeMetrics(model, metrics);
  await terminal.print(`${text}\n`);
  return exitCodes.done;
}

/** The metrics as a table for people. */
function describeMetrics(model: Model, metrics: Metrics): string {
  if (metrics.task === 'regression') {
    return twoColumns([
      ['rows', formatCount(metrics.rows)],
      ['mean squared error', formatNumber(metrics.mse)],
      ['mean absolute error', formatNumber(metrics.mae)],
      ['R²', metrics.r2 === null ? 'undefined: all labels are equal' : formatNumber(metrics.r2)],
    ]);
  }
  const rows: [string, string][] = [
    ['rows', formatCount(metrics.rows)],
    ['accuracy', formatPercent(metrics.accuracy)],
    ['error', formatPercent(metrics.error)],
    ['AUC', describeArea(metrics.auc)],
    ['average precision', describeArea(metrics.auprc)],
  ];
  if (metrics.logLoss !== null) rows.push(['log loss', formatNumber(metrics.logLoss)]);
  return `${twoColumns(rows)}\n\n${confusionTable(model, metrics)}`;
}

function describeArea(area: number | null): string {
  return area === null ? 'undefined: one class is absent' : formatNumber(area);
}

function confusionTable(model: Model, { confusion }: ClassificationMetrics): string {
  const [negative, positive] = model.classes ?? [-1, 1];
  const header = ['', `predicted ${positive}`, `predicted ${negative}`];
  const table = [
    header,
    [
      `label ${positive}`,
      formatCount(confusion.truePositive),
      formatCount(confusion.falseNegative),
    ],
    [
      `label ${negative}`,
      formatCount(confusion.falsePositive),
      formatCount(confusion.trueNegative),
    ],
  ];
  const widths = header.map((_, column) => Math.max(...table.map((row) => row[column].length)));
  return table
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]),
        )
        .join('  '),
    )
    .join('\n');
}
