import { UsageError } from '../../errors.ts';
import type { Model } from '../model.ts';
import { becomeProbabilities, givesProbabilities } from '../predict/predict.ts';

/**
 * What a threshold is chosen for: the largest F1; the largest recall with at least this precision;
 * the largest precision with at least this recall; or the least cost, each false positive and each
 * false negative costing so much.
 */
export type ThresholdGoal =
  | 'f1'
  | `precision=${number}`
  | `recall=${number}`
  | `cost=${number}:${number}`;

export const goalsExpected =
  'f1, precision=P, recall=R (0 < P, R ≤ 1) or cost=FP:FN, as in cost=1:20';

const decimal = '(\\d+\\.?\\d*|\\.\\d+)';
const goals = new RegExp(
  `^(f1|precision=${decimal}|recall=${decimal}|cost=${decimal}:${decimal})$`,
);

export function isThresholdGoal(text: unknown): text is ThresholdGoal {
  const found = typeof text === 'string' ? goals.exec(text) : null;
  if (!found) return false;
  const [, , precision, recall, first, second] = found;
  if (first !== undefined) return Number(first) + Number(second) > 0;
  const share = precision ?? recall;
  return share === undefined || (Number(share) > 0 && Number(share) <= 1);
}

/** Rows above a threshold, or their weights. */
interface Cut {
  readonly truePositive: number;
  readonly falsePositive: number;
  readonly positives: number;
}

const precisionOf = ({ truePositive, falsePositive }: Cut) =>
  truePositive + falsePositive > 0 ? truePositive / (truePositive + falsePositive) : 0;
const recallOf = ({ truePositive, positives }: Cut) =>
  positives > 0 ? truePositive / positives : 0;

/** How good a cut is, in order of importance; undefined where it is not allowed. */
function judge(goal: ThresholdGoal): (cut: Cut) => readonly [number, number] | undefined {
  const [name, value = ''] = goal.split('=');
  const least = Number(value);
  switch (name) {
    case 'precision':
      return (cut) =>
        precisionOf(cut) >= least ? [cut.truePositive, -cut.falsePositive] : undefined;
    case 'recall':
      return (cut) => (recallOf(cut) >= least ? [precisionOf(cut), cut.truePositive] : undefined);
    case 'cost': {
      const [forPositive, forNegative] = value.split(':').map(Number);
      return ({ falsePositive, truePositive, positives }) => [
        -(forPositive * falsePositive + forNegative * (positives - truePositive)),
        -falsePositive,
      ];
    }
    default:
      return ({ truePositive, falsePositive, positives }) => [
        (2 * truePositive) / (truePositive + falsePositive + positives),
        -falsePositive,
      ];
  }
}

/**
 * The threshold that serves the goal best on these rows: a row is positive if its value is above it.
 * It lies midway between two values; of equally good ones it is the highest. undefined: none serves.
 */
export function chooseThreshold(
  goal: ThresholdGoal,
  values: Float64Array,
  isPositive: (row: number) => boolean,
  /** A row of weight k counts like k rows, one of weight 0 not at all. */
  weights?: ArrayLike<number>,
): number | undefined {
  if (!isThresholdGoal(goal)) throw new UsageError(`${String(goal)}: expected ${goalsExpected}`);
  const weightOf = (row: number) => weights?.[row] ?? 1;
  const order = Uint32Array.from(values, (_, row) => row).filter((row) => weightOf(row) > 0);
  order.sort((left, right) => values[right] - values[left]);
  // Added up in the order of the loop, so that all above the last cut are these.
  const positives = order.reduce((sum, row) => (isPositive(row) ? sum + weightOf(row) : sum), 0);
  const goodness = judge(goal);
  let truePositive = 0;
  let falsePositive = 0;
  let best: readonly [number, number] | undefined;
  let chosen: number | undefined;
  for (let at = 0; at <= order.length; at++) {
    const above = at === 0 ? Infinity : values[order[at - 1]];
    const below = at === order.length ? -Infinity : values[order[at]];
    if (above > below) {
      const found = goodness({ truePositive, falsePositive, positives });
      const [first, second] = found ?? [-Infinity, -Infinity];
      if (found && (!best || first > best[0] || (first === best[0] && second > best[1]))) {
        best = found;
        chosen = between(below, above);
      }
    }
    if (at === order.length) break;
    if (isPositive(order[at])) truePositive += weightOf(order[at]);
    else falsePositive += weightOf(order[at]);
  }
  return chosen;
}

/** A number t with below ≤ t < above. */
function between(below: number, above: number): number {
  if (above === Infinity) return below;
  // Below all values: as far as the least is from 0.
  if (below === -Infinity) return above - Math.max(Math.abs(above), 2 ** -20);
  const middle = below + (above - below) / 2;
  return middle < above ? middle : below;
}

type ThresholdModel = Pick<Model, 'loss' | 'classes' | 'multiLabel' | 'calibration'>;

/** What a threshold of the model is compared with: probabilities where it has them, else scores. */
export function decidingValues(model: ThresholdModel, scores: Float64Array): Float64Array {
  const values = scores.slice();
  if (givesProbabilities(model)) becomeProbabilities(model, values);
  return values;
}
