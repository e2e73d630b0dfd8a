/** Options of a training run: its output, when it stops, what is saved and shown. */
import { flag, optionsWith, toggle } from './option.ts';
import {
  bytes,
  choice,
  file,
  folder,
  fraction,
  interval,
  limit,
  port,
  positive,
  text,
  whole,
} from './types.ts';

export const outputOptions = optionsWith({ library: false, group: 'output', progressive: true })({
  json: toggle('--json', { common: true, help: 'print the result as JSON on standard output' }),
  quiet: toggle('--quiet', { help: 'print nothing but errors' }),
});

export const testOptions = optionsWith({ group: 'output' })({
  test: flag('--test <file>', file, {
    library: false,
    common: true,
    sameOnRanks: true,
    conflicts: ['holdout'],
    help: 'test data: measure the error on it after every epoch and at the end',
  }),
  holdout: flag('--holdout <fraction>', fraction, {
    common: true,
    affectsModel: true,
    provenance: 'holdout',
    help: 'set aside this fraction of the rows, chosen by the seed, as test data',
  }),
  auprc: toggle('--auprc', {
    sameOnRanks: true,
    needs: ['test', 'holdout'],
    help: 'also measure the area under the precision-recall curve on the test data',
  }),
});

export const sqlOption = {
  sql: flag('--sql <query>', text, {
    library: false,
    group: 'data',
    private: '(query)',
    help: 'rows of a query, run by DuckDB, instead of <data>',
    doc: 'use the rows of a query instead of a file, [run by DuckDB](sql-and-parquet.md#sql)',
  }),
};

export const stoppingOptions = optionsWith({
  group: 'stopping',
  common: true,
  affectsModel: 'end',
})({
  tolerance: flag('--tolerance <number>', limit, {
    default: 1e-3,
    provenance: 'tolerance',
    help: 'relative duality gap to reach',
    doc: 'relative duality gap to reach: `stopped` is `converged`, exit code 0',
  }),
  epochs: flag('--epochs <number>', whole(1, 2 ** 31), {
    default: 10_000,
    provenance: 'epochs',
    help: 'maximum number of epochs',
    doc: 'maximum number of epochs; `stopped` is `epoch-limit`, exit code 4',
  }),
  time: flag('--time <seconds>', limit, {
    provenance: 'time',
    help: 'maximum training time, without reading',
    doc: 'maximum number of seconds of training (reading does not count), checked after each epoch; `stopped` is `time-limit`, exit code 4',
    defaultDoc: 'no limit',
  }),
});

export const earlyStopOption = {
  earlyStop: flag('--early-stop [n]', whole(1), {
    preset: '5',
    group: 'stopping',
    common: true,
    needs: ['test', 'holdout'],
    affectsModel: true,
    provenance: 'early-stop',
    help: 'stop after N evaluations without a lower test error and keep the best model (default: 5)',
    doc: 'stop after N evaluations in a row without a lower test error; needs `--test` or `--holdout`; `stopped` is `early-stop`, exit code 0',
    defaultDoc: 'none; 5 without N',
  }),
};

export const memoryOptions = optionsWith({ group: 'memory' })({
  memory: flag('--memory <size>', bytes, {
    common: true,
    help: 'maximum memory (500M, 2G); reads .dsob from disk',
    doc: 'use at most this much memory (`500M`, `2G`), and read `.dsob` data [from disk](data.md#out-of-core-training) if necessary',
    defaultDoc: "three quarters of the machine's",
  }),
  scratch: flag('--scratch <folder>', folder, {
    help: "folder for the rearranged data (default: the system's folder for temporary files)",
  }),
});

const monitoringOptions = optionsWith({ library: false, group: 'monitoring', progressive: true })({
  ui: toggle('--ui', {
    common: true,
    help: 'show the run in the browser while it trains',
    doc: 'show the run on [a local page](ui.md) while it trains; prints its address and opens it',
  }),
  uiPort: flag('--ui-port <number>', port, {
    needs: ['ui'],
    help: 'port of the page (default: any free port)',
  }),
  open: toggle('--no-open', {
    needs: ['ui'],
    help: 'print the address of the page and open no browser',
  }),
  chart: toggle('--chart', {
    progressive: false,
    help: 'draw gap, objective and test error as text: live in a terminal, otherwise once at the end',
  }),
  name: flag('--name <text>', text, {
    help: 'name of the run in lists and figures',
    defaultDoc: 'the options in which it differs from other runs',
  }),
  runs: flag('--runs <folder>', folder, {
    conflicts: ['record'],
    help: 'folder for the record of the run, read by dso runs and dso ui (default: .dso/runs)',
    doc: 'folder where the run [is recorded](runs.md)',
  }),
  record: toggle('--no-record', {
    help: 'do not record the run (as DSO_NO_RECORD=1 does)',
    doc: 'do not record the run; `DSO_NO_RECORD=1` in the environment does the same for all runs without `--runs`',
  }),
  log: flag('--log <file>', file, {
    progressive: false,
    help: 'write the record of the run to this file, as JSON lines',
    doc: 'write the [log](#the-log): a copy of the record of the run, as JSON lines',
  }),
});

const checkpointOptions = optionsWith({
  library: false,
  group: 'checkpoints',
  sameOnRanks: true,
})({
  checkpoint: flag('--checkpoint <folder>', folder, {
    common: true,
    help: 'save the run in this folder while it trains and at its end, to resume it later',
  }),
  checkpointEvery: flag('--checkpoint-every <interval>', interval('epochs', 10, true), {
    needs: ['checkpoint'],
    help: 'number of epochs (10) or time (30s, 5m) between checkpoints (default: 60s)',
  }),
  resume: flag('--resume <folder>', folder, {
    library: 'resume',
    common: true,
    help: 'continue from the newest checkpoint in this folder; all other options must be unchanged',
  }),
});

const streamingOptions = optionsWith({ library: false, group: 'streaming', progressive: true })({
  progressive: toggle('--progressive', {
    common: true,
    sameOnRanks: true,
    help: 'one pass of sgd over a stream; each row is predicted before it is learned',
  }),
  snapshotEvery: flag('--snapshot-every <interval>', interval('rows', 5000), {
    needs: ['progressive'],
    help: 'write the model after N rows (5000) or after a time (30s, 5m) (default: 100000 rows or 60s)',
  }),
  reportEvery: flag('--progress-every <rows>', whole(1), {
    aliases: ['--report-every <rows>'],
    needs: ['progressive'],
    help: 'print loss and error every N rows (default: after 1, 2, 4, 8 … rows)',
  }),
});

export const processOptions = optionsWith({ library: false, group: 'processes' })({
  transport: flag('--transport <name>', choice(['threads', 'mpi']), {
    help: 'how workers communicate (default: mpi under a launcher, else threads)',
    doc: "`mpi`: be one of the launcher's processes, an error without a launcher; `threads`: train alone, whatever launched it",
    defaultDoc: '`mpi` where a launcher has started several processes, else `threads`',
  }),
  peerTimeout: flag('--peer-timeout <seconds>', positive, {
    default: 60,
    help: 'treat a rank as lost after this many seconds without a heartbeat; exit code 5',
  }),
});

/** Options of `dso train` alone. */
export const trainOnlyOptions = {
  ...optionsWith({ library: false, group: 'output' })({
    output: flag('-o, --output <model>', file, {
      common: true,
      progressive: true,
      help: 'model file; - for stdout (default: <data>.model)',
      defaultDoc:
        'the name of the data + `.model`, in the current folder; `dso.model` for data from standard input, `query.model` for `--sql`',
    }),
    report: toggle('--describe', {
      aliases: ['--report'],
      help: 'first describe the data: classes, empty rows, constant columns, …',
      doc: 'first describe the data, as [`dso describe`](#dso-describe) does; with `--json` under `quality`',
    }),
    keepDual: toggle('--keep-dual', {
      sameOnRanks: true,
      help: 'also write the dual point that proves the bound, to <model>.dual, for dso verify',
      doc: 'also write the dual point that proves the bound, to `<model>.dual`: [`dso verify`](#dso-verify) confirms the certificate with it',
    }),
    visits: flag('--visits <file>', file, {
      solvers: ['dso-async'],
      help: 'file for the record of the block visits (default: <model>.visits)',
      doc: 'file for the [record](solvers.md#--solver-dso-async-asynchronous-blocks) of the block visits',
      defaultDoc: "the model's name + `.visits`",
    }),
  }),
  ...monitoringOptions,
  ...checkpointOptions,
  ...streamingOptions,
  ...processOptions,
};
