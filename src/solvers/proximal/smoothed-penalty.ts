import { clamp } from '../../math/scalars.ts';
import type { Doubles } from '../kernels/kernels.ts';
import type { SolverContext } from '../solver.ts';

/** Width of the smoothed |w|, as a share of that of the losses, with and without a quadratic penalty. */
const shares = { quadratic: 0.3, none: 1 } as const;
/** What stands for a quadratic penalty that is not there, as a share of the penalty's strength. */
const substitute = 0.1;

type Columns = Doubles<
  | 'iterate'
  /** (1/W) Xᵀα */
  | 'image'
  | 'gradient'
  /** The second derivative. */
  | 'bend'
  /** Of |w|: its slopes and their centre. */
  | 'slopes'
  | 'slopeCentre'
  /** What the weights are pulled towards where there is no quadratic part. */
  | 'pull'
>;

/**
 * The penalty, smoothed where it has an L1 part: κ_j |w_j| is an absolute loss whose dual variable, s_j in
 * [−κ_j, κ_j], has a centre of its own. s_j(w) = clip(centre + w κ_j/width) is the slope. Without a
 * quadratic part (pull_j/2)(w_j − centre_j)² stands in for it. The intercept has neither.
 */
export class SmoothedPenalty {
  readonly #context: SolverContext;
  readonly #columns: Columns;
  readonly hasL1: boolean;
  readonly hasL2: boolean;

  constructor(context: SolverContext, columns: Columns) {
    const { penalty } = context.problem;
    this.#context = context;
    this.#columns = columns;
    this.hasL1 = penalty.l1 > 0;
    this.hasL2 = penalty.l2 > 0;
  }

  /** Of |w|, where losses have that width. */
  widthOf(width: number): number {
    return width * (this.hasL2 ? shares.quadratic : shares.none);
  }

  #columnsOf(block: number) {
    const { objective, problem } = this.#context;
    const of = (array: Float64Array) => objective.columnsOf(array, block);
    const { iterate, image, gradient, bend, slopes, slopeCentre, pull } = this.#columns;
    const [w, v, g, h] = [iterate, image, gradient, bend].map(of);
    const [l1, l2, strength] = [problem.l1, problem.l2, problem.strength].map(of);
    return {
      w,
      v,
      g,
      h,
      l1,
      l2,
      strength,
      ...(this.hasL1 && { s: of(slopes), sm: of(slopeCentre) }),
      ...(!this.hasL2 && { wm: of(pull) }),
    };
  }

  /** The centres at a start: the slopes of |w| that suit α, and the weights. */
  start(): void {
    const { team } = this.#context;
    for (let block = team.first; block < team.end; block++) {
      const { w, v, l1, l2, sm, wm } = this.#columnsOf(block);
      sm?.forEach((_, j) => {
        sm[j] = clamp(v[j] - l2[j] * w[j], -l1[j], l1[j]);
      });
      wm?.set(w);
    }
  }

  /** Gradient and curvature of the smoothed objective at the iterate. */
  update(lossWidth: number): void {
    const { team } = this.#context;
    const width = this.widthOf(lossWidth);
    for (let block = team.first; block < team.end; block++) {
      const { w, v, g, h, l1, l2, strength, s, sm, wm } = this.#columnsOf(block);
      for (let j = 0; j < w.length; j++) {
        if (strength[j] === 0) {
          // The intercept, which is found for itself.
          [g[j], h[j]] = [0, 1];
          continue;
        }
        g[j] = l2[j] * w[j] - v[j];
        h[j] = l2[j];
        if (wm) {
          g[j] += substitute * strength[j] * (w[j] - wm[j]);
          h[j] += substitute * strength[j];
        }
        if (s && sm) {
          s[j] = slopeOf(sm[j], w[j], l1[j], width);
          g[j] += s[j];
          if (Math.abs(s[j]) < l1[j]) h[j] += l1[j] / width;
        }
      }
    }
  }

  /** Slopes of the smoothed penalty along `change`, at shares of it: one function for each block. */
  along(change: Float64Array, lossWidth: number): (block: number, share: number) => number {
    const width = this.widthOf(lossWidth);
    const sums = new Map<number, readonly [at: number, rise: number]>();
    return (block, share) => {
      const { w, l1, l2, strength, sm, wm } = this.#columnsOf(block);
      const d = this.#context.objective.columnsOf(change, block);
      let quadratic = sums.get(block);
      if (!quadratic) {
        let [at, rise] = [0, 0];
        for (let j = 0; j < d.length; j++) {
          at += l2[j] * w[j] * d[j];
          rise += l2[j] * d[j] * d[j];
          if (!wm) continue;
          at += substitute * strength[j] * (w[j] - wm[j]) * d[j];
          rise += substitute * strength[j] * d[j] * d[j];
        }
        quadratic = [at, rise];
        sums.set(block, quadratic);
      }
      let sum = quadratic[0] + share * quadratic[1];
      if (!sm) return sum;
      for (let j = 0; j < d.length; j++) {
        if (l1[j] > 0) sum += d[j] * slopeOf(sm[j], w[j] + share * d[j], l1[j], width);
      }
      return sum;
    };
  }

  moveCentre(lossWidth: number): void {
    const { team } = this.#context;
    const width = this.widthOf(lossWidth);
    for (let block = team.first; block < team.end; block++) {
      const { w, l1, sm, wm } = this.#columnsOf(block);
      sm?.forEach((centre, j) => {
        if (l1[j] > 0) sm[j] = slopeOf(centre, w[j], l1[j], width);
      });
      wm?.set(w);
    }
  }

  /** Half the squared gradient of a block, by the inverse of a diagonal or of the penalty's own. */
  halfSquare(block: number, inverse?: Float64Array): number {
    const { g, h, strength } = this.#columnsOf(block);
    const by = inverse && this.#context.objective.columnsOf(inverse, block);
    let sum = 0;
    for (let j = 0; j < g.length; j++) {
      if (strength[j] > 0) sum += 0.5 * g[j] * g[j] * (by ? by[j] : 1 / h[j]);
    }
    return sum;
  }

  /** How far slopes and weights of a block are from their centres, as the smoothed objective counts it. */
  distance(block: number, lossWidth: number): number {
    const width = this.widthOf(lossWidth);
    const { w, l1, strength, s, sm, wm } = this.#columnsOf(block);
    let sum = 0;
    if (s && sm) {
      for (let j = 0; j < w.length; j++) {
        const away = s[j] - sm[j];
        if (l1[j] > 0) sum += ((0.5 * width) / l1[j]) * away * away;
      }
    }
    wm?.forEach((centre, j) => {
      const away = w[j] - centre;
      sum += 0.5 * substitute * strength[j] * away * away;
    });
    return sum;
  }

  /** weights ← 0 where the slope of |w| is inside its kink. */
  settle(weights: Float64Array): void {
    const { team, objective } = this.#context;
    for (let block = team.first; block < team.end; block++) {
      const { l1, s } = this.#columnsOf(block);
      const w = objective.columnsOf(weights, block);
      s?.forEach((slope, j) => {
        if (Math.abs(slope) < l1[j]) w[j] = 0;
      });
    }
  }
}

/** The slope of κ|w| smoothed over a width about a centre: clip(centre + κ w/width, ±κ). */
function slopeOf(centre: number, w: number, kappa: number, width: number): number {
  return clamp(centre + (kappa * w) / width, -kappa, kappa);
}
