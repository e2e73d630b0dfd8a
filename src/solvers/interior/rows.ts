import type { Arena } from '../../engine/arena.ts';
import { clamp } from '../../math/scalars.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { type BlockState, reserve } from '../block-state.ts';
import {
  addCorrection,
  allocatePairs,
  movePairs,
  otherHalf,
  type PairSum,
  type Pairs,
} from './pairs.ts';

/** How far a slope may go of the way to an open end of its domain: all but this share. */
const leastRoom = 0.005;

type Vector = Float64Array;

/** One piece of the loss of every row: with ε two pieces make the loss. */
const pieceArrays = ['slopes', 'stiffness', 'shift', 'step', 'correction'] as const;

function allocatePiece(arena: Arena, rows: number) {
  return {
    ...reserve(arena, 'float64', rows, pieceArrays),
    above: allocatePairs(arena, rows),
    below: allocatePairs(arena, rows),
  };
}

export type RowMemory = ReturnType<typeof allocateRows>;

export function allocateRows(arena: Arena, rows: number, pieces: number) {
  return {
    /** c_i / W; residuals e_i and T_i of the linear system; X dw; −c_i s_i, summed over pieces. */
    ...reserve(arena, 'float64', rows, ['shares', 'residuals', 'scales', 'image', 'alpha']),
    pieces: Array.from({ length: pieces }, () => allocatePiece(arena, rows)),
  };
}

/** A piece's part of one worker's rows. */
interface Piece extends Record<(typeof pieceArrays)[number], Vector> {
  /** Its target is y + offset. */
  readonly offset: number;
  /** Of two pieces, the sign that slopes have; else 0. */
  readonly side: number;
  readonly above: Pairs;
  readonly below: Pairs;
}

/**
 * The rows of one worker. With s_i a slope of row i's loss, lo ≤ s ≤ hi its domain, u the margins:
 *
 *   u = ℓ*'(s) + above − below,   above (hi − s) = below (s − lo) = μ/C_i,   C_i = c_i/W
 *
 * where ℓ*'(s) = y + q s of most losses. A side without an end has no pair. Nor has one where ℓ*' is
 * infinite at the end: there u = ℓ*'(s) alone keeps s inside. In `above` and `below`, x is the
 * variable itself and z the room to the end of the domain.
 */
export class RowPart {
  readonly shares: Vector;
  readonly margins: Vector;
  readonly labels: Vector;
  readonly image: Vector;
  readonly residuals: Vector;
  readonly scales: Vector;
  readonly pieces: readonly Piece[];
  readonly #weights: Vector;
  readonly #alpha: Vector;
  readonly #loss: Loss;
  /** ℓ*'' where it is the same for every slope. */
  readonly #bend: number | undefined;

  constructor(state: BlockState, worker: number, memory: RowMemory, margins: Vector, loss: Loss) {
    const { labels, rowWeights, totalWeight } = state.context.problem;
    const { shares, residuals, scales, image, alpha } = memory;
    const rows = { labels, rowWeights, margins, shares, residuals, scales, image, alpha };
    const part = state.rowsOf(worker, rows);
    this.margins = part.margins;
    this.labels = part.labels;
    this.shares = part.shares;
    this.image = part.image;
    this.residuals = part.residuals;
    this.scales = part.scales;
    this.#weights = part.rowWeights;
    this.#alpha = part.alpha;
    this.#loss = loss;
    this.#bend = loss.pieces && loss.conjugateCurvature?.(0, 0, loss.parameter);
    for (let i = 0; i < this.shares.length; i++) this.shares[i] = this.#weights[i] / totalWeight;
    const sides = memory.pieces.length === 2 ? [1, -1] : [0];
    this.pieces = memory.pieces.map(({ above, below, ...arrays }, k) => ({
      ...state.rowsOf(worker, arrays),
      above: state.rowsOf(worker, above),
      below: state.rowsOf(worker, below),
      side: sides[k],
      offset: sides[k] * loss.parameter,
    }));
  }

  get pairs(): PairSum[] {
    const { shares } = this;
    return this.pieces.flatMap(({ above, below }) => [
      { pairs: above, shares },
      { pairs: below, shares },
    ]);
  }

  /** The domain of the slope of row i in a piece. */
  #domain(i: number, { side }: Piece): readonly [number, number] {
    const { parameter } = this.#loss;
    const low = this.#loss.conjugateLow(this.labels[i], parameter);
    const high = this.#loss.conjugateHigh(this.labels[i], parameter);
    return [side > 0 ? 0 : low, side < 0 ? 0 : high];
  }

  /** values[0] += Σ C_i y_i */
  addLabels(values: Vector): void {
    for (let i = 0; i < this.shares.length; i++) values[0] += this.shares[i] * this.labels[i];
  }

  /** values[0] += Σ C_i |u − y_i|, over pieces. */
  addDistances(margin: number, values: Vector): void {
    for (const { offset } of this.pieces) {
      for (let i = 0; i < this.shares.length; i++) {
        values[0] += this.shares[i] * Math.abs(margin - this.labels[i] - offset);
      }
    }
  }

  /** Slopes inside their domains, with room of the size `spread` on both sides, at one margin for all. */
  start(margin: number, spread: number): void {
    const { labels, shares } = this;
    const { openEnds, parameter, task } = this.#loss;
    for (const piece of this.pieces) {
      const { slopes, above, below, offset } = piece;
      for (let i = 0; i < slopes.length; i++) {
        if (shares[i] === 0) continue;
        const [low, high] = this.#domain(i, piece);
        const set = (pairs: Pairs, x: number, z: number) => {
          pairs.x[i] = x;
          pairs.z[i] = z;
        };
        if (openEnds) {
          slopes[i] = this.#loss.derivative(margin, labels[i], parameter);
          set(above, 0, high - slopes[i]);
          set(below, 0, slopes[i] - low);
          continue;
        }
        const [hasLow, hasHigh] = [low > -Infinity, high < Infinity];
        const residual = margin - labels[i] - offset;
        const bend = this.#bend ?? 1;
        if (hasLow && hasHigh) {
          const centred = task === 'classification' || this.pieces.length === 2;
          slopes[i] = centred ? low + 0.5 * (high - low) : clamp(0, low, high);
          if (slopes[i] === low || slopes[i] === high) slopes[i] = low + 0.5 * (high - low);
          const rest = residual - bend * slopes[i];
          set(above, Math.max(rest, 0) + spread, high - slopes[i]);
          set(below, Math.max(-rest, 0) + spread, slopes[i] - low);
        } else if (hasLow) {
          const room = (Math.max(residual, 0) + spread) / bend;
          slopes[i] = low + room;
          set(below, Math.max(1e-3 * spread, bend * slopes[i] - residual), room);
        } else if (hasHigh) {
          const room = (Math.max(-residual, 0) + spread) / bend;
          slopes[i] = high - room;
          set(above, Math.max(1e-3 * spread, residual - bend * slopes[i]), room);
        } else slopes[i] = residual / bend;
      }
    }
  }

  /** α_i = −c_i s_i */
  dualPoint(): void {
    this.#alpha.fill(0);
    for (const { slopes } of this.pieces) {
      for (let i = 0; i < slopes.length; i++) this.#alpha[i] -= this.#weights[i] * slopes[i];
    }
  }

  /** T_i = C_i Σ k, where a change of u_i changes the slope of a piece by k. */
  scale(): void {
    const { scales, shares, labels } = this;
    const { parameter } = this.#loss;
    scales.fill(0);
    for (const { slopes, stiffness, above, below } of this.pieces) {
      for (let i = 0; i < slopes.length; i++) {
        if (shares[i] === 0) continue;
        let inverse = this.#bend ?? this.#curvature(slopes[i], labels[i], parameter);
        if (above.x[i] > 0) inverse += above.x[i] / above.z[i];
        if (below.x[i] > 0) inverse += below.x[i] / below.z[i];
        stiffness[i] = 1 / inverse;
        scales[i] += shares[i] * stiffness[i];
      }
    }
  }

  #curvature(slope: number, label: number, parameter: number): number {
    return this.#loss.conjugateCurvature?.(slope, label, parameter) ?? 0;
  }

  /**
   * e_i = Σ k e / Σ k. Affine: e is what u = ℓ*'(s) + … lacks, without `above` and `below`, which go to
   * 0. Of a correction: what the wanted changes of the products do to them.
   */
  residual(affine: boolean): void {
    const { residuals, scales, shares } = this;
    residuals.fill(0);
    for (const piece of this.pieces) {
      if (affine) this.#affineShift(piece);
      else this.#correctionShift(piece);
      const { shift, stiffness } = piece;
      for (let i = 0; i < shift.length; i++) {
        if (scales[i] > 0) residuals[i] += (shares[i] * stiffness[i] * shift[i]) / scales[i];
      }
    }
  }

  #affineShift({ shift, slopes, offset }: Piece): void {
    const { margins, labels } = this;
    const { parameter } = this.#loss;
    const bend = this.#bend;
    for (let i = 0; i < shift.length; i++) {
      shift[i] =
        bend === undefined
          ? margins[i] - this.#loss.conjugateDerivative(slopes[i], labels[i], parameter)
          : margins[i] - labels[i] - offset - bend * slopes[i];
    }
  }

  #correctionShift({ shift, above, below }: Piece): void {
    for (let i = 0; i < shift.length; i++) {
      let value = 0;
      if (above.x[i] > 0) value -= above.change[i] / above.z[i];
      if (below.x[i] > 0) value += below.change[i] / below.z[i];
      shift[i] = value;
    }
  }

  /** From X dw in `image` to slopes and pairs: the direction, or the correction of it. */
  expand(affine: boolean): void {
    const { image } = this;
    for (const { shift, stiffness, step, correction, above, below } of this.pieces) {
      const target = affine ? step : correction;
      const [aboveX, aboveZ] = affine ? [above.dx, above.dz] : [above.ex, above.ez];
      const [belowX, belowZ] = affine ? [below.dx, below.dz] : [below.ex, below.ez];
      for (let i = 0; i < shift.length; i++) {
        const ds = stiffness[i] * (image[i] + shift[i]);
        target[i] = ds;
        if (above.x[i] > 0) {
          aboveZ[i] = -ds;
          aboveX[i] = otherHalf(above.x[i], above.z[i], -ds, above.change[i], affine);
        }
        if (below.x[i] > 0) {
          belowZ[i] = ds;
          belowX[i] = otherHalf(below.x[i], below.z[i], ds, below.change[i], affine);
        }
      }
    }
  }

  addCorrection(factor: number): void {
    for (const { step, correction, above, below } of this.pieces) {
      for (let i = 0; i < step.length; i++) step[i] += factor * correction[i];
      addCorrection(above, factor);
      addCorrection(below, factor);
    }
  }

  move(primal: number, dual: number): void {
    const { openEnds } = this.#loss;
    for (const piece of this.pieces) {
      const { slopes, step, above, below } = piece;
      movePairs(above, primal, dual);
      movePairs(below, primal, dual);
      for (let i = 0; i < slopes.length; i++) {
        if (this.shares[i] === 0) continue;
        const [low, high] = this.#domain(i, piece);
        const ds = dual * step[i];
        if (openEnds) stayInside(above.z, below.z, i, ds, high - low);
        const hasHigh = openEnds ? high < Infinity : above.x[i] > 0;
        const hasLow = openEnds ? low > -Infinity : below.x[i] > 0;
        // From the end that is nearer, so that its distance keeps its digits.
        if (hasHigh && !(hasLow && below.z[i] < above.z[i])) slopes[i] = high - above.z[i];
        else if (hasLow) slopes[i] = low + below.z[i];
        else slopes[i] += ds;
      }
    }
  }
}

/** Moves a slope by ds, in its rooms to both ends of the domain, but not quite to an end. */
function stayInside(above: Vector, below: Vector, i: number, ds: number, width: number): void {
  const toHigh = Math.max(leastRoom * above[i], above[i] - ds);
  const toLow = Math.max(leastRoom * below[i], below[i] + ds);
  const nearHigh = toHigh <= toLow;
  above[i] = nearHigh || width === Infinity ? toHigh : width - toLow;
  below[i] = nearHigh && width < Infinity ? width - toHigh : toLow;
}
