import type { Target } from './target.ts';

/** What can be attacked, by name; loaded when it is. */
export const targets: Readonly<Record<string, () => Promise<Target>>> = {};
