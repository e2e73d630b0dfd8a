/** What may go wrong with a job of several ranks, and what it has to end with. */
import { trainOptions } from '../../src/apps/cli/options.ts';
import type { Random } from '../../src/math/random.ts';
import { longFlag, type Option, textOf } from '../../src/train/options/option.ts';
import { chance, pick } from './draw.ts';

/** How a job has to end. */
export interface Expectation {
  readonly codes: readonly number[];
  /** Of the one message that there is; absent: anything may be said. */
  readonly message?: RegExp;
}

export interface Fault {
  readonly kind: string;
  /** Words after the common ones, of all ranks but the last, and of the last. */
  readonly words: readonly string[];
  readonly lastWords: readonly string[];
  readonly expected: Expectation;
  /** A signal that a rank gets after so many milliseconds. */
  readonly signal?: { readonly name: 'SIGKILL' | 'SIGSTOP'; readonly milliseconds: number };
}

const usage = 2;
const badData = 3;
const lost = 5;

/** Texts of which most types of options take some. */
const candidates = ['1', '2', '3', '0.5', '0.25', '1e-3', '10', 'balanced', '1=2', '-1=3', 'std'];

/** Two ways to write an option, or to leave it out, that mean different things. */
function differing(random: Random, option: Option): readonly [string[], string[]] | undefined {
  const flag = longFlag(option);
  const { type } = option;
  if (!type) {
    const off = option.negation ? [flag.replace('--', '--no-')] : [];
    return chance(random, 0.5) ? [[flag], off] : [off, [flag]];
  }
  const texts = type.choices ?? (type.files ? ['some-file'] : candidates);
  const valued = texts.flatMap((text) => {
    const value = type.parse(text);
    return value === undefined ? [] : [{ words: [flag, text], value: textOf(value) }];
  });
  if (valued.length === 0) return undefined;
  const one = pick(random, valued);
  const others = valued.filter(({ value }) => value !== one.value);
  if (others.length === 0 || chance(random, 0.2)) return [one.words, []];
  return [one.words, pick(random, others).words];
}

/** Those that all ranks must have alike; where that is not said, each may have its own. */
const compared = Object.values<Option>(trainOptions).filter(
  ({ affectsModel, sameOnRanks, default: value }) =>
    (affectsModel || sameOnRanks) && value === undefined,
);

function differingOptions(random: Random): Fault {
  for (;;) {
    const option = pick(random, compared);
    const found = differing(random, option);
    if (!found || found[0].join() === found[1].join()) continue;
    const [words, lastWords] = chance(random, 0.5) ? found : [found[1], found[0]];
    // Where the option does not fit the others, the rank that has it says so for all.
    const message = new RegExp(`dso: (?:.* differ in .*${longFlag(option)} \\(|(?!.*differ).*\\S)`);
    return { kind: 'options', words, lastWords, expected: { codes: [usage, badData], message } };
  }
}

const badWords: readonly (readonly [words: string[], message: RegExp])[] = [
  [['--lambda', 'x'], /--lambda is x; it must be/],
  [['--nonsense'], /unknown option '--nonsense'/],
  [['--epochs'], /'?(--epochs.*)'? (argument missing|.*argument)/],
  [['--rho', '1'], /--rho/],
  [['--checkpoint-every', '3'], /--checkpoint-every needs --checkpoint/],
];

function badOption(random: Random): Fault {
  const [lastWords, message] = pick(random, badWords);
  return { kind: 'a bad option', words: [], lastWords, expected: { codes: [usage], message } };
}

/** A job takes about a second to begin, during which others wait a minute for a rank. */
const longest = 2500;

function signalled(random: Random, name: 'SIGKILL' | 'SIGSTOP'): Fault {
  const milliseconds =
    longest * (name === 'SIGSTOP' ? 0.5 + 0.5 * random.uniform() : random.uniform());
  // Open MPI and MPICH have codes of their own for jobs of which they see a process end.
  const codes = name === 'SIGKILL' ? [] : [lost];
  const common = { words: [], lastWords: [], expected: { codes } };
  return { kind: name, ...common, signal: { name, milliseconds } };
}

export function drawFault(random: Random): Fault {
  const kind = random.uniform();
  if (kind < 0.35) return differingOptions(random);
  if (kind < 0.5) return badOption(random);
  if (kind < 0.7) return signalled(random, 'SIGKILL');
  if (kind < 0.75) return signalled(random, 'SIGSTOP');
  if (kind < 0.85) return { kind: 'nothing', words: [], lastWords: [], expected: { codes: [4] } };
  const [data, message, codes] = pick<readonly [string, RegExp, number[]]>(random, [
    ['missing.svm', /missing\.svm/, [usage, badData]],
    ['other.svm', /differ in data/, [usage]],
    ['broken.svm', /broken\.svm/, [usage, badData]],
    ['part-?.svm', /differ in data/, [usage]],
  ]);
  return { kind: 'data', words: [], lastWords: ['data', data], expected: { codes, message } };
}
