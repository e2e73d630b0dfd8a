import { styleOf } from '../../src/compare/style.ts';

/** How the curve of a run looks, by its place among those that are shown. */
export interface Appearance {
  readonly color: string;
  readonly dash: readonly number[];
}

export function appearanceOf(place: number): Appearance {
  // The name is nobody's, so that the place alone decides.
  const { color, dash } = styleOf('', place);
  return { color, dash: dash === undefined ? [] : dash.split(' ').map(Number) };
}
