/** Where the columns of the features' figure are, in pixels from the left. */
export interface FeatureLayout {
  readonly width: number;
  /** Letters of a name that fit. */
  readonly letters: number;
  readonly change: number;
  /** Ends of the bars, and the line between negative and positive ones. */
  readonly barLeft: number;
  readonly barRight: number;
  readonly zero: number;
  /** Right end of the numbers. */
  readonly weight: number;
  readonly sparkLeft: number;
  readonly sparkWidth: number;
  /** Of a line, and of the head above all lines. */
  readonly rowHeight: number;
  readonly head: number;
}

/** Of the widest usual font. */
const letter = 7.3;
const least = 280;
/** Bars and lines of long names make room for them down to this width together. */
const leastDrawn = 132;

/** All columns in so many pixels; bars from zero to one side only where all weights have one sign. */
export function layOutFeatures(
  room: number,
  names: readonly string[],
  weights: readonly number[],
): FeatureLayout {
  const width = Math.max(least, Math.min(room, 900));
  const longest = names.reduce((most, name) => Math.max(most, Array.from(name).length), 4);
  const [change, numbers] = width < 480 ? [32, 54] : [38, 64];
  const all = width - change - numbers - 16;
  const name = Math.min(longest * letter + 14, Math.max(width * 0.3, all - leastDrawn));
  const rest = all - name;
  const sparkWidth = Math.max(40, Math.min(200, rest * 0.4));
  const barLeft = name + change;
  const barRight = barLeft + rest - sparkWidth;
  const hasNegative = weights.some((weight) => weight < 0);
  const hasPositive = weights.some((weight) => weight > 0);
  const middle = (barLeft + barRight) / 2;
  return {
    width,
    letters: Math.max(4, Math.floor((name - 14) / letter)),
    change: name + change - 10,
    barLeft,
    barRight,
    zero: hasNegative ? (hasPositive ? middle : barRight) : barLeft,
    weight: barRight + numbers,
    sparkLeft: barRight + numbers + 12,
    sparkWidth,
    rowHeight: 24,
    head: 22,
  };
}
