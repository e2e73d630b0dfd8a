/** Which commands the ranks of an MPI job do together: every other one is refused before it begins. */
import { describe, expect, test } from 'vitest';
import type { CommandEntry } from '../../../../src/apps/cli/command.ts';
import { commands } from '../../../../src/apps/cli/commands/index.ts';
import { createProgram } from '../../../../src/apps/cli/program.ts';
import { Terminal } from '../../../../src/apps/cli/terminal.ts';
import { UsageError } from '../../../../src/errors.ts';
import { longFlag, type Option } from '../../../../src/train/options/option.ts';
import { memoryIo } from '../../../support/memory-io.ts';

/** What each launcher tells rank 1 of 3. */
const launched = {
  'Open MPI': { OMPI_COMM_WORLD_RANK: '1', OMPI_COMM_WORLD_SIZE: '3' },
  MPICH: { PMI_RANK: '1', PMI_SIZE: '3' },
  Slurm: { PMIX_RANK: '1', SLURM_NTASKS: '3' },
};

/** Every command and every part of one, with the shortest command line that it takes. */
function linesOf(table: Readonly<Record<string, CommandEntry>>, before: string[] = []) {
  return Object.entries(table).flatMap(([name, entry]): [string[], CommandEntry][] => {
    const words = [...before, name];
    const given = Object.keys(entry.arguments ?? {}).flatMap((argument) =>
      argument.startsWith('<') ? [name === 'completion' ? 'bash' : 'some-file'] : [],
    );
    const needed = Object.values<Option>(entry.options ?? {}).flatMap((option) =>
      option.mandatory ? [longFlag(option), option.type?.choices?.[0] ?? 'x'] : [],
    );
    return [[[...words, ...given, ...needed], entry], ...linesOf(entry.commands ?? {}, words)];
  });
}

const all = linesOf(commands);
const together = all.filter(([, { ranks }]) => ranks === 'together').map(([[name]]) => name);
const alone = all.filter(([, { ranks }]) => ranks !== 'together').map(([words]) => words);

test('those that share the work', () => {
  expect(together).toEqual(['train', 'cv', 'search', 'doctor']);
  expect(alone.length).toBeGreaterThan(15);
});

describe.each(Object.entries(launched))('%s', (_, environment) => {
  test.each(alone.map((words) => [words.join(' '), words] as const))(
    'dso %s',
    async (_line, words) => {
      const terminal = new Terminal(memoryIo({ environment }));
      let begun = false;
      const program = createProgram(
        terminal,
        words,
        () => {},
        () => {
          begun = true;
        },
      );
      const refusal = program.parseAsync(words, { from: 'user' });
      await expect(refusal).rejects.toThrow(UsageError);
      await expect(refusal).rejects.toThrow(
        new RegExp(
          `^dso ${words[0]} runs in one process.*, and the launcher has started 3: call it`,
        ),
      );
      expect(begun).toBe(false);
    },
  );
});
