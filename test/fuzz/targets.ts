import type { Target } from './target.ts';

/** What can be attacked, by name; loaded when it is. */
export const targets: Readonly<Record<string, () => Promise<Target>>> = {
  certificates: async () => (await import('./certificates.ts')).certificates,
  checkpoint: async () => (await import('./checkpoint.ts')).checkpointTarget,
  serve: async () => (await import('./serve.ts')).serveTarget,
  kill: async () => (await import('./kill.ts')).killTarget,
  mpi: async () => (await import('./mpi.ts')).mpiTarget,
  text: async () => (await import('./text.ts')).text,
  parquet: async () => (await import('./parquet.ts')).parquet,
  model: async () => (await import('./model.ts')).model,
};
