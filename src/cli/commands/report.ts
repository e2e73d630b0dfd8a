import { createProgress } from '../../apps/cli/progress.ts';
import { describeQuality } from '../../data/quality/quality.ts';
import { qualityText } from '../../reporting/text/quality.ts';
import type { ReportFlags } from '../definitions/report.ts';
import { exitCodes } from '../exit-codes.ts';
import { chooseSource, readQueryData } from '../query-reading.ts';
import { readData } from '../reading.ts';
import type { Terminal } from '../terminal.ts';

export async function reportCommand(
  data: string | undefined,
  flags: ReportFlags,
  terminal: Terminal,
): Promise<number> {
  const source = chooseSource(data, flags.sql);
  const progress = createProgress(terminal, flags.quiet ?? false);
  const reading =
    'sql' in source
      ? readQueryData(source.sql, flags, progress)
      : readData(source.data, flags, progress);
  const dataset = await reading.finally(() => progress.end());
  const quality = describeQuality(dataset);
  const firstFeature = flags.zeroBased ? 0 : 1;
  const text = flags.json
    ? JSON.stringify(quality)
    : qualityText(quality, { colours: terminal.outputColours, firstFeature });
  await terminal.print(`${text}\n`);
  return exitCodes.done;
}
