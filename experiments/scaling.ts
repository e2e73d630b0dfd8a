/**
 * Figure "scale": time per epoch of DSO on p workers against |Ω|T_u/p + T_c, with the two constants
 * from p = 1 and p = 2; and a simulation of the ring for more workers than this machine has.
 */
import { availableParallelism } from 'node:os';
import { figure } from '../bench/table.ts';
import { describeShape, generated, reduction, type Sample } from './support/data.ts';
import { duration } from './support/duration.ts';
import { type EpochTimes, mostWorkers, timeEpochs } from './support/epoch-times.ts';
import type { Claim, Experiment, Outcome, Setting } from './support/experiment.ts';
import { measureHandOff } from './support/hand-off.ts';
import { section } from './support/report.ts';
import { type Costs, predictEpoch } from './support/ring-simulation.ts';
import { scalingFigures } from './support/scaling-charts.ts';
import {
  type Constants,
  fitConstants,
  fitWork,
  paperConstants,
  type Simulated,
  simulateSizes,
} from './support/scaling-model.ts';
import { combine } from './support/verdict.ts';

const like = 'webspam';
/** Part of webspam's rows at scale 1. */
const share = 0.01;
const measuredSizes = [1, 2, 4, 8];
const simulatedSizes = [1, 2, 4, 8, 16, 32, 64, 128];
const bytesPerWeight = 8;

/** Relative error up to which the formula counts as correct. */
const goodForecast = 0.2;

/** Part of the ideal speed-up that still counts as almost linear. */
const almostLinear = 0.8;

interface Measured {
  /** Grid p on p threads. */
  readonly spread: readonly EpochTimes[];
  /** Grid p on one thread. */
  readonly alone: readonly EpochTimes[];
}

async function measure(sample: Sample, setting: Setting): Promise<Measured> {
  const epochs = Math.max(3, Math.round(setting.numberOf('epochs')));
  const lambda = 1e-5 * reduction(like, sample);
  const { seed, time, say } = setting;
  const spread: EpochTimes[] = [];
  const alone: EpochTimes[] = [];
  for (const grid of measuredSizes.filter((size) => size <= mostWorkers(sample.train))) {
    for (const threads of new Set([1, grid])) {
      const times = await timeEpochs(sample, { grid, threads, epochs, lambda, seed, time });
      say(`  grid ${grid} on ${threads} thread(s): ${duration(times.median)} per epoch`);
      if (threads === grid) spread.push(times);
      if (threads === 1) alone.push(times);
    }
  }
  return { spread, alone };
}

async function perform(setting: Setting): Promise<Outcome> {
  const sample = generated(like, share, setting);
  const cores = availableParallelism();
  setting.say(`\n${sample.name}: ${describeShape(sample.train)}`);
  const { spread, alone } = await measure(sample, setting);
  const work = fitWork(sample.train, alone);
  const handOff = await measureHandOff(Math.round(setting.numberOf('rotations')));
  const threads: Costs = { ...work, handOff, perWeight: 0 };
  const network: Costs = {
    ...work,
    handOff: setting.numberOf('latency'),
    perWeight: (8 * bytesPerWeight) / setting.numberOf('bandwidth'),
  };
  const simulated = simulateSizes(sample.train, simulatedSizes, setting.seed, threads, network);
  const fitted = spread.length > 1 ? fitConstants(spread[0].median, spread[1].median) : undefined;
  setting.say(measuredTable(spread, fitted));
  setting.say(costsText(fitted, threads));
  setting.say(simulatedTable(simulated));
  const shared = measuredSizes.filter((size) => size > cores);
  return {
    results: { measured: { spread, alone }, fitted, costs: { threads, network }, simulated },
    claims: [
      formulaClaim(spread, simulated, fitted),
      linearClaim(spread, simulated),
      paperClaim(),
      accuracyClaim(spread),
    ],
    figures: scalingFigures({ measured: spread, simulated, fitted, cores }),
    comparisons: [],
    skipped:
      shared.length > 0
        ? [`p = ${shared.join(', ')} on separate cores: this machine has ${cores}`]
        : [],
  };
}

function measuredTable(spread: readonly EpochTimes[], fitted: Constants | undefined): string {
  const cores = availableParallelism();
  const rows = spread.map(({ grid, median }) => [
    `${grid}${grid > cores ? ` (on ${cores} cores)` : ''}`,
    duration(median),
    fitted ? duration(predictEpoch(fitted.work, fitted.communication, grid)) : '–',
    figure(spread[0].median / median),
  ]);
  return section(
    'measured: p workers on p threads, an epoch with its evaluation of the gap',
    ['p', 'epoch', 'formula', 'speed-up'],
    rows,
  );
}

function costsText(fitted: Constants | undefined, costs: Costs): string {
  const constants = fitted
    ? `from p = 1 and 2: |Ω|T_u = ${duration(fitted.work)}, T_c = ${duration(fitted.communication)}\n`
    : '';
  return (
    `\n${constants}from one thread on grids of 1 to 8: T_u = ${figure(1e9 * costs.perEntry)} ns a ` +
    `non-zero, ${figure(1e9 * costs.perRow)} ns a row and visit; a hand-off between two threads ` +
    `takes ${duration(costs.handOff)}`
  );
}

function simulatedTable(simulated: readonly Simulated[]): string {
  const [first] = simulated;
  const head = [
    'p',
    'imbalance',
    'formula',
    'threads',
    'speed-up',
    'with barrier',
    'network formula',
    'network',
    'speed-up',
  ];
  const rows = simulated.map((one) => [
    String(one.size),
    figure(one.imbalance),
    duration(one.predicted),
    duration(one.threads),
    figure(first.threads / one.threads),
    duration(one.barrier),
    duration(one.networkPredicted),
    duration(one.network),
    figure(first.network / one.network),
  ]);
  return section('simulated: the ring of p workers, each on its own core', head, rows);
}

function formulaClaim(
  spread: readonly EpochTimes[],
  simulated: readonly Simulated[],
  fitted: Constants | undefined,
): Claim {
  const cores = availableParallelism();
  const beyond = fitted ? spread.filter(({ grid }) => grid > 2 && grid <= cores) : [];
  const ratios = beyond.map(
    ({ grid, median }) => median / predictEpoch(fitted!.work, fitted!.communication, grid),
  );
  const simulatedRatios = simulated.map((one) => one.threads / one.predicted);
  const list = (values: readonly number[]) => values.map(figure).join(', ');
  const own =
    beyond.length > 0
      ? `measured over formula for p = ${beyond.map(({ grid }) => grid).join(', ')}: ${list(ratios)}`
      : `${cores} cores leave nothing to predict from p = 1, 2`;
  const sizes = simulated.map(({ size }) => size).join(', ');
  return {
    claim: 'the time per epoch is |Ω|T_u/p + T_c, the constants taken from p = 1 and p = 2',
    measured: `${own}; simulated ring over formula for p = ${sizes}: ${list(simulatedRatios)}`,
    verdict: combine(
      [...ratios, ...simulatedRatios].map((ratio) => Math.abs(ratio - 1) <= goodForecast),
    ),
  };
}

function linearClaim(spread: readonly EpochTimes[], simulated: readonly Simulated[]): Claim {
  const [first] = simulated;
  const cores = availableParallelism();
  const own = spread
    .filter(({ grid }) => grid > 1 && grid <= cores)
    .map(({ grid, median }) => ({ size: grid, speedUp: spread[0].median / median }));
  const speedUps = simulated.map((one) => ({
    size: one.size,
    speedUp: first.threads / one.threads,
    network: first.network / one.network,
  }));
  const isGood = ({ size, speedUp }: { size: number; speedUp: number }) =>
    speedUp >= almostLinear * size;
  const text = speedUps
    .map(({ size, speedUp, network }) => `${size}: ${figure(speedUp)} / ${figure(network)}`)
    .join(', ');
  const ownText = own.map(({ size, speedUp }) => `${size}: ${figure(speedUp)}`).join(', ');
  return {
    claim: 'DSO scales almost linearly with the number of processors',
    measured: `measured speed-up, p: ${ownText || 'one core'}; simulated, threads / network: ${text}`,
    verdict: combine(
      [...own, ...speedUps.filter(({ size }) => size > 1 && size <= 16)].map(isGood),
    ),
  };
}

/** What the paper's own constants say about its sentence. */
function paperClaim(): Claim {
  const { work, communication } = paperConstants;
  const time = (size: number) => predictEpoch(work, communication, size);
  const gain = time(2) / time(16);
  return {
    claim: 'the time per epoch on webspam-t indeed goes down as ≈ 1/p up to 16 machines',
    measured:
      `the line in the paper's own figure has |Ω|T_u = ${figure(work)} s and T_c = ` +
      `${figure(communication)} s: ${figure(time(2))} s on two machines, ${figure(time(16))} s on ` +
      `sixteen, ${figure(gain)} times less, where 1/p predicts 8`,
    verdict: combine([gain >= 8 * almostLinear]),
  };
}

function accuracyClaim(spread: readonly EpochTimes[]): Claim {
  const epochs = Math.min(...spread.map(({ primals }) => primals.length));
  const primals = spread.map((one) => one.primals[epochs - 1]);
  const errors = spread.map((one) => one.testErrors[epochs - 1]);
  const range = (values: readonly number[]) => Math.max(...values) - Math.min(...values);
  const sizes = spread.map(({ grid }) => grid).join(', ');
  return {
    claim: 'objective and test error on many machines are very close to those on one',
    measured:
      `after ${epochs} epochs with p = ${sizes}: ` +
      `P = ${primals.map((value) => value.toPrecision(5)).join(', ')}; ` +
      `test error ${errors.map((value) => `${(100 * value).toFixed(2)} %`).join(', ')}`,
    verdict: combine([range(primals) <= 0.05 * Math.min(...primals), range(errors) <= 0.005]),
  };
}

export const scaling: Experiment = {
  name: 'scaling',
  summary: 'time per epoch on p workers: measured, predicted, simulated (figure 2)',
  time: 30,
  extras: {
    epochs: { default: 12, text: 'epochs to time (the paper: 40)' },
    rotations: { default: 50_000, text: 'rotations of an idle ring for measuring a hand-off' },
    bandwidth: { default: 1e9, text: 'bits per second of the modelled network' },
    latency: { default: 5e-5, text: 'minimum seconds per message' },
  },
  run: perform,
};
