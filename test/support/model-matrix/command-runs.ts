/** Runs of the built command line: inputs, processes, and what only commands do. */
import { readFileSync } from 'node:fs';
import { executable, runDso } from '../command-line.ts';
import { launch, launchers } from '../launchers.ts';
import { hashOfLog, hashOfReport, hashOfReports } from './report.ts';
import { hashOf, type ModelRun, Refusal, skipped } from './run.ts';

/** 0: done, 4: stopped by the number of epochs. */
const good = [0, 4];
/** Bad usage and bad data. */
const refusing = [2, 3];
const quiet = { DSO_NO_RECORD: '1', NO_COLOR: '1' };
const short = '--epochs 25 --tolerance 1e-7 --lambda 0.01 --quiet';

/** Runs `dso …` in the current folder; returns what it printed. */
async function dso(command: string, input = ''): Promise<string> {
  const { code, stdout, stderr } = await runDso(command.split(' '), { environment: quiet, input });
  if (good.includes(code ?? 1)) return stdout.toString();
  if (refusing.includes(code ?? 1)) throw new Refusal(stderr);
  throw new Error(`dso ${command}: exit code ${code}: ${stderr}`);
}

/** File names without the slashes of the name of a run. */
const fileOf = (name: string) => name.replaceAll('/', '-');

/** A hash of a file that the command writes; OUT in it means the name of that file. */
function writing(name: string, command: string, more: { equals?: string; input?: string } = {}) {
  const { input, ...rest } = more;
  const file = `${fileOf(name)}.out`;
  const value = async () => {
    const text = input === undefined ? '' : readFileSync(input, 'utf8');
    await dso(command.replace('OUT', file), text);
    return hashOf(readFileSync(file));
  };
  return { name, value, ...rest };
}

function training(name: string, words: string, equals?: string): ModelRun {
  const command = `train ${words} -o OUT ${short}`;
  return writing(name, command, equals === undefined ? {} : { equals });
}

/** A hash of the JSON that the last of some commands prints; OUT is a file for those before it. */
function reporting(name: string, ...commands: readonly string[]): ModelRun {
  const file = `${fileOf(name)}.out`;
  const value = async () => {
    let printed = '';
    for (const command of commands) printed = await dso(command.replaceAll('OUT', file));
    return hashOfReports(printed);
  };
  return { name, value };
}

const table = '--label outcome --loss logistic --intercept --scale std';

function inputRuns(): ModelRun[] {
  const kinds = ['csv', 'tsv', 'jsonl', 'parquet'];
  return [
    training('input/libsvm', 'sign.svm'),
    training('input/dsob', 'sign.dsob', 'input/libsvm'),
    training('input/zero-based', 'sign.svm --zero-based'),
    ...kinds.map((kind) => training(`input/${kind}`, `table.${kind} ${table}`)),
    training('input/vw', 'table.vw --loss logistic --intercept'),
    training('input/vw-hash', 'table.vw --loss logistic --hash 6'),
    ...kinds.map((kind) => training(`input/${kind}-hash`, `table.${kind} ${table} --hash 5`)),
    ...['indicator', 'zero', 'error'].map((way) =>
      training(`input/missing-${way}`, `table.csv ${table} --missing ${way}`),
    ),
    training('input/missing-values', `table.csv ${table} --missing-values 3,plus`),
    training('input/categorical', `table.csv ${table} --categorical months`),
    training('input/ignore', `table.csv ${table} --ignore months`),
    training('input/regression', 'table.csv --label calls --ignore outcome --loss huber'),
    training('input/weight', `table.csv ${table} --weight calls`),
    writing('input/convert', 'convert sign.svm -o OUT --to dsob --quiet'),
    writing('input/convert-packed', 'convert sign.svm -o OUT --to dsob --pack --quiet'),
    writing('input/convert-text', 'convert sign.dsob -o OUT --to text --quiet'),
  ];
}

function optionRuns(): ModelRun[] {
  return [
    training('command/multi-label', 'topics.svm --multi-label --loss logistic'),
    training('command/multi-label-grid', 'topics.svm --multi-label --grid 3 --intercept'),
    training('command/text-labels', 'class.svm --text-labels'),
    training('command/classes', 'class.svm --loss squared-hinge --grid 2'),
    training('command/factors', 'sign.svm --penalty-factors factors.txt'),
    training('command/non-negative', 'sign.svm --non-negative --upper 0.5'),
    training('command/holdout', 'sign.svm --holdout 0.2 --auprc'),
    training('command/early-stop', 'sign.svm --test sign.test.svm --early-stop 2'),
    training('command/calibrate', 'class.svm --calibrate isotonic --class-weight balanced'),
    training('command/memory', 'sign.dsob --memory 1G', 'input/libsvm'),
    training('command/threads-1', 'sign.svm --grid 4 --threads 1'),
    training('command/threads-2', 'sign.svm --grid 4 --threads 2', 'command/threads-1'),
    {
      name: 'command/init',
      value: async () => {
        await dso(`train sign.svm -o start.model ${short}`);
        await dso(`train sign.svm --init start.model --loss logistic -o init.model ${short}`);
        return hashOf(readFileSync('init.model'));
      },
    },
    {
      name: 'command/resumed',
      value: async () => {
        const command = 'train sign.svm -o resumed.model --lambda 0.01 --quiet --tolerance 1e-7';
        await dso(`${command} --epochs 5 --checkpoint kept-command --checkpoint-every 2`);
        await dso(`${command} --epochs 25 --resume kept-command`);
        return hashOf(readFileSync('resumed.model'));
      },
      equals: 'input/libsvm',
    },
    {
      name: 'command/replay',
      value: async () => {
        const words = 'train sign.svm --solver dso-async --threads 2 --epochs 5 --quiet';
        await dso(`${words} -o async.model`);
        await dso('replay async.model.visits sign.svm -o again.model --quiet');
        const same = readFileSync('async.model').equals(readFileSync('again.model'));
        return same ? 'equal' : 'different';
      },
    },
  ];
}

function selectionRuns(): ModelRun[] {
  const given = '--loss logistic --epochs 30 --tolerance 1e-6 --quiet';
  const path = `path sign.svm ${given} --penalty l1 --count 5 --test sign.test.svm`;
  const cv = `cv sign.svm ${given} --folds 3 --lambda 0.1,0.01`;
  const search = 'search sign.svm --lambda 0.1,0.01 --folds 3 --epochs 30 --quiet';
  const compare = 'compare sign.svm --solvers ring,dso,dcd --epochs 10 --time 100000 --no-warm-up';
  return [
    writing('command/path', `${path} -o OUT`),
    writing('command/cv', `${cv} -o OUT`),
    writing('command/cv-simplest', `${cv} --choose simplest -o OUT`),
    writing('command/search', `${search} -o OUT`),
    reporting('report/path', `${path} --json`),
    reporting('report/cv', `${cv} -o OUT --json`),
    reporting('report/search', `${search} -o OUT --json`),
    {
      name: 'report/compare',
      value: async () => {
        await dso(`${compare} --quiet -o compared`);
        return hashOfReport(JSON.parse(readFileSync('compared/results.json', 'utf8')));
      },
    },
  ];
}

function reportRuns(): ModelRun[] {
  const log = 'train sign.svm --test sign.test.svm --auprc --log epochs.jsonl -o log.model';
  const trains = `train class.svm --loss logistic -o OUT ${short}`;
  return [
    reporting('report/train', `train sign.svm --holdout 0.2 --grid 2 -o OUT ${short} --json`),
    reporting('report/train-classes', `${trains} --test class.test.svm --json`),
    reporting('report/evaluate', trains, 'evaluate OUT class.test.svm --json'),
    reporting('report/predict', trains, 'predict OUT class.test.svm --json'),
    reporting('report/inspect', trains, 'inspect OUT --json'),
    reporting('report/data', 'report sign.svm --json'),
    reporting('report/table', 'report table.csv --label outcome --json'),
    reporting('report/convert', 'convert sign.dsob --info --json'),
    {
      name: 'report/log',
      value: async () => {
        await dso(`${log} ${short}`);
        return hashOfLog(readFileSync('epochs.jsonl', 'utf8'));
      },
    },
    generateRun(),
  ];
}

function generateRun(): ModelRun {
  const value = async () => {
    await dso('generate --like real-sim --scale 0.01 --seed 3 --quiet -o generated');
    return hashOf(readFileSync('generated.train.svm'), readFileSync('generated.test.svm'));
  };
  return { name: 'command/generate', value };
}

function streamRuns(): ModelRun[] {
  const progressive = (words: string) => `train ${words} --progressive -o OUT --quiet`;
  const file = 'stream/file';
  return [
    writing(file, progressive('sign.svm --loss logistic')),
    writing('stream/input', progressive('- --loss logistic'), { input: 'sign.svm', equals: file }),
    writing('stream/snapshots', progressive('sign.svm --loss logistic --snapshot-every 50'), {
      equals: file,
    }),
    writing('stream/hinge-l1', progressive('sign.svm --penalty l1 --lambda 0.001 --intercept')),
    writing('stream/regression', progressive('value.svm --loss square --step-size 0.2')),
    writing('stream/poisson', progressive('count.svm --loss poisson')),
    writing('stream/csv', progressive('table.csv --label outcome --categorical plan')),
    writing('stream/hash', progressive('table.jsonl --label outcome --hash 5')),
  ];
}

function liblinearRuns(): ModelRun[] {
  const train = (name: string, words: string) =>
    writing(`liblinear/${name}`, `liblinear-train -q ${words} OUT`);
  const regressions = [11, 12, 13];
  return [
    ...[0, 1, 2, 3, 5, 6, 7].map((type) => train(`${type}`, `-s ${type} sign.svm`)),
    ...regressions.map((type) => train(`${type}`, `-s ${type} -p 0.2 value.svm`)),
    train('bias', '-s 0 -c 4 -B 1 -w1 2 sign.svm'),
    train('classes', '-s 2 -B 1 -R class.svm'),
  ];
}

/** Two processes under Open MPI, if it is installed. */
function rankRuns(): ModelRun[] {
  const [launcher] = launchers;
  const cases = {
    'ring-rows': '--solver ring --mode rows',
    'ring-columns': '--solver ring --mode columns',
    dso: '--solver dso',
    lbfgs: '--solver lbfgs',
    admm: '--solver admm',
  };
  return Object.entries(cases).flatMap(([name, words]) => {
    const common = `sign.svm --loss logistic --grid 4 --threads 1 ${words}`;
    const alone = `ranks/${name}/1`;
    const value = async () => {
      if (launcher.path === undefined) return skipped;
      const file = `ranks-${name}-2.out`;
      const args = `train ${common} -o ${file} ${short}`.split(' ');
      const program = [process.execPath, executable, ...args];
      const { code, stderr } = await launch(launcher, 2, program, quiet);
      if (!good.includes(code)) throw new Error(`mpirun ended with exit code ${code}: ${stderr}`);
      return hashOf(readFileSync(file));
    };
    return [training(alone, common), { name: `ranks/${name}/2`, value, equals: alone }];
  });
}

export function commandRuns(): ModelRun[] {
  return [
    ...inputRuns(),
    ...optionRuns(),
    ...selectionRuns(),
    ...reportRuns(),
    ...streamRuns(),
    ...liblinearRuns(),
    ...rankRuns(),
  ];
}
