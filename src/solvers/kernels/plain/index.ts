import type { Loss } from '../../../problem/losses/loss.ts';
import type { Kernels } from '../kernels.ts';
import { plainCertificateKernels } from './certificate.ts';
import { plainColumnKernels } from './columns.ts';
import { plainDenseKernels } from './dense.ts';
import { plainPanelKernels } from './panels.ts';
import { plainProximalKernels } from './proximal.ts';
import { plainRowKernels, plainWholeRowsKernels } from './rows.ts';
import { plainSegmentKernels } from './segments.ts';
import { plainStageKernels } from './stages.ts';
import { plainSaddleKernel, plainSgdKernels } from './stochastic.ts';
import { plainSumKernels, plainVectorKernels } from './vectors.ts';
import { plainWorkingSetKernels } from './working-set.ts';

/** Kernels in plain JavaScript: the oracle of the WebAssembly ones, and the path for any loss. */
export function plainKernels(loss: Loss): Kernels {
  return {
    name: 'plain',
    ...plainRowKernels(loss),
    ...plainColumnKernels(loss),
    ...plainWholeRowsKernels(loss),
    ...plainStageKernels(loss),
    ...plainSaddleKernel(loss),
    ...plainSgdKernels(loss),
    ...plainSumKernels(loss),
    ...plainVectorKernels,
    ...plainDenseKernels,
    ...plainSegmentKernels,
    ...plainProximalKernels(loss),
    ...plainWorkingSetKernels(loss),
    ...plainPanelKernels,
    ...plainCertificateKernels(loss),
  };
}
