import type { NamedChart } from '../../src/reporting/charts/comparison.ts';
import type { Point } from '../../src/reporting/charts/quantities.ts';
import type { Series } from '../../src/reporting/charts/svg.ts';
import type { EpochTimes } from './epoch-times.ts';
import { predictEpoch } from './ring-simulation.ts';
import { type Constants, paperConstants, type Simulated } from './scaling-model.ts';

export interface ScalingFigures {
  readonly measured: readonly EpochTimes[];
  readonly simulated: readonly Simulated[];
  readonly fitted: Constants | undefined;
  readonly cores: number;
}

/** A line through seconds of an epoch, as they are or as the speed-up they mean. */
type Shown = (first: number, seconds: number) => number;

function measuredSeries({ measured, cores }: ScalingFigures, shown: Shown): Series[] {
  const [{ median: first }] = measured;
  const points = (some: readonly EpochTimes[]) =>
    some.map(({ grid, median }): Point => [grid, shown(first, median)]);
  const within = measured.filter(({ grid }) => grid <= cores);
  const shared = measured.filter(({ grid }) => grid >= cores);
  return [
    { name: 'measured', points: points(within) },
    ...(shared.length > 1
      ? [{ name: `measured, threads sharing ${cores} cores`, points: points(shared) }]
      : []),
  ];
}

function formulaSeries(
  name: string,
  constants: Constants | undefined,
  { simulated }: ScalingFigures,
  shown: Shown,
): Series[] {
  if (!constants) return [];
  const time = (size: number) => predictEpoch(constants.work, constants.communication, size);
  const points = simulated.map(({ size }): Point => [size, shown(time(1), time(size))]);
  return [{ name, dashed: true, marks: false, points }];
}

function simulatedSeries(
  name: string,
  of: (one: Simulated) => number,
  { simulated }: ScalingFigures,
  shown: Shown,
): Series {
  const first = of(simulated[0]);
  return { name, points: simulated.map((one): Point => [one.size, shown(first, of(one))]) };
}

/** Unlike every line of something that was measured or simulated. */
const idealStyle = { color: '#222222', dash: '2 2.5', symbol: 'circle' } as const;

/** Time per epoch, as in the paper, and the speed-up. */
export function scalingFigures(figures: ScalingFigures): NamedChart[] {
  const subtitle = 'webspam-like data; simulated from measured costs and the real partition';
  const x = { label: 'workers p', log: true };
  const time: Shown = (_, seconds) => seconds;
  const speedUp: Shown = (first, seconds) => first / seconds;
  const sizes = figures.simulated.map(({ size }): Point => [size, size]);
  const lines = (shown: Shown) => [
    ...measuredSeries(figures, shown),
    ...formulaSeries('formula from p = 1, 2', figures.fitted, figures, shown),
    simulatedSeries('simulated, threads', ({ threads }) => threads, figures, shown),
    simulatedSeries('simulated, with a barrier', ({ barrier }) => barrier, figures, shown),
    simulatedSeries('simulated, network', ({ network }) => network, figures, shown),
  ];
  return [
    {
      name: 'time-per-epoch',
      chart: {
        title: 'Time per epoch of DSO',
        subtitle,
        x,
        y: { label: 'seconds per epoch', log: true },
        series: lines(time),
      },
    },
    {
      name: 'speed-up',
      chart: {
        title: 'Speed-up of an epoch of DSO',
        subtitle,
        x,
        y: { label: 'speed-up', log: true },
        series: [
          { name: 'ideal', marks: false, points: sizes, style: idealStyle },
          ...lines(speedUp),
          ...formulaSeries("the paper's constants", paperConstants, figures, speedUp),
        ],
      },
    },
  ];
}
