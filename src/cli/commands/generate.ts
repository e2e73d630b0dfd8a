import { writeGenerated } from '../../data/generate.ts';
import type { GenerateFlags } from '../definitions/generate.ts';
import { exitCodes } from '../exit-codes.ts';
import { checkOutput } from '../outputs.ts';
import type { Terminal } from '../terminal.ts';

export async function generateCommand(flags: GenerateFlags, terminal: Terminal): Promise<number> {
  return exitCodes.done;
}
