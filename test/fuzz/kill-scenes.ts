/** Commands that write something, to be killed at any moment. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stream } from '../../src/math/random.ts';
import { sampleText } from '../support/sample-text.ts';

export interface Scene {
  readonly name: string;
  readonly args: readonly string[];
  /** Exit code of a run that nothing happens to. */
  readonly code: number;
  /** Files, or folders of files, that are absent or as they are in the end, at any time. */
  readonly outputs: readonly string[];
  /** Files that are replaced on the way, or hold times: what has to be the same of them in the end. */
  readonly found?: (folder: string) => unknown;
}

const unfinished = 4;
const saving = '--checkpoint saved --resume saved --checkpoint-every';

/** Epochs that take some tenths of a second, each, and the epochs between two checkpoints. */
function training(name: string, options: string, epochs: number, every: number): Scene {
  const limits = `--threads 1 --epochs ${epochs} --tolerance 1e-300 --lambda 1e-3 --quiet --no-record`;
  const args = `train train.svm -o a.model ${options} ${limits} ${saving} ${every}`.split(' ');
  return { name, args, code: unfinished, outputs: ['a.model'] };
}

function other(name: string, line: string, outputs: readonly string[], code = 0): Scene {
  return { name, args: line.split(' '), code, outputs };
}

interface Results {
  readonly runs: readonly {
    readonly report?: { readonly primal: number; readonly dual: number };
  }[];
}

/** Objective and bound of every run of a comparison, whatever the order. */
function comparisonResults(folder: string): unknown {
  const { runs } = JSON.parse(readFileSync(join(folder, 'report/results.json'), 'utf8')) as Results;
  const names = readdirSync(join(folder, 'report')).filter((name) => !name.startsWith('.'));
  const figures = readdirSync(join(folder, 'report', 'figures'));
  return [names.sort(), figures.filter((name) => !name.startsWith('.')).sort(), runs.map(gapOf)];
}

function gapOf({ report }: Results['runs'][number]): readonly unknown[] {
  return [report?.primal, report?.dual];
}

const lines = (name: string) => (folder: string) => readFileSync(join(folder, name), 'latin1');

const compare = 'compare train.svm --solvers ring,dcd,sgd --lambda 0.1,0.01 --epochs 40';
const select = '--loss logistic --intercept --epochs 200 --lambda 0.1,0.03,0.01 --quiet';

/** Runs with checkpoints. */
export const trainings: readonly Scene[] = [
  training('ring, rows', '--solver ring --mode rows --grid 4 --rotations 2 --intercept', 300, 10),
  training('ring, columns', '--solver ring --mode columns --grid 3 --loss logistic', 150, 5),
  training('dso', '--solver dso --grid 3 --holdout 0.2 --auprc', 100, 5),
  training('lbfgs', '--solver lbfgs --loss logistic --intercept --grid 2', 40, 1),
  training('bmrm', '--solver bmrm --grid 2', 60, 2),
  training('admm', '--solver admm --grid 3 --loss squared-hinge', 100, 3),
  training('psgd', '--solver psgd --grid 3 --holdout 0.2 --early-stop 1000000', 120, 7),
  training('dcd', '--solver dcd', 500, 20),
  training('sgd', '--solver sgd', 500, 20),
  {
    ...training('three classes', '--solver ring --grid 2 --loss logistic', 100, 10),
    args: training('', '--solver ring --grid 2 --loss logistic', 100, 10).args.map((word) =>
      word === 'train.svm' ? 'classes.svm' : word,
    ),
  },
];

/** Commands that begin again. */
export const others: readonly Scene[] = [
  other('path', `path train.svm --models path ${select}`, ['path']),
  other('cv', `cv train.svm -o a.model --csv a.csv --folds 3 ${select}`, ['a.model', 'a.csv']),
  other('convert', 'convert large.svm -o a.dsob --quiet', ['a.dsob']),
  other('convert back', 'convert large.dsob -o a.svm --quiet', ['a.svm']),
  other('predict', 'predict train.model large.svm --scores -o a.txt --quiet', ['a.txt']),
  other('export', 'export train.model --to json -o a.json --quiet', ['a.json']),
  {
    ...other('compare', `${compare} -o report --quiet`, []),
    found: comparisonResults,
  },
  {
    ...other('stream', 'train large.svm --progressive --snapshot-every 200 -o a.model --quiet', []),
    found: lines('a.model'),
  },
];

/** The data of all scenes; what else they need is made by commands. */
export function writeData(folder: string): readonly string[][] {
  const text = sampleText({ rows: 300, columns: 80, perRow: 6 });
  writeFileSync(join(folder, 'train.svm'), text);
  const random = stream(3, 1);
  const classes = text.split('\n').map((line) => line.replace(/^\S+/, String(random.below(3))));
  writeFileSync(join(folder, 'classes.svm'), classes.join('\n'));
  writeFileSync(join(folder, 'large.svm'), text.repeat(40));
  return [
    'train train.svm -o train.model --quiet --no-record'.split(' '),
    'convert large.svm -o large.dsob --quiet'.split(' '),
  ];
}
