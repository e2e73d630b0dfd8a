import type { TrainFlags } from '../../cli/definitions/train.ts';
import { describePenalty } from '../../penalties/index.ts';
import type {
  BeginLine,
  EpochLine,
  SampleLine,
  StartLine,
} from '../../reporting/records/record.ts';
import { recordFormat } from '../../reporting/records/record.ts';
import { newRunId } from '../../runs/id.ts';
import type { BeginEvent, EpochEvent, SampleEvent } from '../../train/events.ts';
import type { Undertaking } from './observers.ts';

/** What a column is called. */
export type FeatureNames = (column: number) => string;

/** Larger grids are drawn without the loads of their cells. */
const largestDrawn = 64;

/** Options that have a value even if nobody gives them. */
const defaults: Readonly<Record<string, unknown>> = {
  svrg: true,
  boxes: true,
  shrink: true,
  record: true,
  open: true,
  header: true,
  peerTimeout: 60,
};

/** A query may hold a password: that there was one has to do. */
const withheld = '(query)';

export function startLine(
  { data, path, flags, words, problem }: Undertaking,
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
    words: withoutQuery(words),
    options: givenOptions(flags),
  };
}

function withoutQuery(words: readonly string[]): string[] {
  return words.map((word, place) => {
    if (words[place - 1] === '--sql') return withheld;
    return word.startsWith('--sql=') ? `--sql=${withheld}` : word;
  });
}

function givenOptions(flags: TrainFlags): Record<string, unknown> {
  const given = Object.entries(flags).filter(
    ([name, value]) => value !== undefined && value !== defaults[name],
  );
  return Object.fromEntries(
    given.map(([name, value]) => [name, name === 'sql' ? withheld : value]),
  );
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
  const { epoch, seconds, passes, primal, dual, relativeGap, testError, testAuprc } = event;
  const { bytes } = event.effort;
  return {
    event: 'epoch',
    ...(event.vector && { vector: event.vector.index }),
    epoch,
    seconds,
    ...(event.vector && { elapsed }),
    passes,
    primal,
    dual: Number.isFinite(dual) ? dual : null,
    relativeGap,
    ...(testError !== undefined && { testError }),
    ...(testAuprc !== undefined && { testAuprc }),
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
