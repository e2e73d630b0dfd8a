import type { Command } from 'commander';
import type { Shell } from '../../apps/cli/shells.ts';
import { bashScript } from '../completion/bash.ts';
import { fishScript } from '../completion/fish.ts';
import { type ProgramWords, programWords } from '../completion/words.ts';
import { zshScript } from '../completion/zsh.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';

const scripts: Readonly<Record<Shell, (words: ProgramWords) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export async function completionCommand(
  shell: Shell,
  program: Command,
  terminal: Terminal,
): Promise<number> {
  await terminal.print(scripts[shell](programWords(program)));
  return exitCodes.done;
}
