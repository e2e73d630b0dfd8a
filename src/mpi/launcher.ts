/** Which family of MPI libraries started this process; the members of a family share their ABI. */
export type Flavour = 'openmpi' | 'mpich';

/** What a launcher told this process before it began. */
export interface Launch {
  readonly flavour: Flavour;
  readonly rank: number;
  readonly size: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables by which launchers number the processes of a job, most telling first. */
const marks: readonly { flavour: Flavour; rank: string; sizes: readonly string[] }[] = [
  {
    flavour: 'openmpi',
    rank: 'OMPI_COMM_WORLD_RANK',
    sizes: ['OMPI_COMM_WORLD_SIZE'],
  },
  { flavour: 'mpich', rank: 'PMI_RANK', sizes: ['PMI_SIZE', 'SLURM_NTASKS'] },
  // srun --mpi=pmix: the size is Slurm's to tell.
  { flavour: 'openmpi', rank: 'PMIX_RANK', sizes: ['SLURM_NTASKS', 'PMIX_SIZE'] },
];

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** The job this process is part of, or undefined if no MPI launcher started it. */
export function launchOf(environment: Environment): Launch | undefined {
  for (const { flavour, rank: rankName, sizes } of marks) {
    const rank = wholeNumber(environment[rankName]);
    const named = sizes.find((name) => wholeNumber(environment[name]) !== undefined);
    const size = named === undefined ? undefined : wholeNumber(environment[named]);
    if (rank !== undefined && size !== undefined) return { flavour, rank, size };
  }
  return undefined;
}
