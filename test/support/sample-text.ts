import { stream } from '../../src/math/random.ts';

export interface SampleShape {
  readonly rows: number;
  readonly columns: number;
  readonly perRow: number;
  readonly seed?: number;
  readonly labels?: 'two classes' | 'real';
}

/** LIBSVM text with planted weights and some noise; the same for the same shape. */
export function sampleText(shape: SampleShape): string {
  const { rows, columns, perRow, seed = 1, labels = 'two classes' } = shape;
  const planted = stream(7, 0);
  const weights = Float64Array.from({ length: columns }, () => planted.normal());
  const random = stream(seed, 1);
  const lines: string[] = [];
  for (let row = 0; row < rows; row++) {
    const chosen = new Set<number>();
    while (chosen.size < perRow) chosen.add(random.below(columns));
    let score = 0;
    const pairs = [...chosen]
      .sort((a, b) => a - b)
      .map((column) => {
        const value = Math.round(random.normal() * 1000) / 1000 || 0.5;
        score += weights[column] * value;
        return `${column + 1}:${value}`;
      });
    const noisy = score + 0.3 * random.normal();
    const label = labels === 'real' ? noisy.toFixed(4) : noisy > 0 ? '+1' : '-1';
    lines.push(`${label} ${pairs.join(' ')}`);
  }
  return `${lines.join('\n')}\n`;
}
