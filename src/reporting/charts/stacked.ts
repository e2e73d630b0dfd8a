import { defaultSize } from './svg.ts';
import { escapeMarkup } from './svg-style.ts';

/** Charts in one picture, below one another. */
export function stacked(charts: readonly string[], title: string): string {
  const { width, height } = defaultSize;
  const moved = charts.map((svg, index) => svg.replace('<svg ', `<svg y="${index * height}" `));
  const whole = height * charts.length;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${whole}" ` +
    `width="${width}" height="${whole}" role="img" aria-label="${escapeMarkup(title)}">\n` +
    `${moved.join('')}</svg>\n`
  );
}
