import type { Dataset } from '../../src/data/dataset.ts';
import type { Point } from '../../src/reporting/charts/quantities.ts';
import { type EpochTimes, mostWorkers } from './epoch-times.ts';
import { fitLine } from './fit.ts';
import {
  type Costs,
  cellImbalance,
  countCells,
  loadOf,
  predictEpoch,
  simulateEpoch,
} from './ring-simulation.ts';

/** |Ω|T_u and T_c of the paper, in seconds. */
export interface Constants {
  readonly work: number;
  readonly communication: number;
}

/** What the paper's figure is drawn from: 35.9269/p + (36.4735 − 35.9269/2) seconds. */
export const paperConstants: Constants = {
  work: 35.9269,
  communication: 36.4735 - 35.9269 / 2,
};

/** The constants from t₁ and t₂, such that t_p = |Ω|T_u/p + T_c at both. */
export function fitConstants(one: number, two: number): Constants {
  return { work: 2 * (one - two), communication: 2 * two - one };
}

/**
 * Seconds of a non-zero and of a row at a visit, from one thread that runs p workers. Every visit
 * goes through all rows of its worker, so that an epoch takes |Ω|T_u + p m T_row.
 */
export function fitWork(
  { rows, nonzeros }: Dataset,
  alone: readonly EpochTimes[],
): Pick<Costs, 'perEntry' | 'perRow'> {
  const plain = { perEntry: alone[0].median / nonzeros, perRow: 0 };
  if (alone.length < 2) return plain;
  const { slope, intercept } = fitLine(alone.map((one): Point => [one.grid, one.median]));
  if (slope <= 0 || intercept <= 0) return plain;
  return { perEntry: intercept / nonzeros, perRow: slope / rows };
}

/** An epoch on p workers, each on its own core or machine, in seconds. */
export interface Simulated {
  readonly size: number;
  readonly imbalance: number;
  /** The paper's formula with the simulation's own costs. */
  readonly predicted: number;
  readonly threads: number;
  readonly barrier: number;
  readonly network: number;
  readonly networkPredicted: number;
}

export function simulateSizes(
  dataset: Dataset,
  sizes: readonly number[],
  seed: number,
  threads: Costs,
  network: Costs,
): Simulated[] {
  const work = dataset.nonzeros * threads.perEntry + dataset.rows * threads.perRow;
  const handOffs = (costs: Costs, size: number) =>
    size === 1 ? 0 : size * costs.handOff + dataset.columns * costs.perWeight;
  return sizes
    .filter((size) => size <= mostWorkers(dataset))
    .map((size) => {
      const counts = countCells(dataset, size, seed);
      return {
        size,
        imbalance: cellImbalance(counts),
        predicted: predictEpoch(work, handOffs(threads, size), size),
        threads: simulateEpoch(loadOf(counts, threads)),
        barrier: simulateEpoch(loadOf(counts, threads), true),
        network: simulateEpoch(loadOf(counts, network)),
        networkPredicted: predictEpoch(work, handOffs(network, size), size),
      };
    });
}
