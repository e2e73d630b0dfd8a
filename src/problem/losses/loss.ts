import { DataError } from '../../errors.ts';
import { exp } from '../../math/elementary.ts';

/**
 * The scalar functions of a loss ℓ(u, y): u is a score ⟨w, x⟩, y a label, `parameter` the loss's
 * single number where it has one (smoothing, δ, ε, τ). A loss knows one score and one label.
 *
 * The dual variable α_i is the paper's: w's image is Σ α_i x_i, and the dual objective holds
 * −ℓ*(−α_i). For hinge and logistic y α_i is in [0, 1].
 *
 * Every file in this folder that is named after a loss exports these functions with exactly these
 * names, and is written in the part of TypeScript that AssemblyScript compiles too: the same
 * source becomes the WebAssembly kernel and its plain JavaScript twin.
 */
export interface LossFunctions {
  /** ℓ(u, y) */
  value(u: number, y: number, parameter: number): number;
  /** ℓ'(u, y); at a kink any subgradient. */
  derivative(u: number, y: number, parameter: number): number;
  /**
   * ℓ''(u, y), floored where it would make a Newton step wild; 0 for a loss that is not smooth.
   * `slope` is ℓ'(u, y), which callers have at hand and some losses can use.
   */
  curvature(u: number, y: number, parameter: number, slope: number): number;
  /** ℓ*(s) = sup_u { s u − ℓ(u, y) } for s in the domain; callers keep s inside. */
  conjugate(s: number, y: number, parameter: number): number;
  /** (ℓ*)'(s); at the ends of the domain the limit from inside, always finite. */
  conjugateDerivative(s: number, y: number, parameter: number): number;
  /** (ℓ*)''(s) inside the domain; without it a custom loss has no interior point method. */
  conjugateCurvature?(s: number, y: number, parameter: number): number;
  /** Lower end of the domain of ℓ*, −Infinity if open. */
  conjugateLow(y: number, parameter: number): number;
  /** Upper end of the domain of ℓ*, Infinity if open. */
  conjugateHigh(y: number, parameter: number): number;
  /**
   * argmax_a { −ℓ*(−a) − u (a − α) − (q/2)(a − α)² } over the domain. `alpha` itself may be
   * outside the domain (momentum put it there). q ≥ 0; q = 0 gives the maximiser of the linear
   * model (an end of the domain where there is one).
   */
  dualStep(alpha: number, u: number, q: number, y: number, parameter: number): number;
}

export type Task = 'classification' | 'regression';

/** Of regression: whether a score u is the prediction itself or its logarithm. */
export type Link = 'identity' | 'log';

/** What the scores of a loss mean. */
export interface ScoreTraits {
  /** Default: identity. */
  readonly link?: Link;
  /** Whether 1/(1 + e^−u) is the probability of the positive class. */
  readonly givesProbabilities?: boolean;
}

/** Apart from the table of losses: `dso/predict` needs these facts and none of the functions. */
export const scoreTraits: Readonly<Record<'logistic' | 'poisson', ScoreTraits>> = {
  logistic: { givesProbabilities: true },
  poisson: { link: 'log' },
};

/** The traits of the loss a model was trained with; a custom loss has none. */
export function traitsOf(loss: { readonly name: string; readonly module?: string }): ScoreTraits {
  const known = !loss.module && Object.hasOwn(scoreTraits, loss.name);
  return known ? scoreTraits[loss.name as keyof typeof scoreTraits] : {};
}

/** What a regression model predicts where its score is u: e^u with a log link, else u itself. */
export function meanOfScore(link: Link | undefined, score: number): number {
  return link === 'log' ? exp(score) : score;
}

/** Which labels a loss is made for. */
export interface LabelRule {
  /** Ends the sentence "the loss needs …". */
  readonly wanted: string;
  accepts(label: number): boolean;
}

/**
 * 1: ℓ*(s) = y s + (q/2) s² on its domain, q its second derivative. 2: ℓ*(s) = y s + ε |s| + (q/2) s²,
 * ε the parameter: the sum of a loss around y + ε with s ≥ 0 and one around y − ε with s ≤ 0.
 */
export type QuadraticPieces = 1 | 2;

/** What every loss has, also one without a known conjugate. */
export interface PrimalLoss extends Pick<LossFunctions, 'value' | 'derivative'> {
  readonly name: string;
  readonly task: Task;
  /** Whether ℓ is differentiable, with a second derivative that is bounded on bounded scores. */
  readonly smooth: boolean;
  readonly parameter: number;
}

/** A loss with its conjugate: what a certificate, and so every solver here, needs. */
export interface Loss extends PrimalLoss, LossFunctions, Required<ScoreTraits> {
  /** What `parameter` is called for users (`epsilon`, `delta`, `smoothing`), if it has one. */
  readonly parameterName?: string;
  /** Set where not every finite number is a label; of regression only. */
  readonly labels?: LabelRule;
  /** Where ℓ* has a constant second derivative: see QuadraticPieces. */
  readonly pieces?: QuadraticPieces;
  /** L where |ℓ'(u) − ℓ'(t)| ≤ L |u − t| for all scores; none of a loss that has no such L. */
  readonly greatestCurvature?: number;
  /** Whether (ℓ*)' is unbounded at an end of its domain, so that α must stay away from it. */
  readonly openEnds: boolean;
  /** Step sizes of AdaGrad in solver dso, for w and for α, that do well on rows of length 1. */
  readonly defaultSteps: readonly [number, number];
  /** file: URL of the module of a custom loss, which worker threads import themselves. */
  readonly module?: string;
}

/** Whether ℓ is a function of u − y; of a custom loss it is not known. */
export function isOfResidual({ task, link, module }: Pick<Loss, 'task' | 'link' | 'module'>) {
  return task === 'regression' && link === 'identity' && module === undefined;
}

/** The step sizes of losses that have no better ones. */
export const commonSteps = [0.3, 0.5] as const;

/** The parts of a data set that the rule looks at. */
interface Labelled {
  readonly name: string;
  readonly parts: readonly { readonly labels: Float64Array }[];
}

/** Refuses labels the loss is not made for; `firstRow` is the number of rows before these. */
export function checkLabels(
  { name: lossName, labels: rule }: Pick<Loss, 'name' | 'labels'>,
  { name, parts }: Labelled,
  firstRow = 0,
): void {
  if (rule === undefined) return;
  let row = firstRow;
  for (const { labels } of parts) {
    for (const label of labels) {
      row += 1;
      if (rule.accepts(label)) continue;
      throw new DataError(
        `${name}: row ${row} has label ${label}; the ${lossName} loss needs ${rule.wanted}`,
      );
    }
  }
}

/** Whether ℓ has every slope: the domain of ℓ* is all numbers. */
export function hasAllSlopes({
  conjugateLow,
  conjugateHigh,
  parameter,
}: Pick<Loss, 'conjugateLow' | 'conjugateHigh' | 'parameter'>): boolean {
  return conjugateLow(1, parameter) === -Infinity && conjugateHigh(1, parameter) === Infinity;
}
