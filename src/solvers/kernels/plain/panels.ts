import { type PanelKernels, panelWidth } from '../dense.ts';

/** Products of the data with eight vectors at a time. Twin of assembly/panels.ts. */
export const plainPanelKernels: PanelKernels = {
  gatherPanel({ offsets, indices, values }, count, panel, results, sizes, stride) {
    for (let i = 0; i < count; i++) {
      for (let vector = 0; vector < panelWidth; vector++) {
        let sum = 0;
        let size = 0;
        for (let k = offsets[i]; k < offsets[i + 1]; k++) {
          const term = values[k] * panel[panelWidth * indices[k] + vector];
          sum += term;
          size += Math.abs(term);
        }
        results[vector * stride + i] = sum;
        sizes[vector * stride + i] = size;
      }
    }
  },

  scatterPanel({ offsets, indices, values }, count, sources, stride, panel, sizes) {
    for (let i = 0; i < count; i++) {
      for (let k = offsets[i]; k < offsets[i + 1]; k++) {
        const line = panelWidth * indices[k];
        for (let vector = 0; vector < panelWidth; vector++) {
          const term = values[k] * sources[vector * stride + i];
          panel[line + vector] += term;
          sizes[line + vector] += Math.abs(term);
        }
      }
    }
  },
};
