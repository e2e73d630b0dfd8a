import type { Target } from './target.ts';

/** What can be attacked, by name; loaded when it is. */
export const targets: Readonly<Record<string, () => Promise<Target>>> = {
  text: async () => (await import('./text.ts')).text,
  parquet: async () => (await import('./parquet.ts')).parquet,
  model: async () => (await import('./model.ts')).model,
};
