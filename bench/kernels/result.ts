import type { WorkloadShape } from './workload.ts';

/** In cache: all of it is in a core's own cache. Big: the columns' state alone does not. */
export const shapes = {
  'in cache': { rows: 400, columns: 1000, perRow: 100 },
  big: { rows: 60_000, columns: 500_000, perRow: 100 },
} as const satisfies Record<string, WorkloadShape>;

export type SizeName = keyof typeof shapes;
export const sizeNames = Object.keys(shapes) as SizeName[];

/** One kernel on one size of data; times are nanoseconds per non-zero. */
export interface KernelResult {
  readonly kernel: string;
  readonly size: SizeName;
  readonly wasm: number;
  readonly plain: number;
  /** Without gcc there is no C to compare with. */
  readonly c?: number;
  /** How the state after one pass compares: with the plain twin, and with C. */
  readonly sameAsPlain: boolean;
  readonly sameAsC?: 'same bits' | 'close' | 'DIFFERENT';
}
