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
import type { SeriesStyle, SymbolName } from '../reporting/charts/series-style.ts';

const symbols: Readonly<Record<SymbolName, SymbolType>> = {
  circle: symbolCircle,
  square: symbolSquare,
  triangle: symbolTriangle,
  diamond: symbolDiamond,
  cross: symbolCross,
  star: symbolStar,
};
const symbolArea = 36;

export function symbolMark({ symbol: name }: SeriesStyle, x: number, y: number): string {
  const shape = symbol(symbols[name], symbolArea).digits(2)();
  return `<path d="${shape}" transform="translate(${shorten(x)} ${shorten(y)})" stroke="none"/>`;
}

export const strokeWidth = 1.8;

/** The attributes of a line. */
export function strokeOf({ dash }: SeriesStyle): string {
  const dashes = dash === undefined ? '' : ` stroke-dasharray="${dash}"`;
  return `fill="none" stroke-width="${strokeWidth}" stroke-linejoin="round"${dashes}`;
}

/** A tenth of a pixel is finer than anybody sees. */
export function shorten(place: number): number {
  return Math.round(10 * place) / 10;
}
