import { statSync } from 'node:fs';
import {
  type GeneratedPaths,
  type GeneratedSummary,
  type GenerateOptions,
  writeGenerated,
} from '../../../data/generate.ts';
import { describeQuality } from '../../../data/quality/quality.ts';
import { UsageError } from '../../../errors.ts';
import { formatBytes, formatCount, plural } from '../../../reporting/format.ts';
import { twoColumns } from '../../../reporting/table.ts';
import { qualityText } from '../../../reporting/text/quality.ts';
import { checkNeeds, libraryValues, pick } from '../../../train/options/option.ts';
import {
  type ConvertOptions,
  convertDataset,
  type DataDescription,
  type DataSummary,
  describeData,
  formatOf,
} from '../../../train/read.ts';
import { Interrupts } from '../interrupts.ts';
import {
  type ConvertFlags,
  convertOptions,
  type DescribeFlags,
  type GenerateFlags,
} from '../options.ts';
import { createProgress, type Progress } from '../progress.ts';
import {
  checkOutput,
  checkStandardInput,
  checkStandardOutput,
  chooseSource,
  readData,
  readOptions,
  readQueryData,
  standardStream,
} from '../reading.ts';
import { exitCodes, type Terminal } from '../terminal.ts';

export async function convertCommand(
  data: string,
  flags: ConvertFlags,
  terminal: Terminal,
): Promise<number> {
  if (flags.info) return printInfo(data, flags, terminal);
  const { output } = flags;
  checkNeeds(convertOptions, flags);
  if (output === undefined) throw new UsageError('convert needs -o FILE, or --info');
  const to = flags.to ?? formatFor(output, data);
  checkFlags(data, output, to, flags);
  const quiet = flags.quiet ?? false;
  const summary = await watched(terminal, quiet, `converting ${nameOf(data)}`, (progress) =>
    convertDataset(data, output, { ...settingsOf(flags), ...progress, to }),
  );
  if (!quiet) terminal.say(`${describeOutput(output, terminal)}: ${describeShape(summary)}`);
  return exitCodes.done;
}

/** On standard output there is no name to tell: the other format than that of the input. */
function formatFor(output: string, data: string): 'dsob' | 'text' {
  if (output !== standardStream) return formatOf(output);
  return formatOf(data) === 'dsob' ? 'text' : 'dsob';
}

function checkFlags(data: string, output: string, to: string, flags: ConvertFlags): void {
  const { names } = flags;
  const given = names === undefined ? [] : [names];
  if (to === 'text') {
    if (flags.pack) throw new UsageError('--pack is for .dsob; text has no packed indices');
    checkStandardOutput({
      '--names -': names === standardStream,
      '--output -': output === standardStream,
    });
    if (names !== undefined) checkOutput('--names', names, [data], [output]);
    checkOutput('--output', output, [data]);
    return;
  }
  if (names === standardStream) {
    throw new UsageError('--names -: names are read from a file, not from standard input');
  }
  checkStandardInput([data]);
  checkOutput('--output', output, [data, ...given]);
}

function settingsOf(flags: ConvertFlags): ConvertOptions {
  const own = pick(convertOptions, 'values', 'pack', 'names');
  return { ...readOptions(flags), ...libraryValues(own, flags) };
}

/** Runs something that reports how far it is; a signal ends the process and leaves nothing behind. */
async function watched<Result extends DataSummary>(
  terminal: Terminal,
  quiet: boolean,
  stage: string,
  run: (options: { onProgress: (fraction: number) => void }) => Promise<Result>,
): Promise<Result> {
  const progress: Progress = createProgress(terminal, quiet);
  const interrupts = new Interrupts(terminal.io, {
    onDeferred() {},
    onQuit: () => progress.end(),
  });
  try {
    progress.stage(stage);
    const result = await run({ onProgress: (fraction) => progress.stage(stage, fraction) });
    for (const notice of result.notices) progress.notice(notice);
    return result;
  } finally {
    interrupts.release();
    progress.end();
  }
}

async function printInfo(data: string, flags: ConvertFlags, terminal: Terminal): Promise<number> {
  const options = readOptions(flags);
  const found = await watched(
    terminal,
    flags.quiet ?? false,
    `checking ${nameOf(data)}`,
    (progress) => describeData(data, { ...options, ...progress }),
  );
  const text = flags.json ? JSON.stringify(found) : describeInfo(found);
  await terminal.print(`${text}\n`);
  return exitCodes.done;
}

const formats = {
  dsob: 'dsob, version 1',
  text: 'LIBSVM text',
  mixed: 'dsob, version 1, and LIBSVM text',
} as const;

function describeInfo(found: DataDescription): string {
  const { bytes, files } = found;
  const rows: [string, string][] = [
    ['format', formats[found.format]],
    ...(files > 1 ? [['files', formatCount(files)] as [string, string]] : []),
    ['rows', formatCount(found.rows)],
    ['columns', formatCount(found.columns)],
    ['non-zeros', formatCount(found.nonzeros)],
  ];
  if (bytes > 0) rows.push(['bytes', formatCount(bytes)]);
  if (found.format === 'text') return twoColumns(rows);
  const { sections = 0, blocks = 0, float64Blocks = 0, packedBlocks = 0 } = found;
  rows.push(
    ['blocks', formatCount(blocks)],
    ['values', share(float64Blocks, blocks, 'float64', 'float32')],
    ['indices', share(packedBlocks, blocks, 'packed', 'int32')],
    ['names', found.names === 0 ? 'none' : `of ${plural(found.names, 'feature')}`],
    ['checksums', `all of ${plural(sections, 'section')} and of the index match`],
  );
  return twoColumns(rows);
}

function share(count: number, blocks: number, all: string, none: string): string {
  if (count === 0 || count === blocks) return count === 0 ? none : all;
  return `${all} in ${plural(count, 'block')}, else ${none}`;
}

function describeShape({ rows, columns, nonzeros, names }: DataSummary): string {
  const named = names === 0 ? '' : `, ${plural(names, 'feature name')}`;
  const size = `${plural(rows, 'row')} × ${plural(columns, 'column')}`;
  return `${size}, ${formatCount(nonzeros)} non-zeros${named}`;
}

function describeOutput(output: string, terminal: Terminal): string {
  if (output === standardStream) return 'standard output';
  const { bold } = terminal.colours;
  return `${bold(output)} (${formatBytes(statSync(output).size)})`;
}

function nameOf(data: string): string {
  return data === standardStream ? 'standard input' : data;
}

export async function generateCommand(flags: GenerateFlags, terminal: Terminal): Promise<number> {
  const paths = generatedPaths(flags.output ?? flags.like);
  checkOutput('--output', paths.trainPath, []);
  checkOutput('--output', paths.testPath, []);
  const quiet = flags.quiet ?? false;
  const { train, test, columns } = await generate(flags, paths, terminal, quiet);
  if (!quiet) {
    for (const [path, part] of [
      [paths.trainPath, train],
      [paths.testPath, test],
    ] as const) {
      terminal.say(
        `${terminal.colours.bold(path)}: ${plural(part.rows, 'row')} × ` +
          `${plural(columns, 'column')}, ${formatCount(part.nonzeros)} non-zeros`,
      );
    }
  }
  return exitCodes.done;
}

export function generatedPaths(prefix: string): GeneratedPaths {
  return { trainPath: `${prefix}.train.svm`, testPath: `${prefix}.test.svm` };
}

/** Writes the sample, with progress. */
export async function generate(
  options: GenerateOptions,
  paths: GeneratedPaths,
  terminal: Terminal,
  quiet: boolean,
): Promise<GeneratedSummary> {
  const progress = createProgress(terminal, quiet);
  const interrupts = new Interrupts(terminal.io, {
    onDeferred() {},
    onQuit: () => progress.end(),
  });
  try {
    return await writeGenerated(options, paths, ({ rowsDone, rows }) =>
      progress.stage(`generating data like ${options.like}`, rowsDone / rows),
    );
  } finally {
    interrupts.release();
    progress.end();
  }
}

export async function describeCommand(
  data: string | undefined,
  flags: DescribeFlags,
  terminal: Terminal,
): Promise<number> {
  const source = chooseSource(data, flags.sql);
  const progress = createProgress(terminal, flags.quiet ?? false);
  const reading =
    'sql' in source
      ? readQueryData(source.sql, flags, progress)
      : readData(source.data, flags, progress);
  const dataset = await reading.finally(() => progress.end());
  const quality = describeQuality(dataset);
  const firstFeature = flags.zeroBased ? 0 : 1;
  const text = flags.json
    ? JSON.stringify(quality)
    : qualityText(quality, { colours: terminal.outputColours, firstFeature });
  await terminal.print(`${text}\n`);
  return exitCodes.done;
}
