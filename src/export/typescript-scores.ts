/**
 * The second half of what `--to typescript` writes: from entries to scores, predictions and
 * probabilities. Like the first half it needs no library and has the bits of `predict`.
 */

export function scoreSource(unitRows: boolean): string {
  const length = unitRows
    ? `  let square = 0;
  for (const { value } of entries) square += value * value;
  const length = square > 0 ? Math.sqrt(square) : 1;
`
    : '';
  return `
/** The scores of all vectors of weights. */
export function scores(row: Row): number[] {
  const entries = read(row);
${length}  return weights.map((vector, place) => {
    let sum = 0;
    for (const { column, value } of entries) sum += vector[column]! * value;
    const score = sum${unitRows ? ' / length' : ''} + intercepts[place]!;
    if (!Number.isFinite(score)) throw new RangeError(\`the score is \${score}\`);
    return score;
  });
}
`;
}

/** e^x, the same bits on every machine. */
export const expSource = `
const double = new DataView(new ArrayBuffer(8));

/** 2^k for -1022 <= k <= 1023 */
function power(k: number): number {
  double.setInt32(0, (k + 1023) << 20);
  return double.getFloat64(0);
}

/** x = k ln 2 + r, e^r by a polynomial. */
function exp(x: number): number {
  if (!(x <= 709.7827128933841)) return x > 0 ? Infinity : x;
  if (x < -745.1332191019412) return 0;
  const k = Math.floor(x * Math.LOG2E + 0.5);
  const high = x - k * 0.6931471803691238;
  const low = k * 1.9082149292705877e-10;
  const r = high - low;
  const lost = high - r - low;
  const r2 = r * r;
  const r4 = r2 * r2;
  const head =
    0.5000000000000011 +
    0.16666666666666413 * r +
    r2 * (0.04166666666653016 + 0.008333333333494446 * r);
  const tail =
    0.0013888888943629925 +
    0.0001984126950660702 * r +
    r2 * (2.480149309902565e-5 + 2.7557586353522276e-6 * r) +
    r4 * (2.7630248368472557e-7 + 2.5000066626478164e-8 * r);
  const mantissa = 1 + (r + (r2 * (head + r4 * tail) + lost));
  if (k > 1023) return mantissa * power(1023) * power(k - 1023);
  if (k < -1022) return mantissa * power(k + 1022) * power(-1022);
  return mantissa * power(k);
}
`;

export const sigmoidSource = `
function sigmoid(x: number): number {
  const e = exp(-Math.abs(x));
  return (x >= 0 ? 1 : e) / (1 + e);
}
`;

/** Needs `platt`: slope and offset by vector. */
export const plattSource = `
function probability(score: number, place: number): number {
  const [slope, offset] = platt[place]!;
  return sigmoid(-(slope * score + offset));
}
`;

/** Needs `curves`: scores and probabilities by vector. */
export const isotonicSource = `
function probability(score: number, place: number): number {
  const [points, heights] = curves[place]!;
  const last = points.length - 1;
  if (score <= points[0]!) return heights[0]!;
  if (score >= points[last]!) return heights[last]!;
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (points[middle]! <= score) low = middle;
    else high = middle;
  }
  const part = (score - points[low]!) / (points[high]! - points[low]!);
  return heights[low]! + part * (heights[high]! - heights[low]!);
}
`;

export const logisticSource = `
function probability(score: number, _place: number): number {
  return sigmoid(score);
}
`;

export const probabilitySources = {
  two: `
/** By class. */
export function probabilities(row: Row): number[] {
  const positive = probability(scores(row)[0]!, 0);
  return [1 - positive, positive];
}
`,
  each: `
/** By class, each for itself: a row may have several labels. */
export function probabilities(row: Row): number[] {
  return scores(row).map(probability);
}
`,
  shared: `
/** By class. */
export function probabilities(row: Row): number[] {
  const single = scores(row).map(probability);
  let sum = 0;
  for (const value of single) sum += value;
  return single.map((value) => (sum > 0 ? value / sum : 1 / single.length));
}
`,
} as const;

export const predictionSources = {
  value: `
export function predict(row: Row): number {
  return scores(row)[0]!;
}
`,
  mean: `
export function predict(row: Row): number {
  const mean = exp(scores(row)[0]!);
  if (mean === Infinity) throw new RangeError('the prediction is too large a number');
  return mean;
}
`,
  two: `
export function predict(row: Row): Label {
  return classes[scores(row)[0]! > 0 ? 1 : 0];
}
`,
  several: `
export function predict(row: Row): Label {
  const found = scores(row);
  let largest = 0;
  found.forEach((score, place) => {
    if (score > found[largest]!) largest = place;
  });
  return classes[largest]!;
}
`,
  labels: `
/** All classes of the row, separated by commas. */
export function predict(row: Row): string {
  const found = scores(row);
  return classes.filter((_, place) => found[place]! > 0).join(',');
}
`,
} as const;
