/**
 * Theorem 1: after T epochs with η_t = η₀/√t the gap of the averaged iterate is at most C/√T, and the
 * number of epochs does not depend on p.
 */
import { figure } from '../bench/table.ts';
import { losses } from '../src/problem/losses/index.ts';
import type { Loss } from '../src/problem/losses/loss.ts';
import type { NamedChart } from '../src/reporting/charts/comparison.ts';
import type { Point } from '../src/reporting/charts/quantities.ts';
import { solvers } from '../src/solvers/index.ts';
import { train } from '../src/train/train.ts';
import { describeShape, generated, type Sample } from './support/data.ts';
import { mostWorkers } from './support/epoch-times.ts';
import type { Claim, Experiment, Outcome, Setting } from './support/experiment.ts';
import { fitPower } from './support/fit.ts';
import { section } from './support/report.ts';
import { combine } from './support/verdict.ts';

const sizes = [1, 2, 4, 8];

/** Never reached, so that every run does all its epochs. */
const outOfReach = 1e-15;

/** The gap falls at least as fast as 1/√T if its power is at most −½, up to a fit's error. */
const rate = -0.5;
const fitError = 0.05;

/** Epochs of the slowest p over those of the fastest, up to which they count as equal. */
const steady = 1.25;

/** Part of the epochs, at the start, that the fit leaves out. */
const startUp = 0.1;

interface Descent {
  readonly loss: string;
  readonly size: number;
  /** [T, P(w̃) − D(α̃)] after every epoch. */
  readonly gaps: readonly Point[];
  readonly power: number;
  /** The smallest C with gap ≤ C/√T at every T, and where it is attained. */
  readonly constant: number;
  readonly attained: number;
  readonly primal: number;
  readonly dual: number;
}

async function descend(
  sample: Sample,
  loss: Loss,
  size: number,
  setting: Setting,
): Promise<Descent> {
  const gaps: Point[] = [];
  const { rows } = sample.train;
  const epochs = Math.max(10, Math.round(setting.numberOf('epochs')));
  const { report } = await train(sample.train, {
    loss,
    lambda: setting.numberOf('weight') / rows,
    solver: solvers.dso({
      step: 'sqrt',
      average: true,
      svrg: false,
      stepSize: setting.numberOf('step') * rows,
      dualStepSize: setting.numberOf('step') * rows,
    }),
    grid: size,
    threads: Math.min(size, setting.threads),
    seed: setting.seed,
    tolerance: outOfReach,
    epochs,
    time: setting.time,
    onEpoch: ({ epoch, latest }) => {
      if (latest) gaps.push([epoch, latest.primal - latest.dual]);
    },
  });
  const later = gaps.filter(([epoch]) => epoch >= startUp * gaps.length);
  const scaled = gaps.map(([epoch, gap]): Point => [epoch, gap * Math.sqrt(epoch)]);
  const [attained, constant] = scaled.reduce((top, one) => (one[1] > top[1] ? one : top));
  return {
    loss: loss.name,
    size,
    gaps,
    power: fitPower(later).power,
    constant,
    attained,
    primal: report.primal,
    dual: report.dual,
  };
}

/** Epochs until the gap is at most `goal`. */
function epochsUntil({ gaps }: Descent, goal: number): number | undefined {
  return gaps.find(([, gap]) => gap <= goal)?.[0];
}

/** A gap that all of them reach: the largest of their last ones. */
function commonGoal(descents: readonly Descent[]): number {
  return Math.max(...descents.map(({ gaps }) => Math.min(...gaps.map(([, gap]) => gap))));
}

async function perform(setting: Setting): Promise<Outcome> {
  const sample = generated('real-sim', 0.1, setting);
  setting.say(`\n${sample.name}: ${describeShape(sample.train)}`);
  const descents: Descent[] = [];
  for (const loss of [losses.hinge(), losses.logistic()]) {
    for (const size of sizes.filter((one) => one <= mostWorkers(sample.train))) {
      descents.push(await descend(sample, loss, size, setting));
    }
  }
  const head = [
    'loss',
    'p',
    'epochs',
    'last gap',
    'power of T',
    'C',
    'attained at T',
    'epochs to the common gap',
  ];
  const rows = descents.map((one) => {
    const goal = commonGoal(descents.filter(({ loss }) => loss === one.loss));
    return [
      one.loss,
      String(one.size),
      String(one.gaps.length),
      one.gaps[one.gaps.length - 1][1].toExponential(2),
      one.power.toFixed(3),
      figure(one.constant),
      String(one.attained),
      String(epochsUntil(one, goal) ?? '–'),
    ];
  });
  setting.say(section('the gap of the averaged iterate after T epochs', head, rows));
  return {
    results: descents,
    claims: claimsOf(descents),
    figures: ['hinge', 'logistic'].map((loss) =>
      figureOf(
        loss,
        descents.filter((one) => one.loss === loss),
      ),
    ),
    comparisons: [],
    skipped: [],
  };
}

function claimsOf(descents: readonly Descent[]): Claim[] {
  const spreads = ['hinge', 'logistic'].map((loss) => {
    const some = descents.filter((one) => one.loss === loss);
    const goal = commonGoal(some);
    const needed = some.map((one) => epochsUntil(one, goal) ?? Infinity);
    const text = some.map(({ size }, k) => `p = ${size}: ${needed[k]}`).join(', ');
    const ratio = Math.max(...needed) / Math.min(...needed);
    return {
      text: `${loss}, gap ${goal.toExponential(2)}: ${text} (${figure(ratio)} times)`,
      ratio,
    };
  });
  const list = (of: (one: Descent) => string) =>
    descents.map((one) => `${one.loss} p = ${one.size}: ${of(one)}`).join(', ');
  return [
    {
      claim: 'the duality gap of the averaged iterate is at most C/√T (L2, η_t < 1/λ)',
      measured: `power of T, fitted without the first tenth: ${list(({ power }) => power.toFixed(2))}; smallest C: ${list(({ constant, attained }) => `${figure(constant)} (at T = ${attained})`)}`,
      verdict: combine(descents.map(({ power }) => power <= rate + fitError)),
    },
    {
      claim: 'the number of epochs to a given accuracy is independent of p',
      measured: spreads.map(({ text }) => text).join(' | '),
      verdict: combine(spreads.map(({ ratio }) => ratio <= steady)),
    },
  ];
}

function figureOf(loss: string, descents: readonly Descent[]): NamedChart {
  const constant = Math.max(...descents.map((one) => one.constant));
  const epochs = descents[0].gaps.map(([epoch]) => epoch);
  return {
    name: `gap-${loss}`,
    chart: {
      title: `Theorem 1: ${loss}`,
      subtitle: 'duality gap of the averaged iterate, step η₀/√t, without SVRG',
      x: { label: 'epochs T', log: true },
      y: { label: 'P − D', log: true },
      series: [
        ...descents.map(({ size, gaps, power }) => ({
          name: `p = ${size}, slope ${power.toFixed(2)}`,
          points: gaps,
        })),
        {
          name: `C/√T, C = ${figure(constant)}`,
          dashed: true,
          marks: false,
          points: epochs.map((epoch): Point => [epoch, constant / Math.sqrt(epoch)]),
        },
      ],
    },
  };
}

export const theorem: Experiment = {
  name: 'theorem',
  summary: 'the gap of the averaged iterate against C/√T, for several p (Theorem 1)',
  time: 30,
  extras: {
    epochs: { default: 600, text: 'number of epochs T' },
    weight: { default: 1, text: 'λ times the number of rows' },
    step: { default: 0.3, text: 'η₀ divided by the number of rows; η₀ < 1/λ' },
  },
  run: perform,
};
