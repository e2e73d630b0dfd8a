import type { RunSummary } from '../../src/runs/record.ts';
import { gapOf } from './summary.ts';
import { formatCount, formatError, formatGap, formatNumber, formatSeconds } from './words.ts';

export interface TileContent {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
}

/** The numbers of a run that matter most; of its result where there is one. */
export function tilesOf(run: RunSummary): TileContent[] {
  const { latest, report, start } = run;
  const text = (value: number | null | undefined, format: (value: number) => string) =>
    typeof value === 'number' && Number.isFinite(value) ? format(value) : '–';
  if (!latest && report) {
    const error = (value: number) => formatError(value, start.task);
    return [
      { name: 'rows', value: formatCount(report.rows) },
      { name: 'loss', value: text(report.loss, formatNumber), note: 'progressive' },
      { name: 'recent loss', value: text(report.recentLoss, formatNumber) },
      { name: 'error', value: text(report.error, error), note: 'progressive' },
      { name: 'recent error', value: text(report.recentError, error) },
      { name: 'time', value: formatSeconds(report.seconds) },
    ];
  }
  // A result speaks for the whole run, also where it has nothing to say.
  const result = run.result && 'primal' in run.result ? run.result : undefined;
  const [objective, bound] = result ? [result.primal, result.dual] : [latest?.primal, latest?.dual];
  return [
    { name: 'objective', value: text(objective, formatNumber) },
    { name: 'bound', value: text(bound, formatNumber) },
    {
      name: 'relative gap',
      value: text(gapOf(run), formatGap),
      note: `wanted ${formatNumber(start.tolerance)}`,
    },
    {
      name: 'epoch',
      value: text(result?.epochs ?? latest?.epoch, formatCount),
      ...(start.epochs !== undefined && { note: `of at most ${formatCount(start.epochs)}` }),
    },
    { name: 'passes', value: text(result?.passes ?? latest?.passes, shortNumber) },
    {
      name: 'time',
      value: text(result?.seconds?.train ?? latest?.seconds, formatSeconds),
      ...(start.time !== undefined && { note: `of at most ${formatSeconds(start.time)}` }),
    },
    ...testTiles(run),
  ];
}

function testTiles({ latest, start }: RunSummary): TileContent[] {
  const tiles: TileContent[] = [];
  if (latest?.testError !== undefined) {
    tiles.push({ name: 'test error', value: formatError(latest.testError, start.task) });
  }
  if (latest?.testAuprc !== undefined) {
    tiles.push({ name: 'AUPRC', value: formatNumber(latest.testAuprc) });
  }
  return tiles;
}

function shortNumber(value: number): string {
  return value < 100 ? String(Number(value.toPrecision(3))) : formatCount(Math.round(value));
}
