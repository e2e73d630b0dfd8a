import { expect, test } from 'vitest';
import { launchOf } from '../../../../src/engine/processes/launch.ts';

test.each([
  [{}, undefined],
  [{ PATH: '/bin', SLURM_NTASKS: '4' }, undefined],
  [
    { OMPI_COMM_WORLD_RANK: '2', OMPI_COMM_WORLD_SIZE: '4', PMIX_RANK: '2' },
    { flavour: 'openmpi', rank: 2, size: 4 },
  ],
  [
    { PMI_RANK: '0', PMI_SIZE: '3', PMI_FD: '7' },
    { flavour: 'mpich', rank: 0, size: 3 },
  ],
  [
    { PMIX_RANK: '1', SLURM_NTASKS: '2' },
    { flavour: 'openmpi', rank: 1, size: 2 },
  ],
  [
    { PMI_RANK: '1', SLURM_NTASKS: '2', SLURM_PROCID: '1' },
    { flavour: 'mpich', rank: 1, size: 2 },
  ],
  // Half of the story is none.
  [{ OMPI_COMM_WORLD_RANK: '2' }, undefined],
  [{ PMI_RANK: 'x', PMI_SIZE: '3' }, undefined],
])('%j', (environment, launch) => {
  expect(launchOf(environment)).toEqual(launch);
});
