/** Random arguments for products with several vectors at a time. */
import type { Arena } from '../../../../src/engine/arena.ts';
import type { Random } from '../../../../src/math/random.ts';
import { panelWidth } from '../../../../src/solvers/kernels/dense.ts';
import type { Kernels } from '../../../../src/solvers/kernels/kernels.ts';
import { doubles, drawCell, number } from './draw.ts';

type PanelCase = (arena: Arena, random: Random) => (kernels: Kernels) => undefined;

/** A panel and the numbers of rows that belong to it, with room between their vectors. */
function draw(arena: Arena, random: Random) {
  const { units, others, cell } = drawCell(arena, random);
  const stride = units + random.below(3);
  const lines = () => doubles(arena, panelWidth * others, () => number(random));
  const vectors = () => doubles(arena, panelWidth * stride, () => number(random));
  return { cell, units, stride, lines, vectors };
}

export const panelCases: Record<string, PanelCase> = {
  gatherPanel: (arena, random) => {
    const { cell, units, stride, lines, vectors } = draw(arena, random);
    const [panel, results, sizes] = [lines(), vectors(), vectors()];
    return (kernels) => {
      kernels.gatherPanel(cell, units, panel, results, sizes, stride);
      return undefined;
    };
  },
  scatterPanel: (arena, random) => {
    const { cell, units, stride, lines, vectors } = draw(arena, random);
    const [sources, panel, sizes] = [vectors(), lines(), lines()];
    return (kernels) => {
      kernels.scatterPanel(cell, units, sources, stride, panel, sizes);
      return undefined;
    };
  },
};
