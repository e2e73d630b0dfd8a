/** Which job a process is part of: apart from the MPI library, since every command asks at its start. */

/** A family of MPI libraries: its members share their ABI. */
export type Flavour = 'openmpi' | 'mpich';

/** What a launcher has put into the environment of this process. */
export interface Launch {
  readonly flavour: Flavour;
  readonly rank: number;
  readonly size: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables by which launchers number the processes of a job, the most specific first. */
const launchers: readonly { flavour: Flavour; rank: string; sizes: readonly string[] }[] = [
  { flavour: 'openmpi', rank: 'OMPI_COMM_WORLD_RANK', sizes: ['OMPI_COMM_WORLD_SIZE'] },
  { flavour: 'mpich', rank: 'PMI_RANK', sizes: ['PMI_SIZE', 'SLURM_NTASKS'] },
  // srun --mpi=pmix: the size is in Slurm's variable.
  { flavour: 'openmpi', rank: 'PMIX_RANK', sizes: ['SLURM_NTASKS', 'PMIX_SIZE'] },
];

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** The job this process is part of, or undefined if no MPI launcher started it. */
export function launchOf(environment: Environment): Launch | undefined {
  for (const { flavour, rank: rankName, sizes } of launchers) {
    const rank = wholeNumber(environment[rankName]);
    const [size] = sizes.flatMap((name) => wholeNumber(environment[name]) ?? []);
    if (rank !== undefined && size !== undefined) return { flavour, rank, size };
  }
  return undefined;
}
