import { stream } from '../../../../src/math/random.ts';

/** Rows of very different lengths, with comments, blank lines and line ends of both kinds. */
export function mixedText(rows: number, seed: number): string {
  const random = stream(seed, 1);
  const lines: string[] = [];
  for (let row = 0; row < rows; row += 1) {
    if (random.below(10) === 0) lines.push('', '# between rows: 1:2');
    const length = random.below(20) === 0 ? 200 : random.below(8);
    const pairs = Array.from({ length }, () => random.below(5000) + 1);
    const distinct = [...new Set(pairs)];
    const text = distinct.map((index) => `${index}:${random.uniform().toPrecision(7)}`);
    const qid = random.below(9) === 0 ? ' qid:1' : '';
    lines.push(`${random.below(2) * 2 - 1}${qid} ${text.join(' ')}${random.below(5) ? '' : '\r'}`);
  }
  return `${lines.join('\n')}\n`;
}
