import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const common = {
  // All files of a worker share its modules, which are loaded once: a file that mocks one or changes
  // the process must undo that.
  isolate: false,
  // No test is about time: these limits end what hangs, also on a very busy machine.
  testTimeout: 600_000,
  hookTimeout: 600_000,
  // Concurrent tests of one file start processes that use a core each.
  maxConcurrency: 2,
  // A test that starts the command line tool must not inherit colours or a terminal from here, nor
  // leave records of its runs.
  env: { NO_COLOR: '1', DSO_NO_RECORD: '1' },
};

/** Processes that exchange work over MPI, which spins: one file at a time. */
const threads = 'test/**/*.threads.test.ts';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...common,
          name: 'single',
          include: ['test/**/*.test.ts'],
          exclude: [threads],
          maxWorkers: Math.min(4, availableParallelism()),
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: 'threads and processes',
          include: [threads],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
