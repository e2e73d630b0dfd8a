import { MediaQuery } from 'svelte/reactivity';
import type { Theme } from './charts/view.ts';

const dark = new MediaQuery('(prefers-color-scheme: dark)');

/** The theme that is in force. */
export function themeName(theme: Theme): 'light' | 'dark' {
  if (theme !== 'auto') return theme;
  return dark.current ? 'dark' : 'light';
}
