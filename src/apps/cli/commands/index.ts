/** Every command of `dso`: an entry here and the file that does its work. */
import { Argument } from 'commander';
import { defaultFolder } from '../../../reporting/records/folder.ts';
import { type CommandEntry, command } from '../command.ts';
import { liblinearHelp } from '../liblinear/arguments.ts';
import * as options from '../options.ts';

const dataHelp =
  'LIBSVM, CSV, TSV, JSON lines, VW, Parquet or .dsob, also .gz, .zst; a pattern of files; - for stdin';
const modelFile = 'model file; - for standard input';
const run = 'the id of a run, its unique beginning or ending, or "last"';

export const commands: Readonly<Record<string, CommandEntry>> = {
  train: command({
    ranks: 'together',
    summary: 'train a model',
    description: 'Train a linear model on sparse data and prove how close to optimal it is.',
    arguments: { '[data]': dataHelp },
    options: options.trainOptions,
    examples: `Examples:
  dso train train.svm                          SVM, within 0.1 % of the optimum
  dso train train.svm.gz -o spam.model --loss logistic --test test.svm.gz
  dso train customers.csv --label churned --loss logistic --scale std
  mpirun -n 4 dso train 'part-*.svm' -o model

Ctrl-C ends training early and writes the best model so far.`,
    load: async () => (await import('./train.ts')).trainCommand,
  }),
  predict: command({
    summary: 'apply a model to data',
    description: 'Print a prediction per row: the class, or in regression the value.',
    arguments: { '<model>': modelFile, '<data>': dataHelp },
    options: options.predictOptions,
    examples: `Examples:
  dso predict spam.model mail.svm                      one class per line
  dso predict spam.model mail.svm.gz --probabilities -o mail.txt
  dso predict news.model news.csv --probabilities --header
  dso predict news.model news.csv --json | jq .label
  cat mail.svm | dso predict spam.model - --scores | sort -g | tail`,
    load: async () => (await import('./models.ts')).predictCommand,
  }),
  evaluate: command({
    summary: 'measure a model on labelled data',
    description: `Two classes: accuracy, error, AUC, average precision, log loss, confusion.
Several classes: also precision, recall and F1 of each.
Multi-label: F1, Hamming loss.
Regression: mean squared error, mean absolute error, R²; deviance, pinball loss.`,
    arguments: { '<model>': modelFile, '<data>': dataHelp },
    options: options.evaluateOptions,
    examples: `Examples:
  dso evaluate spam.model test.svm
  dso evaluate spam.model test.svm.gz --json | jq .auc`,
    load: async () => (await import('./models.ts')).evaluateCommand,
  }),
  verify: command({
    summary: 'check the certificate of a model against its data',
    description: 'Recompute the objective and the lower bound of a model, with 32 digits.',
    arguments: { '<model>': modelFile, '[data]': `the data it was trained on: ${dataHelp}` },
    options: options.verifyOptions,
    examples: `Examples:
  dso train train.svm --keep-dual -o spam.model && dso verify spam.model train.svm
  dso verify spam.model train.svm --json | jq .confirmed

With the dual point that --keep-dual keeps, exit code 0 confirms the certificate and 1 does not.
Without it, exit code 0 confirms the objective; the bound then comes from the weights and is weaker.
Exit code 3: the data is not what the model was trained on.`,
    load: async () => (await import('./verify.ts')).verifyCommand,
  }),
  compare: command({
    summary: 'run several solvers on the same problems and compare them',
    description: 'Run solvers one after another under the same conditions and rank them.',
    arguments: { '<data>': dataHelp },
    options: options.compareOptions,
    examples: `Examples:
  dso compare train.svm --test test.svm --solvers dso,sgd,bmrm --lambda 1e-5,1e-6 --time 30
  dso compare train.svm --solvers lbfgs,ring --loss logistic,squared-hinge -o smooth
  dso compare train.svm --solvers lbfgs -o report        adds a solver to an earlier comparison

The folder gets report.html, results.json, results.csv, and figures as SVG and PNG. The same
command again continues after an interruption: runs that have finished are not repeated.`,
    load: async () => (await import('./compare.ts')).compareCommand,
  }),
  path: command({
    ranks: 'each model starts from the one before it; dso cv gives its folds to the ranks',
    summary: 'train a model for each of many lambdas',
    description: 'Train along a path of lambdas, from strong to weak regularization.',
    arguments: { '<data>': dataHelp },
    options: options.pathOptions,
    examples: `Examples:
  dso path train.svm --loss logistic --penalty l1      30 models, from no feature to many
  dso path train.svm --loss logistic --penalty l1 --test test.svm -o best.model
  dso path prices.csv --label price --loss square --lambda 1,0.1,0.01 --figure path.svg
  dso path train.svm --holdout 0.2 --models path       writes every model into a folder

Each model starts from the previous one and has its own certificate. Ctrl-C ends the path and
shows and writes the models trained so far.`,
    load: async () => (await import('./path.ts')).pathCommand,
  }),
  cv: command({
    ranks: 'together',
    summary: 'choose lambda by cross-validation and train',
    description: 'Choose lambda by the error on rows held out in turn, then train on all rows.',
    arguments: { '<data>': dataHelp },
    options: options.cvOptions,
    examples: `Examples:
  dso cv train.svm --loss logistic                     30 lambdas, 5 folds
  dso cv train.svm --lambda 1e-3,1e-4,1e-5 --folds 10 -o spam.model
  dso cv prices.csv --label price --loss square --choose simplest --figure cv.svg
  dso cv train.svm --metric auc --no-refit --json

All folds are trained on one copy of the data. Ctrl-C ends it and shows the results so far.`,
    load: async () => (await import('./select.ts')).cvCommand,
  }),
  search: command({
    ranks: 'together',
    summary: 'choose loss, penalty and lambda by cross-validation and train',
    description: 'Choose loss, penalty and lambda by cross-validation, then train on all rows.',
    arguments: { '<data>': dataHelp },
    options: options.searchOptions,
    examples: `Examples:
  dso search train.svm                                 hinge and logistic loss × L2 and L1
  dso search train.svm --loss logistic,squared-hinge --penalty l1,l2 --lambda 1e-3,1e-4
  dso search prices.csv --label price --loss square,huber --penalty elastic-net --l1-ratio 0.1,0.5

Every loss is tried with every penalty and lambda, on the same folds. Ctrl-C ends it and ranks the
results so far.`,
    load: async () => (await import('./select.ts')).searchCommand,
  }),
  inspect: command({
    summary: 'show what is in a model',
    description:
      'Show how a model was trained, how close to optimal it is and its largest weights.',
    arguments: { '<model>': modelFile },
    options: options.inspectOptions,
    examples: `Examples:
  dso inspect spam.model
  dso inspect spam.model --top 50 --names vocabulary.txt.gz
  dso inspect news.model --class sports`,
    load: async () => (await import('./models.ts')).inspectCommand,
  }),
  convert: command({
    summary: 'write data in a binary format, or back as text',
    description:
      'Write data as .dsob, which is read at the speed of the disk, or back as text. ' +
      'Data of any size is converted in little memory.',
    arguments: { '<data>': dataHelp },
    options: options.convertOptions,
    examples: `Examples:
  dso convert train.svm.gz -o train.dsob             once; then dso train train.dsob
  dso convert train.dsob -o train.svm                back to text
  dso convert --info train.dsob                      check it and print a summary
  zcat part-*.gz | dso convert - -o all.dsob --pack  in one pass, with small indices`,
    load: async () => (await import('./convert.ts')).convertCommand,
  }),
  export: command({
    summary: 'write a model for other programs',
    description: 'Write a model in the format of another program.',
    arguments: { '<model>': modelFile },
    options: options.exportOptions,
    examples: `Examples:
  dso export spam.model --to onnx -o spam.onnx
  dso export spam.model --to liblinear -o spam.liblinear
  dso export spam.model --to csv | sort -t, -k4 -g | tail`,
    load: async () => (await import('./models.ts')).exportCommand,
  }),
  import: command({
    summary: 'read a model of another program',
    description:
      'Make a model from a model file of LIBLINEAR, or from the JSON of dso export --to json.',
    arguments: { '<file>': 'the file, also .gz or .zst; - for standard input' },
    options: options.importOptions,
    examples: `Examples:
  liblinear-train -s 0 train.svm train.liblinear
  dso import train.liblinear -o train.model
  dso predict train.model test.svm`,
    load: async () => (await import('./models.ts')).importCommand,
  }),
  describe: command({
    alias: 'report',
    summary: 'describe data before training',
    description:
      'Show sizes, labels and weights of data, and what may be wrong with it: empty, equal and ' +
      'contradictory rows, empty, constant and equal features, uneven scales.',
    arguments: { '[data]': dataHelp },
    options: options.describeOptions,
    examples: `Examples:
  dso describe train.svm
  dso describe 'part-*.parquet' --label clicked --json | jq .constantColumns
  dso describe --sql "select * from 'a.parquet' join 'b.csv' using (id)" --ignore id`,
    load: async () => (await import('./convert.ts')).describeCommand,
  }),
  generate: command({
    summary: 'write artificial data',
    description: "Write artificial data with the shape of one of the paper's data sets.",
    options: options.generateOptions,
    examples: `Examples:
  dso generate --like real-sim                    real-sim.train.svm and real-sim.test.svm
  dso generate --like webspam --size 0.01 -o /data/spam`,
    load: async () => (await import('./convert.ts')).generateCommand,
  }),
  replay: command({
    summary: 're-run an asynchronous training serially, bit for bit',
    description:
      'An asynchronous run (--solver dso-async) depends on timing, but some serial order of its ' +
      'block visits has the same result, and the run recorded it. replay makes these visits one ' +
      'after the other and compares the models: exit code 0 if they are equal, 1 with the first ' +
      'epoch that differs.',
    arguments: {
      '<visits>': 'record of an asynchronous run',
      '<data>': 'the data it was trained on; - for standard input',
    },
    options: options.replayOptions,
    examples: `Examples:
  dso train train.svm --solver dso-async -o a.model     also writes a.model.visits
  dso replay a.model.visits train.svm                   the same visits, one after the other
  dso replay a.model.visits train.svm -o again.model && cmp a.model again.model`,
    load: async () => (await import('./replay.ts')).replayCommand,
  }),
  doctor: command({
    ranks: 'together',
    summary: 'check this machine, or under mpirun a cluster',
    description:
      'Show cores, memory and MPI library. Under an MPI launcher (mpirun, mpiexec, srun) query all ' +
      'ranks, compare versions, and measure the links of the ring.',
    options: options.doctorOptions,
    examples: `Examples:
  dso doctor                               this machine
  mpirun -n 4 dso doctor                   every rank, and the links between them
  mpirun --bind-to none --hostfile hosts -n 3 dso doctor --json`,
    load: async () => (await import('./doctor.ts')).doctorCommand,
  }),
  'liblinear-train': command({
    summary: 'train with the options and the model file of LIBLINEAR',
    description:
      'Train as liblinear-train does: its options, its problems, its model file. ' +
      'The result is proved to be within a duality gap of the optimum.',
    arguments: { '[words...]': 'LIBLINEAR options, the training set, the model' },
    examples: liblinearHelp,
    // Commander does not know the syntax of these options.
    configure: (made) =>
      made
        .usage('[options] training_set_file [model_file]')
        .helpOption('--help', 'show help')
        .allowUnknownOption(),
    load: async () => (await import('../liblinear/train.ts')).liblinearTrainCommand,
  }),
  serve: command({
    summary: 'answer HTTP requests with predictions',
    description: 'Answer HTTP requests with the predictions of a model: JSON, or NDJSON streams.',
    arguments: { '<model>': 'model file' },
    options: options.serveOptions,
    examples: `Examples:
  dso serve spam.model
  dso serve spam.model --port 0 --log 2> requests.jsonl
  curl -H 'Content-Type: application/json' -d '{"indices":[3],"values":[1]}' \\
    http://127.0.0.1:8080/predict

A new model is loaded when the file changes, and after SIGHUP. SIGTERM and Ctrl-C finish the
current requests and end with exit code 0; a second one ends at once.`,
    load: async () => (await import('./serve.ts')).serveCommand,
  }),
  runs: command({
    summary: 'list training runs, show one or stop it',
    description: 'List the recorded training runs, the newest first.',
    options: options.runListOptions,
    examples: `Examples:
  dso runs                     the 20 newest runs recorded here
  dso runs --all --json | jq '.[] | select(.status == "failed") | .id'
  dso runs show                the last run: options, certificate, charts
  dso runs show 3f9c           one by the end of its id
  dso runs stop last           ends it as Ctrl-C does

dso train records its runs in ${defaultFolder}, unless --no-record is given.`,
    commands: {
      show: command({
        summary: 'show everything about one run, with charts',
        description: 'Show the options of a run, its results and its curves.',
        arguments: { '[run]': [run, 'last'] },
        options: options.runShowOptions,
        examples: `Examples:
  dso runs show
  dso runs show 20261115-2123 --over epochs
  dso runs show 3f9c --vector 2          the second class of a model with several
  dso runs show last --json | jq .summary.result.relativeGap`,
        load: async () => (await import('./runs.ts')).showRunCommand,
      }),
      stop: command({
        summary: 'end a run; its model is written',
        description: 'Ask a run to stop as Ctrl-C does, and wait until its model is written.',
        arguments: { '[run]': [run, 'last'] },
        options: options.runStopOptions,
        examples: `Examples:
  dso runs stop                          the newest run
  dso runs stop 3f9c

Exit code 1 if the run is not running, or has not ended after 30 seconds.`,
        load: async () => (await import('./runs.ts')).stopRunCommand,
      }),
    },
    // An unknown word is answered with the names of the subcommands, not as one word too many.
    configure: (made) => made.allowExcessArguments(),
    load: async () => (await import('./runs.ts')).listRunsCommand,
  }),
  ui: command({
    summary: 'show runs in the browser, live and side by side',
    description:
      'Show recorded runs in the browser: curves, blocks and workers, live and compared.',
    arguments: { '[folder]': ['folder with the records', defaultFolder] },
    options: options.uiOptions,
    examples: `Examples:
  dso ui                                   the runs of this folder
  dso ui ../other/.dso/runs --no-open      those of another one; only prints the address
  dso ui --port 7007                       a fixed port, for an SSH tunnel

The page shows the runs that dso train records there, also while they train, and can stop them.
It is served to this machine only, at an address with a random token; Ctrl-C ends it.`,
    load: async () => (await import('./runs.ts')).uiCommand,
  }),
  completion: command({
    usesAll: true,
    summary: 'print the completion script of a shell',
    description: 'Print a script that lets a shell complete commands, options and their values.',
    arguments: { '<shell>': new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']) },
    examples: `To install, for bash, zsh and fish:
  dso completion bash > ~/.local/share/bash-completion/completions/dso
  dso completion zsh > ~/.zsh/completions/_dso          # a folder of $fpath; then: compinit
  dso completion fish > ~/.config/fish/completions/dso.fish
or for the running bash alone: eval "$(dso completion bash)"`,
    load: async () => (await import('../completion.ts')).completionCommand,
  }),
  demo: command({
    summary: 'generate a sample, train on it and evaluate',
    description: "Generate data shaped like the paper's real-sim, train an SVM and evaluate it.",
    arguments: {
      '[folder]': ['where to write the sample, the model and the report', '.cache/demo'],
    },
    options: options.demoOptions,
    load: async () => (await import('./demo.ts')).demoCommand,
  }),
};
