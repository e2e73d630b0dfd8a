import { join } from 'node:path';
import type { GeneratedPaths } from '../../../data/generate.ts';
import { errorOf, type Metrics } from '../../../model/metrics/evaluate.ts';
import { formatNumber, formatPercent, formatSeconds, plural } from '../../../reporting/format.ts';
import { twoColumns } from '../../../reporting/table.ts';
import { describeCertificate } from '../../../reporting/text/summary.ts';
import { defaultValues } from '../../../train/options/option.ts';
import type { TrainReport } from '../../../train/options/options.ts';
import type { Action } from '../command.ts';
import { makeFolder, writePieces } from '../files.ts';
import { type DemoFlags, type TrainFlags, trainOptions } from '../options.ts';
import type { Terminal } from '../terminal.ts';
import { describeShape, generate, generatedPaths } from './convert.ts';
import { trainAndSave } from './train.ts';

const shape = 'real-sim';

/** What `npm start` shows: generate a sample, train an SVM on it, test it. */
export const demoCommand: Action<DemoFlags> = async ({ flags, terminal }, folder) => {
  makeFolder(folder);
  const { bold } = terminal.outputColours;
  await terminal.print(
    `\n${bold("dso demo: an SVM on a sample shaped like the paper's real-sim")}\n\n`,
  );
  const paths = generatedPaths(join(folder, shape));
  const sample = await generate({ like: shape, scale: flags.scale }, paths, terminal);
  const { train, test, columns } = sample;
  const size = describeShape({ ...train, columns });
  await printStep(terminal, 'generated', `${size}; ${plural(test.rows, 'row')} to test on`);

  const model = join(folder, `${shape}.model`);
  const trainFlags: TrainFlags = {
    ...defaultValues(trainOptions),
    // A larger grid than the data needs, so that more cores can be seen at work.
    grid: 4,
    epochs: 1000,
    output: model,
    test: paths.testPath,
    ...(flags.threads !== undefined && { threads: flags.threads }),
  };
  const { report, code } = await trainAndSave(paths.trainPath, trainFlags, terminal);
  await printStep(terminal, 'trained', describeTraining(report));
  await printStep(terminal, 'result', describeCertificate(report, 0));
  if (report.test) await printStep(terminal, 'tested', describeMetrics(report.test));

  const reportPath = join(folder, 'report.json');
  await writePieces(reportPath, [`${JSON.stringify(report, undefined, 2)}\n`], terminal);
  await terminal.print(describeFiles(paths, model, reportPath, terminal));
  return code;
};

async function printStep(terminal: Terminal, name: string, text: string): Promise<void> {
  const { green } = terminal.outputColours;
  await terminal.print(`  ${green('✓')} ${name.padEnd(9)}  ${text}\n`);
}

function describeTraining(report: TrainReport): string {
  const { read, train } = report.seconds;
  return (
    `on ${plural(report.threads, 'thread')} in ${formatSeconds(train)}, ` +
    `${plural(report.epochs, 'epoch')}, ${report.stopped} (read in ${formatSeconds(read)})`
  );
}

function describeMetrics(test: Metrics): string {
  const auc = 'auc' in test && test.auc !== null ? `, AUC ${formatNumber(test.auc)}` : '';
  return `error ${formatPercent(errorOf(test))}${auc}`;
}

function describeFiles(
  { trainPath, testPath }: GeneratedPaths,
  model: string,
  report: string,
  terminal: Terminal,
): string {
  const { bold } = terminal.outputColours;
  const indented = (rows: [string, string][]): string => twoColumns(rows).replaceAll(/^/gm, '  ');
  const { command } = terminal.io;
  const files = indented([
    ['data', `${trainPath}, ${testPath}`],
    ['model', model],
    ['report', report],
  ]);
  const next = indented([
    [`${command} inspect ${model}`, 'what is in the model'],
    [`${command} train ${trainPath} --loss logistic`, 'a model with probabilities'],
    [`${command} train ${trainPath} --holdout 0.2 --ui`, 'follow training in a browser'],
    [`${command} train --help-all`, 'all options'],
  ]);
  const own = `  For your own data, put its path in place of ${trainPath}.`;
  return `\n${bold('Written')}\n${files}\n\n${bold('Next')}\n${next}\n${own}\n\n`;
}
