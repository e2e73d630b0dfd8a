/** How a series is drawn: it can be told from the others by colour, and without colour as well. */
export interface SeriesStyle {
  readonly color: string;
  /** Lengths of dashes and gaps; a solid line when absent. */
  readonly dash?: string;
  readonly symbol: SymbolName;
}

export const symbolNames = ['circle', 'square', 'triangle', 'diamond', 'cross', 'star'] as const;
export type SymbolName = (typeof symbolNames)[number];

/** Okabe and Ito's colours and a violet, which colour-blind readers can tell apart, without yellow and black. */
const colors = ['#D55E00', '#0072B2', '#009E73', '#E69F00', '#56B4E9', '#CC79A7', '#8C8C8C'];
const dashes = [undefined, '6 3', '2 2.5', '8 3 2 3'];

/** A solver looks the same in every figure of every report. Relatives share a colour. */
const known: Readonly<Record<string, SeriesStyle>> = {
  dso: { color: '#D55E00', symbol: 'circle' },
  paper: { color: '#D55E00', symbol: 'square', dash: '6 3' },
  'dso-async': { color: '#D55E00', symbol: 'star', dash: '2 2.5' },
  ring: { color: '#0072B2', symbol: 'square' },
  auto: { color: '#0072B2', symbol: 'circle', dash: '6 3' },
  bmrm: { color: '#009E73', symbol: 'diamond' },
  sgd: { color: '#E69F00', symbol: 'triangle' },
  psgd: { color: '#56B4E9', symbol: 'triangle', dash: '6 3' },
  lbfgs: { color: '#CC79A7', symbol: 'cross' },
  admm: { color: '#8C8C8C', symbol: 'star' },
  dcd: { color: '#5B4A9C', symbol: 'circle', dash: '2 2.5' },
};

/** The style of a solver; any other name gets one by its place among the series. */
export function styleOf(name: string, index: number): SeriesStyle {
  if (Object.hasOwn(known, name)) return known[name];
  const dash = dashes[Math.floor(index / colors.length) % dashes.length];
  return {
    color: colors[index % colors.length],
    symbol: symbolNames[index % symbolNames.length],
    ...(dash !== undefined && { dash }),
  };
}
