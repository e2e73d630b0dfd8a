import { escapeMarkup } from '../../compare/markup.ts';
import { shorten } from '../../compare/stroke.ts';
import { textWidth } from '../../compare/text-width.ts';

/** A value of y to compare with, such as a tolerance. */
export interface Rule {
  readonly y: number;
  readonly label: string;
}

/** The rectangle of the plot, in pixels. */
export interface Frame {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

type Place = readonly [x: number, y: number];

const fontSize = 11;
const beside = 4;
/** To lines, which may carry symbols, and to the axis. */
const distance = 4;
/** From the rule to the base of the letters above and below it. */
const above = -5;
const below = 12;

/** A dashed line across the plot, its name where it lies on no curve, as far right as possible. */
export function ruleMark(
  { label }: Rule,
  place: number,
  { left, right, top, bottom }: Frame,
  curves: readonly (readonly Place[])[],
): string {
  if (!(place >= top && place <= bottom)) return '';
  const width = textWidth(label, fontSize);
  const room = right - left - width - 2 * beside;
  const spots = [1, 0.75, 0.5, 0.25, 0].flatMap((part) =>
    [above, below].map((shift) => ({ x: left + beside + part * room, y: place + shift })),
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
    `<path d="M${left} ${shorten(place)}H${right}" stroke="currentColor" stroke-opacity="0.55" ` +
    `stroke-dasharray="3 3"/>\n<text x="${shorten(x)}" y="${shorten(y)}" font-size="${fontSize}" ` +
    `fill-opacity="0.72">${escapeMarkup(label)}</text>`
  );
}

/** Whether a line from place to place has a part in the box. */
function crosses(curve: readonly Place[], box: Frame): boolean {
  return curve.some((to, index) => meets(curve[Math.max(0, index - 1)], to, box));
}

/** Cuts the piece from a to b at the sides of the box, one after the other; what is left is in it. */
function meets(a: Place, b: Place, { left, right, top, bottom }: Frame): boolean {
  let [begin, end] = [0, 1];
  for (const [from, to, low, high] of [
    [a[0], b[0], left, right],
    [a[1], b[1], top, bottom],
  ]) {
    const step = to - from;
    if (step === 0 && (from < low || from > high)) return false;
    if (step === 0) continue;
    const [one, other] = [(low - from) / step, (high - from) / step];
    begin = Math.max(begin, Math.min(one, other));
    end = Math.min(end, Math.max(one, other));
  }
  return begin <= end;
}
