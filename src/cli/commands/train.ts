import { statSync } from 'node:fs';
import { UsageError } from '../../errors.ts';
import { adviseOnRanks } from '../../reporting/text/effort.ts';
import { summarize } from '../../reporting/text/summary.ts';
import type { TrainFlags } from '../definitions/train.ts';
import { exitCodes } from '../exit-codes.ts';
import { Job } from '../job.ts';
import { standardStream } from '../outputs.ts';
import { chooseSource } from '../query-reading.ts';
import type { Terminal } from '../terminal.ts';
import { trainHere } from '../training.ts';
import { visitsPath } from '../training-paths.ts';

export async function trainCommand(
  given: string | undefined,
  flags: TrainFlags,
  terminal: Terminal,
  words: readonly string[],
): Promise<number> {
  checkWatching(flags);
  if (flags.progressive) {
    const { learnStreamCommand } = await import('../../apps/cli/commands/stream.ts');
    return learnStreamCommand(given, flags, terminal, words);
  }
  for (const option of ['snapshotEvery', 'reportEvery'] as const) {
    if (flags[option] === undefined) continue;
    const name = option === 'snapshotEvery' ? '--snapshot-every' : '--report-every';
    throw new UsageError(`${name} goes with --progressive, which learns from a stream`);
  }
  const source = chooseSource(given, flags.sql);
  // What a query is called where a file has its name.
  const data = 'sql' in source ? 'query' : source.data;
  const job = await Job.join(flags, terminal);
  if (!job) return trainAndTell(data, flags, terminal, words);
  return job.run(() => trainAndTell(data, flags, terminal, words, job));
}

function checkWatching({ ui, uiPort, open }: TrainFlags): void {
  if (ui) return;
  if (uiPort !== undefined) throw new UsageError('--ui-port goes with --ui, which shows the page');
  if (open === false) throw new UsageError('--no-open goes with --ui, which shows the page');
}

async function trainAndTell(
  data: string,
  flags: TrainFlags,
  terminal: Terminal,
  words: readonly string[],
  job?: Job,
): Promise<number> {
  const training = await trainHere(data, flags, terminal, words, job);
  if (!training) return exitCodes.done;
  const { report, path, code } = training;
  if (flags.json) await terminal.print(`${JSON.stringify(report)}\n`);
  if (!flags.quiet) {
    const bytes = path === standardStream ? 0 : statSync(path).size;
    terminal.say(summarize(report, flags.tolerance, { path, bytes }, terminal.colours));
    const advice = adviseOnRanks(report);
    if (advice) terminal.say(`note: ${advice}`);
    const visits = visitsPath(flags, path);
    if (visits !== undefined) {
      terminal.say(`block visits in ${visits}; dso replay ${visits} ${data} makes them again`);
    }
  }
  await training.watching?.stay(terminal);
  return code;
}
