import { type SymbolName, styleOf } from '../../../src/reporting/charts/series-style.ts';

/** How the curve of a run looks, by its place among those that are shown. */
export interface Appearance {
  readonly color: string;
  readonly dash: readonly number[];
  readonly symbol: SymbolName;
  /** Whether a thin line of the colour would hardly be seen on white. */
  readonly pale: boolean;
}

/** Those with a contrast of less than 3 to white. */
const paleColors = new Set(['#E69F00', '#56B4E9', '#CC79A7']);

export function appearanceOf(place: number): Appearance {
  // The name is nobody's, so that the place alone decides.
  const { color, dash, symbol } = styleOf('', place);
  return {
    color,
    dash: dash === undefined ? [] : dash.split(' ').map(Number),
    symbol,
    pale: paleColors.has(color),
  };
}
