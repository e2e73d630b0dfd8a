import type { Team } from '../../engine/team.ts';
import { exponentOf, scaleByPowerOfTwo } from '../../math/bits.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import type { Objective } from './objective.ts';

/**
 * Makes Σα exactly 0: rounds all α towards 0 to multiples of one power of two, whose sums are
 * exact, and takes what is left from the first rows whose domain has room. Returns whether it has.
 */
export function balance(
  alpha: Float64Array,
  objective: Objective,
  team: Team,
  loss: Loss,
): boolean {
  const [largest] = team.reduce(
    1,
    (worker, values) => {
      const a = objective.rowsOf(alpha, worker);
      let most = 0;
      for (let i = 0; i < a.length; i++) most = Math.max(most, Math.abs(a[i]));
      values[0] = most;
    },
    'max',
  );
  // The quantum must be a normal number.
  if (!(largest > 1e-290)) {
    objective.ownRows(alpha).fill(0);
    return true;
  }
  const quantum = scaleByPowerOfTwo(1, exponentOf(largest) - 52);
  const [upper, lower] = team.reduce(2, (worker, values) => {
    const a = objective.rowsOf(alpha, worker);
    let [highs, lows] = [0, 0];
    for (let i = 0; i < a.length; i++) {
      const units = Math.trunc(a[i] / quantum);
      a[i] = units * quantum;
      // Halves of a number of 53 bits: their sums stay below 2⁵³ for 2²⁶ rows and more.
      const high = Math.floor(units * 2 ** -27);
      highs += high;
      lows += units - high * 2 ** 27;
    }
    values[0] = highs;
    values[1] = lows;
  });
  const left = upper * 2 ** 27 + lower;
  return left === 0 || spread(alpha, [left, quantum], objective, team, loss);
}

/** Lowers the first α that have room by `left` units in all, or raises them if that is negative. */
function spread(
  alpha: Float64Array,
  [left, quantum]: readonly [number, number],
  objective: Objective,
  team: Team,
  loss: Loss,
): boolean {
  const goal = Math.abs(left);
  const side = Math.sign(left);
  const roomOf = (worker: number, take: (i: number, room: number) => boolean) => {
    const { labels, rowWeights } = objective.problem;
    const rows = (array: Float64Array) => objective.rowsOf(array, worker);
    const [a, y, c] = [alpha, labels, rowWeights].map(rows);
    for (let i = 0; i < a.length; i++) {
      const { conjugateHigh, conjugateLow, parameter } = loss;
      const end =
        side > 0
          ? -(c[i] * conjugateHigh(y[i], parameter))
          : -(c[i] * conjugateLow(y[i], parameter));
      const inDomain = c[i] === 0 ? 0 : Math.floor(Math.abs(a[i] - end) / quantum) - 1;
      const exact = 2 ** 53 + (side * a[i]) / quantum;
      if (take(i, Math.max(0, Math.min(inDomain, exact)))) return;
    }
  };
  const width = team.table(1, (worker, values) => {
    roomOf(worker, (_, room) => {
      values[0] = Math.min(goal, values[0] + room);
      return values[0] === goal;
    });
  });
  const { workers } = team.shared;
  const stride = width.length / workers;
  let before = 0;
  for (let worker = 0; worker < workers && before < goal; worker++) {
    const share = Math.min(goal - before, width[worker * stride]);
    before += share;
    if (worker < team.first || worker >= team.end) continue;
    const a = objective.rowsOf(alpha, worker);
    let rest = share;
    roomOf(worker, (i, room) => {
      const taken = Math.min(rest, room);
      a[i] -= side * taken * quantum;
      rest -= taken;
      return rest === 0;
    });
  }
  team.barrier();
  return before === goal;
}
