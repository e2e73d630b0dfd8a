import type { WeightSummary } from '../../metrics/weights.ts';
import { largestColumns, summarizeWeights } from '../../metrics/weights.ts';
import { readModel } from '../../model/format.ts';
import type { Model } from '../../model/model.ts';
import { describePenalty } from '../../penalties/index.ts';
import type { InspectFlags } from '../definitions/inspect.ts';
import { exitCodes } from '../exit-codes.ts';
import { checkStandardInput } from '../outputs.ts';
import { describeCertificate } from '../summary.ts';
import type { Terminal } from '../terminal.ts';
import { formatCount, formatNumber, formatPercent, plural, twoColumns } from '../text.ts';
import { readLines } from '../text-file.ts';

interface Feature {
  /** As in the data: from 1, or from 0 with --zero-based. */
  readonly feature: number;
  readonly name?: string;
  readonly weight: number;
}

export async function inspectCommand(
  path: string,
  flags: InspectFlags,
  terminal: Terminal,
): Promise<number> {
  checkStandardInput([path, flags.names]);
  const model = await readModel(path);
  const names = flags.names === undefined ? [] : await readLines(flags.names);
  const firstFeature = flags.zeroBased ? 0 : 1;
  const top = largestColumns(model.weights, flags.top).map((column): Feature => {
    const name = names[column];
    const weight = model.weights[column];
    const feature = column + firstFeature;
    return name === undefined ? { feature, weight } : { feature, name, weight };
  });
  const summary = summarizeWeights(model.weights);
  if (flags.json) {
    const { weights: _, ...description } = model;
    await terminal.print(`${JSON.stringify({ ...description, weights: summary, top })}\n`);
  } else {
    await terminal.print(`${describeModel(model, summary)}\n`);
    if (top.length > 0) await terminal.print(`\n${describeFeatures(top, terminal)}\n`);
  }
  return exitCodes.done;
}

function describeModel(model: Model, summary: WeightSummary): string {
  const { certificate, loss, penalty } = model;
  const parameter = loss.parameter === 0 ? '' : ` (parameter ${loss.parameter})`;
  const rows: [string, string][] = [
    ['task', describeTask(model)],
    ['loss', `${loss.name}${parameter}`],
    ['penalty', `${describePenalty(penalty)}, lambda ${formatNumber(model.lambda)}`],
    [
      'trained on',
      `${plural(model.rows, 'row')} × ${plural(model.columns, 'column')}, ` +
        `${formatCount(model.nonzeros)} non-zeros`,
    ],
    ['solver', `${model.solver}, grid ${model.grid}, seed ${model.seed}`],
    ['stopped', `${certificate.stopped} after ${plural(certificate.epochs, 'epoch')}`],
    ['objective', `${certificate.primal}, at least ${certificate.dual} for any weights`],
    ['certificate', describeCertificate(certificate.relativeGap)],
    ['weights', describeSparsity(summary.nonzero, model.columns)],
    ['norms', `L1 ${formatNumber(summary.l1Norm)}, L2 ${formatNumber(summary.l2Norm)}`],
    ['intercept', formatNumber(model.intercept)],
  ];
  return twoColumns(rows);
}

function describeTask(model: Model): string {
  if (model.classes === undefined) return 'regression';
  const [negative, positive] = model.classes;
  return `classification: negative ${negative}, positive ${positive}`;
}

function describeSparsity(nonzero: number, columns: number): string {
  const part = columns === 0 ? 0 : nonzero / columns;
  return `${formatCount(nonzero)} of ${formatCount(columns)} are not 0 (${formatPercent(part)})`;
}

function describeFeatures(features: readonly Feature[], terminal: Terminal): string {
  const { green, red } = terminal.outputColours;
  const width = String(Math.max(...features.map(({ feature }) => feature))).length;
  const lines = features.map(({ feature, name, weight }) => {
    const text = `${weight < 0 ? '-' : '+'}${formatNumber(Math.abs(weight))}`.padEnd(12);
    const number = String(feature).padStart(width);
    return `${number}  ${(weight < 0 ? red : green)(text)}  ${name ?? ''}`.trimEnd();
  });
  return ['largest weights, by feature:', ...lines].join('\n');
}
