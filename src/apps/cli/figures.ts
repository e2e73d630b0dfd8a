import { extname } from 'node:path';
import { UsageError } from '../../errors.ts';
import { svgToPng } from '../../reporting/charts/svg.ts';
import { writePieces } from './files.ts';
import type { Terminal } from './terminal.ts';

/** Refuses a figure of another format, before any work is done for it. */
export function checkFigure(path: string | undefined): void {
  if (path === undefined || /\.(svg|png)$/i.test(path)) return;
  throw new UsageError(`--figure ${path}: expected a name that ends in .svg or .png`);
}

export async function writeFigure(path: string, svg: string, terminal: Terminal): Promise<void> {
  const isPng = extname(path).toLowerCase() === '.png';
  await writePieces(path, [isPng ? await svgToPng(svg) : svg], terminal);
}
