import { describePenalty } from '../../problem/penalties/index.ts';
import { newRunId } from '../../reporting/records/folder.ts';
import {
  type BeginLine,
  type EpochLine,
  recordFormat,
  type SampleLine,
  type StartLine,
} from '../../reporting/records/record.ts';
import type { BeginEvent, EpochEvent, SampleEvent } from '../../train/events.ts';
import { isNegative, longFlag, type Option } from '../../train/options/option.ts';
import type { RunRequest } from './observers.ts';
import { type TrainFlags, trainOptions } from './options.ts';

/** What a column is called. */
export type FeatureNames = (column: number) => string;

/** Loads of the cells of larger grids are not recorded. */
const largestDrawn = 64;

export function startLine(
  { data, path, flags, words, problem }: RunRequest,
  now: Date,
  process: Pick<StartLine, 'version' | 'pid' | 'host'>,
): StartLine {
  const { loss, penalty } = problem;
  const { tolerance, epochs, time, progressive, name } = flags;
  return {
    event: 'start',
    format: recordFormat,
    id: newRunId(now),
    started: now.toISOString(),
    ...process,
    ...(name !== undefined && { name }),
    data,
    model: path,
    task: loss.task,
    loss: loss.name,
    penalty: describePenalty(penalty),
    tolerance,
    ...(!progressive && { epochs }),
    ...(time !== undefined && { time }),
    words: publicWords(words),
    options: recordedOptions(flags),
  };
}

/** The command line without the values of private options. */
function publicWords(words: readonly string[]): string[] {
  const hidden = Object.values<Option>(trainOptions).flatMap((entry) =>
    entry.private === undefined ? [] : [[longFlag(entry), entry.private] as const],
  );
  return words.map((word, index) => {
    for (const [flag, withheld] of hidden) {
      if (words[index - 1] === flag) return withheld;
      if (word.startsWith(`${flag}=`)) return `${flag}=${withheld}`;
    }
    return word;
  });
}

/** The options that were given, and the defaults of those that decide the model. */
function recordedOptions(flags: TrainFlags): Record<string, unknown> {
  const table = Object.entries<Option>(trainOptions);
  const recorded = table.flatMap(([name, entry]) => {
    const value = flags[name as keyof TrainFlags];
    if (value === undefined || (value === true && isNegative(entry))) return [];
    if (value === entry.default && !entry.affectsModel) return [];
    return [[name, entry.private ?? value]];
  });
  return Object.fromEntries(recorded);
}

export function beginLine(event: BeginEvent, read: number): BeginLine {
  const { look: _, seconds, loads, ...plain } = event;
  const { cells, ...sums } = loads;
  return {
    event: 'begin',
    ...plain,
    loads: { ...sums, ...(event.grid <= largestDrawn && { cells }) },
    seconds: { read, partition: seconds },
  };
}

/** `elapsed`: seconds since training began. */
export function epochLine(event: EpochEvent, elapsed: number): EpochLine {
  const { vector, epoch, ...measured } = event;
  const { bytes } = event.effort;
  return {
    event: 'epoch',
    ...(vector && { vector: vector.index }),
    epoch,
    ...(vector && { elapsed }),
    ...measured,
    ...(bytes > 0 && { bytes }),
  };
}

export function sampleLine(event: SampleEvent, nameOf: FeatureNames): SampleLine {
  const { vector, epoch, seconds, memory, threads, largest } = event;
  return {
    event: 'sample',
    ...(vector && { vector: vector.index }),
    epoch,
    seconds,
    memory,
    threads,
    features: largest.map(({ column, weight }) => ({ name: nameOf(column), weight })),
  };
}
