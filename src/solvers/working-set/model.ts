import type { Loss } from '../../problem/losses/loss.ts';
import type { ColumnSet, Part, Steps } from './column-set.ts';
import { measureRows } from './curvatures.ts';

/**
 * The quadratic model sᵀt/W + tᵀ(h ∘ t)/2W + penalty(w + d), t = X d, of P on the columns of W.
 *
 * q = h ∘ t is kept instead of t, so that a product of a column with the model's slopes touches one
 * array; t = q/h has full relative precision, where s + q would not.
 */
export class Model {
  readonly set: ColumnSet;
  /** How much the cycles and steps since mark() have lowered the model. */
  gain = 0;
  readonly #isExact: boolean;
  /** See modelError. */
  readonly #isOpen: boolean;
  readonly #loss: Loss;
  readonly #steps: Steps;

  /** `isExact`: the loss is quadratic, and the model is P. */
  constructor(set: ColumnSet, loss: Loss, isExact: boolean) {
    const { context, memory, columns, scale } = set;
    const { kernels } = context;
    this.set = set;
    this.#isExact = isExact;
    this.#isOpen = loss.openEnds && loss.conjugateCurvature !== undefined;
    this.#loss = loss;
    this.#steps = {
      rows: ({ rows }) => rows.moved,
      sweep: ({ packed, rows }, begin, end, above) =>
        kernels.sweepWorkingSet(
          packed.columns,
          begin,
          end,
          rows.curvatures,
          rows.moved,
          columns,
          scale,
          above,
          memory.stats,
        ),
      step: (begin, end, above) =>
        kernels.stepWorkingSet(
          begin,
          end,
          memory.dots,
          columns,
          scale,
          above,
          memory.set.deltas,
          memory.stats,
        ),
    };
  }

  /** At the present margins, with d = 0. */
  refresh(damping: number): void {
    const { memory, parts, size } = this.set;
    measureRows(this.set, this.#loss.greatestCurvature, damping);
    for (const { rows } of parts) rows.moved.fill(0);
    this.set.onFirst(() => memory.set.start.set(memory.set.now.subarray(0, size)));
    this.set.sum();
  }

  /**
   * Steps once on every column of W, or on those whose last violation was larger than `above`;
   * returns the non-zeros touched and the worst violation.
   */
  cycle(above?: number): { readonly work: number; readonly worst: number } {
    const [work, worst, gain] = this.set.cycle(this.#steps, above);
    this.gain += gain;
    return { work, worst };
  }

  /** Remembers where the model is. */
  mark(): void {
    const { memory, parts, size } = this.set;
    this.gain = 0;
    for (const { rows } of parts) rows.before.set(rows.moved);
    this.set.onFirst(() => memory.set.before.set(memory.set.now.subarray(0, size)));
  }

  keep(): void {
    const { memory, parts, size } = this.set;
    for (const { rows } of parts) rows.kept.set(rows.moved);
    this.set.onFirst(() => memory.set.kept.set(memory.set.now.subarray(0, size)));
  }

  goBack(): void {
    const { memory, parts, size } = this.set;
    for (const { rows } of parts) rows.moved.set(rows.kept);
    this.set.onFirst(() => memory.set.now.set(memory.set.kept.subarray(0, size)));
  }

  /** How far the model may be from P: |tᵀ(ℓ'(u + t) − s − q)|/2W */
  error(): number {
    if (this.#isExact) return 0;
    const { context, scale } = this.set;
    const { kernels, team } = context;
    const [sum] = team.reduce(1, (worker, values) => {
      const { rows, labels, rowWeights } = this.set.partOf(worker);
      const { margins, slopes, inverses, moved } = rows;
      values[0] = kernels.modelError(
        margins,
        labels,
        rowWeights,
        slopes,
        inverses,
        moved,
        this.#isOpen,
      );
    });
    return 0.5 * Math.abs(sum * scale);
  }

  /** Sums over rows, up to as many as a reduction holds. */
  sums(count: number, fill: (part: Part, values: Float64Array) => void): Float64Array {
    const { context } = this.set;
    return context.team.reduce(count, (worker, values) => fill(this.set.partOf(worker), values));
  }
}
