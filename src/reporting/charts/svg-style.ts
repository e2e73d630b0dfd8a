import { xmlSafe } from '../format.ts';
import { type Box, clip, type Rule } from './axis.ts';
import type { Point } from './quantities.ts';
import { type SeriesStyle, symbolPath } from './series-style.ts';

const symbolArea = 36;

export function symbolMark({ symbol: name }: SeriesStyle, [x, y]: Point): string {
  const shape = symbolPath(name, symbolArea);
  return `<path d="${shape}" transform="translate(${shorten(x)} ${shorten(y)})" stroke="none"/>`;
}

export const strokeWidth = 1.8;

export function strokeOf({ dash }: SeriesStyle): string {
  const dashes = dash === undefined ? '' : ` stroke-dasharray="${dash}"`;
  return `fill="none" stroke-width="${strokeWidth}" stroke-linejoin="round"${dashes}`;
}

/** A tenth of a pixel is finer than anybody sees. */
export function shorten(position: number): number {
  return Math.round(10 * position) / 10;
}

/** Text for HTML and XML, between tags and in quoted attributes. */
export function escapeMarkup(text: string): string {
  return xmlSafe(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Characters by their width in Arimo and Arial, in thousandths of the size of the font. */
const widths: readonly (readonly [width: number, characters: string])[] = [
  [191, "'"],
  [222, 'ijl'],
  [260, '|'],
  [278, ' !,./:;I[\\]ft'],
  [333, '()-`r·⁻⁰¹²³⁴⁵⁶⁷⁸⁹{}'],
  [355, '"'],
  [389, '*'],
  [469, '^'],
  [500, 'Jcksvxyzλ'],
  [556, '#$0123456789?L_abdeghnopqu–'],
  [584, '+<=>~−×α'],
  [611, 'FTZ'],
  [667, '&ABEKPSVXY'],
  [722, 'CDHNRUw'],
  [778, 'GOQ'],
  [833, 'Mm'],
  [889, '%'],
  [944, 'W'],
  [1000, '…@'],
];

/** For any other character: rarely too narrow. */
const otherWidth = 667;

const widthOf = new Map(
  widths.flatMap(([width, characters]) => characters.split('').map((one) => [one, width] as const)),
);

/** The width of a text, in the unit of its font size. */
export function textWidth(text: string, size: number): number {
  let sum = 0;
  for (const character of text) sum += widthOf.get(character) ?? otherWidth;
  return (sum * size) / 1000;
}

const fontSize = 11;
const inset = 4;
/** To lines, which may carry symbols, and to the axis. */
const distance = 4;
/** From the rule to the base of the letters above and below it. */
const above = -5;
const below = 12;

/** A dashed line across the plot, its name where no curve crosses it, as far right as possible. */
export function ruleMark(
  { label }: Rule,
  position: number,
  { left, right, top, bottom }: Box,
  curves: readonly (readonly Point[])[],
): string {
  if (!(position >= top && position <= bottom)) return '';
  const width = textWidth(label, fontSize);
  const room = right - left - width - 2 * inset;
  const spots = [1, 0.75, 0.5, 0.25, 0].flatMap((part) =>
    [above, below].map((shift) => ({ x: left + inset + part * room, y: position + shift })),
  );
  const inside = spots.filter(({ y }) => y - fontSize > top && y + distance < bottom);
  const isFree = ({ x, y }: { x: number; y: number }) => {
    const box = {
      left: x - distance,
      right: x + width + distance,
      top: y - fontSize - distance,
      bottom: y + distance,
    };
    return curves.every((curve) => !crosses(curve, box));
  };
  const { x, y } = inside.find(isFree) ?? inside[0] ?? spots[0];
  return (
    `<path d="M${left} ${shorten(position)}H${right}" stroke="currentColor" stroke-opacity="0.55" ` +
    `stroke-dasharray="3 3"/>\n<text x="${shorten(x)}" y="${shorten(y)}" font-size="${fontSize}" ` +
    `fill-opacity="0.72">${escapeMarkup(label)}</text>`
  );
}

/** Whether a line through points has a part in the box. */
function crosses(curve: readonly Point[], box: Box): boolean {
  return curve.some((to, index) => clip(curve[Math.max(0, index - 1)], to, box) !== undefined);
}
