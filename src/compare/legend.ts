import type { SeriesStyle } from '../reporting/charts/series-style.ts';
import { escapeMarkup } from './markup.ts';
import { strokeOf, symbolMark } from './stroke.ts';
import { textWidth } from './text-width.ts';

/** A name, and how the line looks that it stands for. */
export interface LegendEntry {
  readonly name: string;
  readonly style: SeriesStyle;
  /** Whether the line carries symbols; default true. */
  readonly marks?: boolean;
}

export interface Legend {
  readonly markup: string;
  readonly rows: number;
}

export const legendRow = 18;
const sampleWidth = 30;
const beforeName = 6;
const betweenEntries = 18;

/** The names with a piece of their line, in rows above the plot. */
export function layOutLegend(
  entries: readonly LegendEntry[],
  room: number,
  fontSize: number,
): Legend {
  let left = 0;
  let row = 0;
  const markup = entries.map((entry) => {
    const width = sampleWidth + beforeName + textWidth(entry.name, fontSize);
    if (left > 0 && left + width > room) {
      left = 0;
      row += 1;
    }
    const text = entryMarkup(entry, left, legendRow * row + legendRow / 2);
    left = Math.round(left + width + betweenEntries);
    return text;
  });
  return { markup: markup.join('\n'), rows: entries.length === 0 ? 0 : row + 1 };
}

function entryMarkup({ name, style, marks }: LegendEntry, left: number, middle: number): string {
  return (
    `<g transform="translate(${left} ${middle})">` +
    `<g class="series" stroke="${style.color}" fill="${style.color}">` +
    `<path d="M0 0H${sampleWidth}" ${strokeOf(style)}/>` +
    `${marks === false ? '' : symbolMark(style, sampleWidth / 2, 0)}</g>` +
    `<text x="${sampleWidth + beforeName}" y="4">${escapeMarkup(name)}</text></g>`
  );
}
