import { type DataDescription, type DataSummary, formatOf } from '../../../data/binary/convert.ts';
import {
  type GeneratedPaths,
  type GeneratedSummary,
  type GenerateOptions,
  writeGenerated,
} from '../../../data/generate.ts';
import { describeQuality } from '../../../data/quality/quality.ts';
import { titleOfSource } from '../../../data/read/sources.ts';
import { UsageError } from '../../../errors.ts';
import { formatBytes, formatCount, plural, visibleText } from '../../../reporting/format.ts';
import { twoColumns } from '../../../reporting/table.ts';
import { qualityText } from '../../../reporting/text/quality.ts';
import { libraryValues, pick } from '../../../train/options/option.ts';
import { convertDataset, describeData } from '../../../train/read.ts';
import type { Action } from '../command.ts';
import { checkFiles, checkOutput, savedModel, standardStream } from '../files.ts';
import { withProgress } from '../interrupts.ts';
import {
  type ConvertFlags,
  convertOptions,
  type DescribeFlags,
  type GenerateFlags,
} from '../options.ts';
import { chooseSource, DataReader, readOptions } from '../reading.ts';
import type { Terminal } from '../terminal.ts';

export const convertCommand: Action<ConvertFlags> = async ({ flags, terminal }, data) => {
  if (flags.info) {
    const found = await watch(terminal, flags, `checking ${titleOfSource(data)}`, (progress) =>
      describeData(data, { ...readOptions(flags), ...progress }),
    );
    await terminal.printResult(flags.json, found, () => describeInfo(found));
    return;
  }
  const { output } = flags;
  if (output === undefined) throw new UsageError('convert needs -o FILE, or --info');
  const to = flags.to ?? formatFor(output, data);
  checkTargets(data, output, to, flags);
  const own = libraryValues(pick(convertOptions, 'values', 'pack', 'names'), flags);
  const summary = await watch(terminal, flags, `converting ${titleOfSource(data)}`, (progress) =>
    convertDataset(data, output, { ...readOptions(flags), ...own, ...progress, to }),
  );
  if (!flags.quiet) terminal.say(`${describeOutput(output, terminal)}: ${describeShape(summary)}`);
};

/** Standard output has no name: the other format than that of the input. */
function formatFor(output: string, data: string): 'dsob' | 'text' {
  if (output !== standardStream) return formatOf(output);
  return formatOf(data) === 'dsob' ? 'text' : 'dsob';
}

/** Feature names are read for .dsob, and written for text. */
function checkTargets(data: string, output: string, to: string, flags: ConvertFlags): void {
  const { names, pack } = flags;
  if (to === 'text') {
    if (pack) throw new UsageError('--pack is for .dsob; text has no packed indices');
    checkFiles([data], { '--output': output, '--names': names });
    return;
  }
  if (names === standardStream) {
    throw new UsageError('--names -: names are read from a file, not from standard input');
  }
  checkFiles([data, names], { '--output': output });
}

/** Shows the progress and the notices of work; a signal ends the process and leaves no file. */
function watch<Result extends DataSummary>(
  terminal: Terminal,
  flags: ConvertFlags,
  stage: string,
  run: (options: { onProgress: (fraction: number) => void }) => Promise<Result>,
): Promise<Result> {
  return withProgress(terminal, flags, async (progress) => {
    progress.stage(stage);
    const result = await run({ onProgress: (fraction) => progress.stage(stage, fraction) });
    for (const notice of result.notices) progress.notice(notice);
    return result;
  });
}

const formats = {
  dsob: 'dsob, version 1',
  text: 'LIBSVM text',
  mixed: 'dsob, version 1, and LIBSVM text',
} as const;

function describeInfo(found: DataDescription): string {
  const { bytes, files, blocks = 0 } = found;
  const { sections = 0, float64Blocks = 0, packedBlocks = 0 } = found;
  const rows: [string, string][] = [['format', formats[found.format]]];
  if (files > 1) rows.push(['files', formatCount(files)]);
  rows.push(
    ['rows', formatCount(found.rows)],
    ['columns', formatCount(found.columns)],
    ['non-zeros', formatCount(found.nonzeros)],
  );
  if (bytes > 0) rows.push(['bytes', formatCount(bytes)]);
  if (found.format !== 'text') {
    rows.push(
      ['blocks', formatCount(blocks)],
      ['values', share(float64Blocks, blocks, 'float64', 'float32')],
      ['indices', share(packedBlocks, blocks, 'packed', 'int32')],
      ['names', found.names === 0 ? 'none' : `of ${plural(found.names, 'feature')}`],
      ['checksums', `all of ${plural(sections, 'section')} and of the index match`],
    );
  }
  return twoColumns(rows);
}

function share(count: number, blocks: number, all: string, none: string): string {
  if (count === 0 || count === blocks) return count === 0 ? none : all;
  return `${all} in ${plural(count, 'block')}, else ${none}`;
}

export function describeShape({ rows, columns, nonzeros, names = 0 }: Shape): string {
  const named = names === 0 ? '' : `, ${plural(names, 'feature name')}`;
  const size = `${plural(rows, 'row')} × ${plural(columns, 'column')}`;
  return `${size}, ${formatCount(nonzeros)} non-zeros${named}`;
}

type Shape = Pick<DataSummary, 'rows' | 'columns' | 'nonzeros'> & Partial<DataSummary>;

function describeOutput(output: string, terminal: Terminal): string {
  if (output === standardStream) return 'standard output';
  const { bold } = terminal.colours;
  return `${bold(visibleText(output))} (${formatBytes(savedModel(output).bytes)})`;
}

export const generateCommand: Action<GenerateFlags> = async ({ flags, terminal }) => {
  const paths = generatedPaths(flags.output ?? flags.like);
  for (const path of Object.values(paths)) checkOutput('--output', path);
  const { train, test, columns } = await generate(flags, paths, terminal);
  if (flags.quiet) return;
  const { bold } = terminal.colours;
  terminal.say(`${bold(visibleText(paths.trainPath))}: ${describeShape({ ...train, columns })}`);
  terminal.say(`${bold(visibleText(paths.testPath))}: ${describeShape({ ...test, columns })}`);
};

export function generatedPaths(prefix: string): GeneratedPaths {
  return { trainPath: `${prefix}.train.svm`, testPath: `${prefix}.test.svm` };
}

export function generate(
  options: GenerateOptions & { readonly quiet?: boolean },
  paths: GeneratedPaths,
  terminal: Terminal,
): Promise<GeneratedSummary> {
  return withProgress(terminal, options, (progress) =>
    writeGenerated(options, paths, ({ rowsDone, rows }) =>
      progress.stage(`generating data like ${options.like}`, rowsDone / rows),
    ),
  );
}

export const describeCommand: Action<DescribeFlags> = async ({ flags, terminal }, data) => {
  const source = chooseSource(data, flags.sql);
  const dataset = await withProgress(terminal, flags, (progress) => {
    const reader = new DataReader(flags, progress);
    return flags.sql === undefined ? reader.read(source) : reader.query(flags.sql);
  });
  const quality = describeQuality(dataset);
  const firstFeature = flags.zeroBased ? 0 : 1;
  const options = { colours: terminal.outputColours, firstFeature };
  await terminal.printResult(flags.json, quality, () => qualityText(quality, options));
};
