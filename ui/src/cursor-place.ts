/** Where the pointer or the keyboard is on a chart. */
export interface CursorPlace {
  readonly x: number;
  /** Pixels within the plotted area, and where that begins. */
  readonly left: number;
  readonly top: number;
  readonly offset: { readonly left: number; readonly top: number };
  readonly width: number;
  readonly position: (value: number) => number;
}
