import { DataError } from '../errors.ts';
import { type FigureRequest, figureAxes, figureQuantities } from './figure-request.ts';

/** Points of a curve. */
export const mostPoints = 20_000;
/** Runs in a figure. */
export const mostRuns = 100;

const mostClasses = 1_000_000;
const scales = ['linear', 'log'] as const;

export interface FigureQuestion {
  readonly runs: readonly string[];
  /** The places of the runs among those that are named, gaps counted. */
  readonly places: readonly number[];
  /** From 0. */
  readonly vector: number;
  readonly format: 'svg' | 'png';
  readonly request: FigureRequest;
}

/** Reads the query of a figure; a DataError says what is wrong with it. */
export function figureQuestion(query: Readonly<Record<string, string>>): FigureQuestion {
  const named = (query.runs ?? '').split(',');
  const runs = [...new Set(named.filter((id) => id !== ''))];
  if (runs.length === 0 || runs.length > mostRuns) {
    throw new DataError(
      `runs: found ${runs.length}; wanted 1 to ${mostRuns} ids with commas between`,
    );
  }
  const scale = oneOf(query.scale, 'scale', scales);
  const xscale = oneOf(query.xscale, 'xscale', scales);
  const from = finite(query.from, 'from');
  const to = finite(query.to, 'to');
  if (from !== undefined && to !== undefined && from >= to) {
    throw new DataError(`from ${from} to ${to}: wanted the smaller one first`);
  }
  return {
    runs,
    places: runs.map((id) => named.indexOf(id)),
    vector: (wholeNumber(query.class, 'class', 1, mostClasses) ?? 1) - 1,
    format: oneOf(query.format, 'format', ['svg', 'png'] as const) ?? 'svg',
    request: {
      y: oneOf(query.y, 'y', figureQuantities) ?? 'gap',
      x: oneOf(query.x, 'x', figureAxes) ?? 'seconds',
      ...(scale !== undefined && { scale }),
      ...(xscale !== undefined && { xscale }),
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
    },
  };
}

export function wholeNumber(
  text: string | undefined,
  name: string,
  least: number,
  most: number,
): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^[0-9]{1,9}$/.test(text) && value >= least && value <= most) return value;
  throw new DataError(
    `${name}: found ${shown(text)}; wanted a whole number from ${least} to ${most}`,
  );
}

function finite(text: string | undefined, name: string): number | undefined {
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (Number.isFinite(value)) return value;
  throw new DataError(`${name}: found ${shown(text)}; wanted a number`);
}

function oneOf<Word extends string>(
  text: string | undefined,
  name: string,
  words: readonly Word[],
): Word | undefined {
  if (text === undefined || text === '') return undefined;
  const word = words.find((candidate) => candidate === text);
  if (word !== undefined) return word;
  throw new DataError(`${name}: found ${shown(text)}; wanted ${words.join(', ')}`);
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}
