import {
  type SymbolType,
  symbol,
  symbolCircle,
  symbolCross,
  symbolDiamond,
  symbolSquare,
  symbolStar,
  symbolTriangle,
} from 'd3-shape';
import type { Point } from './quantities.ts';

/** How a series is drawn: distinguishable by colour, and without colour as well. */
export interface SeriesStyle {
  readonly color: string;
  /** Lengths of dashes and gaps; a solid line when absent. */
  readonly dash?: string;
  readonly symbol: SymbolName;
}

const symbols = {
  circle: symbolCircle,
  square: symbolSquare,
  triangle: symbolTriangle,
  diamond: symbolDiamond,
  cross: symbolCross,
  star: symbolStar,
};
export type SymbolName = keyof typeof symbols;
export const symbolNames = Object.keys(symbols) as SymbolName[];

/** Okabe and Ito's colours and a violet, which colour-blind readers can distinguish, without yellow and black. */
const colors = ['#D55E00', '#0072B2', '#009E73', '#E69F00', '#56B4E9', '#CC79A7', '#8C8C8C'];
const dashPatterns = [undefined, '6 3', '2 2.5', '8 3 2 3'];

/** A solver looks the same in every figure of every report. Relatives share a colour. */
const known: Readonly<Record<string, SeriesStyle>> = {
  dso: { color: '#D55E00', symbol: 'circle' },
  paper: { color: '#D55E00', symbol: 'square', dash: '6 3' },
  'algorithm-1': { color: '#D55E00', symbol: 'triangle', dash: '8 3 2 3' },
  'dso-async': { color: '#D55E00', symbol: 'star', dash: '2 2.5' },
  ring: { color: '#0072B2', symbol: 'square' },
  auto: { color: '#0072B2', symbol: 'circle', dash: '6 3' },
  bmrm: { color: '#009E73', symbol: 'diamond' },
  sgd: { color: '#E69F00', symbol: 'triangle' },
  psgd: { color: '#56B4E9', symbol: 'triangle', dash: '6 3' },
  lbfgs: { color: '#CC79A7', symbol: 'cross' },
  newton: { color: '#CC79A7', symbol: 'diamond', dash: '6 3' },
  'interior-point': { color: '#009E73', symbol: 'square', dash: '2 2.5' },
  'proximal-point': { color: '#CC79A7', symbol: 'triangle', dash: '2 2.5' },
  'working-set': { color: '#0072B2', symbol: 'diamond', dash: '2 2.5' },
  admm: { color: '#8C8C8C', symbol: 'star' },
  dcd: { color: '#5B4A9C', symbol: 'circle', dash: '2 2.5' },
};

/** The style of a solver; any other name gets one by its index among the series. */
export function styleOf(name: string, index: number): SeriesStyle {
  if (Object.hasOwn(known, name)) return known[name];
  const dash = dashPatterns[Math.floor(index / colors.length) % dashPatterns.length];
  return {
    color: colors[index % colors.length],
    symbol: symbolNames[index % symbolNames.length],
    ...(dash !== undefined && { dash }),
  };
}

/** The outline of a symbol around the origin, as an SVG path. */
export function symbolPath(name: SymbolName, area: number): string {
  return symbol(symbols[name], area).digits(2)()!;
}

/** The part of a canvas's context that symbols are drawn with. */
export interface SymbolPen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  closePath(): void;
  arc(x: number, y: number, radius: number, from: number, to: number): void;
  rect(left: number, top: number, width: number, height: number): void;
}

/** Adds a symbol to the path of a canvas, to be filled. */
export function drawSymbol(pen: SymbolPen, name: SymbolName, [x, y]: Point, area: number): void {
  const moved = {
    moveTo: (dx: number, dy: number) => pen.moveTo(x + dx, y + dy),
    lineTo: (dx: number, dy: number) => pen.lineTo(x + dx, y + dy),
    closePath: () => pen.closePath(),
    arc: (dx: number, dy: number, radius: number, from: number, to: number) =>
      pen.arc(x + dx, y + dy, radius, from, to),
    rect: (dx: number, dy: number, width: number, height: number) =>
      pen.rect(x + dx, y + dy, width, height),
  };
  symbols[name].draw(moved as Parameters<SymbolType['draw']>[0], area);
}
