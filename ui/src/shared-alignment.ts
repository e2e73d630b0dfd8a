import type { Alignment } from './charts/align.ts';
import { alignRuns, type ShownRun } from './charts/chart-model.ts';
import type { View } from './charts/view.ts';

/** Widths are rounded up to this, so that charts side by side share positions. */
const widthStep = 100;

/** The alignment of the runs, computed once for all charts that ask for the same. */
export class SharedAlignment {
  #runs: readonly ShownRun[] | undefined;
  #view: View | undefined;
  #moving = false;
  readonly #byWidth = new Map<number, Alignment>();

  /** `runs` is another array whenever its curves have changed. */
  get(view: View, runs: readonly ShownRun[], width: number, moving: boolean): Alignment {
    if (runs !== this.#runs || view !== this.#view || moving !== this.#moving) {
      this.#byWidth.clear();
    }
    this.#runs = runs;
    this.#view = view;
    this.#moving = moving;
    const rounded = Math.ceil(width / widthStep) * widthStep;
    const known = this.#byWidth.get(rounded);
    if (known) return known;
    const made = alignRuns(view, runs, rounded, moving);
    this.#byWidth.set(rounded, made);
    return made;
  }
}
