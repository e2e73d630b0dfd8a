import type { Command } from 'commander';
import { Argument } from 'commander';
import { type Shell, shells } from '../../apps/cli/shells.ts';

const examples = `
To install, for bash, zsh and fish:
  dso completion bash > ~/.local/share/bash-completion/completions/dso
  dso completion zsh > ~/.zsh/completions/_dso          # a folder of $fpath; then: compinit
  dso completion fish > ~/.config/fish/completions/dso.fish
or for the running bash alone: eval "$(dso completion bash)"`;

export function defineCompletion(program: Command, run: (shell: Shell) => Promise<void>): void {
  program
    .command('completion')
    .summary('print the completion script of a shell')
    .description('Print a script that lets a shell complete commands, options and their values.')
    .addArgument(new Argument('<shell>', 'whose script').choices(shells))
    .addHelpText('after', examples)
    .action((shell: Shell) => run(shell));
}
